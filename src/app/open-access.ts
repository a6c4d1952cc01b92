// Secrets, and who may open the console. All servers on one store agree on them.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { createSecret, fileKeySecret, pushKeySecret } from '../http/auth/config-folder/secrets.ts'
import { type Challenges, createChallenges } from '../http/auth/console/challenges.ts'
import { type Codes, createCodes } from '../http/auth/console/codes.ts'
import { type Devices, openDevices } from '../http/auth/console/devices.ts'
import { createPasskeys, type Passkeys } from '../http/auth/console/passkeys.ts'
import { createFileKeys, type FileKeys } from '../http/auth/file-keys.ts'
import { createVapidKeys, type VapidKeys } from '../operators/web-push/vapid.ts'
import type { Replica } from '../replicas/replica.ts'

interface OpenAccess {
  fileKeys: FileKeys
  /** Signs what people hand back to us: keys of files, buttons of a chat. */
  secret: () => Promise<Uint8Array>
  /** The key pair for Web Push, made at its first use. */
  pushKeys: () => Promise<VapidKeys>
  signIn: { codes: Codes; challenges: Challenges; devices: Devices; passkeys: Passkeys }
}

interface AccessDeps extends Pick<Replica, 'shared' | 'changes'> {
  clock: Clock
  ids: Ids
  log: Logger
}

export async function openAccess(deps: AccessDeps): Promise<OpenAccess> {
  const { shared, clock, ids } = deps
  const kept = createSecret(shared, fileKeySecret, () => ({ files: randomBytes(32).toString('base64url') }))
  const secret = async () => Buffer.from((await kept()).files, 'base64url')
  return {
    fileKeys: createFileKeys({ secret, clock }),
    secret,
    pushKeys: createSecret(shared, pushKeySecret, createVapidKeys),
    signIn: {
      codes: createCodes(shared, clock),
      challenges: createChallenges(shared, clock, ids),
      devices: await openDevices(deps),
      passkeys: createPasskeys(shared),
    },
  }
}
