// The secret that signs file keys.

import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Logger } from '../../../domain/logger.ts'
import type { ConfigFileOptions } from './config-file.ts'
import { createKeptSecret, type SecretKind } from './kept-secret.ts'

export const fileKeySecret: SecretKind<{ files: string }> = {
  kind: 'keys',
  schema: z.object({ files: z.string().regex(/^[\w-]{43}$/) }),
  make: () => ({ files: randomBytes(32).toString('base64url') }),
  // At most for the hour that a link is valid.
  loss: 'links to files stop working',
}

/** Without `options` nothing is stored, and links stop working when the process ends. */
export function createFileKeySecret(options: ConfigFileOptions | null, log: Logger): () => Uint8Array {
  const kept = createKeptSecret(fileKeySecret, options, log)
  let secret: Uint8Array | null = null
  return () => {
    secret ??= secretBytes(kept())
    return secret
  }
}

export const secretBytes = ({ files }: { files: string }): Uint8Array => Buffer.from(files, 'base64url')
