// What all replicas of a store must agree on, and a single server keeps in its config folder: secrets, and who may open the console.

import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { fileKeySecret, secretBytes } from '../http/auth/config-folder/file-key-secret.ts'
import { pushKeySecret } from '../http/auth/config-folder/push-key-secret.ts'
import { openSharedSecret } from '../http/auth/config-folder/shared-secret.ts'
import { createChallenges } from '../http/auth/console/challenges.ts'
import { createCodes } from '../http/auth/console/codes.ts'
import { openSharedDevices, type SharedDevices } from '../http/auth/console/shared-devices.ts'
import { createSharedPasskeys } from '../http/auth/console/shared-passkeys.ts'
import { createFileKeys, type FileKeys } from '../http/auth/file-keys.ts'
import { createVapidKeys, type VapidKeys } from '../operators/web-push/vapid.ts'
import type { SharedChanges } from '../replicas/shared-changes.ts'
import type { Shared } from '../store/ports/shared.ts'
import type { SignInParts } from './open-own-folders.ts'

interface SharedParts {
  fileKeys: FileKeys
  /** Signs what people hand back to us: keys of files, buttons of a chat. */
  secret: () => Uint8Array
  pushKeys: () => VapidKeys
  signIn: SignInParts & { devices: SharedDevices }
}

interface SharedPartsDeps {
  shared: Shared
  changes: SharedChanges
  clock: Clock
  ids: Ids
  log: Logger
}

/** Throws `config_invalid` for a record that cannot be read. */
export async function openSharedParts(deps: SharedPartsDeps): Promise<SharedParts> {
  const { shared, clock, ids } = deps
  const secret = secretBytes(await openSharedSecret(shared, fileKeySecret))
  const pushKeys = await openSharedSecret(shared, pushKeySecret(createVapidKeys))
  const devices = await openSharedDevices(deps)
  return {
    fileKeys: createFileKeys({ secret: () => secret, clock }),
    secret: () => secret,
    pushKeys: () => pushKeys,
    signIn: {
      codes: createCodes(shared, clock),
      challenges: createChallenges(shared, clock, ids),
      devices,
      passkeys: createSharedPasskeys(shared),
    },
  }
}
