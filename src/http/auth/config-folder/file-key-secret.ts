// The secret that signs file keys. It is stored beside the tokens, where no tool can reach it, so that links still work after a restart.
// Only the holder of the lock of the data directory reads or writes it.

import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Logger } from '../../../domain/logger.ts'
import { type ConfigFileOptions, createConfigFile } from './config-file.ts'

const ContentSchema = z.object({ files: z.string().regex(/^[\w-]{43}$/) })

/** Without `options` nothing is stored, and links stop working when the process ends. */
export function createFileKeySecret(options: ConfigFileOptions | null, log: Logger): () => Uint8Array {
  let secret: Uint8Array | null = null
  return () => {
    secret ??= (options === null ? null : read(options)) ?? make(options, log)
    return secret
  }
}

function read(options: ConfigFileOptions): Uint8Array | null {
  try {
    const file = createConfigFile('keys', options)
    const text = file.read({ maxBytes: 10_000, refuse: (why, cause) => new Error(why, { cause }) })
    return text === null ? null : Buffer.from(ContentSchema.parse(JSON.parse(text)).files, 'base64url')
  } catch {
    // A file that cannot be trusted is not used. Links made with it stop working now instead of within the hour.
    return null
  }
}

function make(options: ConfigFileOptions | null, log: Logger): Uint8Array {
  const secret = randomBytes(32)
  if (options === null) return secret
  try {
    const file = createConfigFile('keys', options)
    file.write(`${JSON.stringify({ data_dir: file.dataDir, files: secret.toString('base64url') })}\n`)
  } catch (error) {
    log.debug('the config folder cannot be written: links to files stop working when this process ends', { error })
  }
  return secret
}
