import type { Logger } from '../../../domain/logger.ts'
import type { KeptKind } from '../../../store/ports/shared.ts'
import { deviceFormat } from '../console/devices.ts'
import { passkeyFormat } from '../console/passkeys.ts'
import { tokenFormat } from '../tokens/token-rows.ts'
import type { ConfigFileOptions } from './config-file.ts'
import { createRecordFile } from './record-file.ts'
import { createSecretFiles, SECRET } from './secrets.ts'

/** Reads nothing yet. Throws `config_invalid` if the folder lies where tools may reach it. */
export function openConfigRecords(options: ConfigFileOptions, log: Logger) {
  const tokens = createRecordFile(tokenFormat, options)
  /** What a single server keeps in the config folder, for `createLocalShared`. */
  const kinds: ReadonlyMap<string, KeptKind> = new Map<string, KeptKind>([
    ['token', tokens],
    ['device', createRecordFile(deviceFormat, options)],
    ['passkey', createRecordFile(passkeyFormat, options)],
    [SECRET, createSecretFiles(options, log)],
  ])
  return { kinds, tokens }
}
