// The key pair that browsers know this server by when it sends push messages.

import { z } from 'zod'
import type { Logger } from '../../../domain/logger.ts'
import type { ConfigFileOptions } from './config-file.ts'
import { createKeptSecret, type SecretKind } from './kept-secret.ts'

interface PushKeys {
  /** base64url */
  publicKey: string
  privateKey: string
}

export const pushKeySecret = (make: () => PushKeys): SecretKind<PushKeys> => ({
  kind: 'push',
  schema: z.object({ publicKey: z.string().regex(/^[\w-]{87}$/), privateKey: z.string().regex(/^[\w-]{43}$/) }),
  make,
  loss: 'browsers must subscribe to push messages again',
})

/** `make` is called at the first use. Without `options` nothing is stored, and browsers must subscribe again after a restart. */
export const createPushKeySecret = (
  options: ConfigFileOptions | null,
  make: () => PushKeys,
  log: Logger,
): (() => PushKeys) => createKeptSecret(pushKeySecret(make), options, log)
