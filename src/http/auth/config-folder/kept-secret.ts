// A secret of the server that is made at its first use. It is stored beside the tokens, where no tool can reach it, so that it is the same
// after a restart. Only the holder of the lock of the data directory reads or writes it.

import type { z } from 'zod'
import type { Logger } from '../../../domain/logger.ts'
import { type ConfigFileOptions, createConfigFile } from './config-file.ts'

export interface SecretKind<T> {
  /** Its name, and the first part of the name of its file. */
  kind: string
  /** What the file holds. */
  schema: z.ZodType<T>
  make(): T
  /** What is lost when the file cannot be used or written. */
  loss: string
}

/** Without `options` nothing is stored. */
export function createKeptSecret<T extends object>(
  secretKind: SecretKind<T>,
  options: ConfigFileOptions | null,
  log: Logger,
): () => T {
  let secret: T | null = null
  return () => {
    secret ??= (options === null ? null : read(secretKind, options, log)) ?? make(secretKind, options, log)
    return secret
  }
}

function read<T>({ kind, schema, loss }: SecretKind<T>, options: ConfigFileOptions, log: Logger): T | null {
  try {
    const file = createConfigFile(kind, options)
    const text = file.read({ maxBytes: 10_000, refuse: (why, cause) => new Error(why, { cause }) })
    return text === null ? null : schema.parse(JSON.parse(text))
  } catch (error) {
    log.warn(`a file in the config folder is damaged or open to others, and is made anew: ${loss}`, { error })
    return null
  }
}

function make<T extends object>(
  { kind, make, loss }: SecretKind<T>,
  options: ConfigFileOptions | null,
  log: Logger,
): T {
  const secret = make()
  if (options === null) return secret
  try {
    const file = createConfigFile(kind, options)
    file.write(`${JSON.stringify({ data_dir: file.dataDir, ...secret })}\n`)
  } catch (error) {
    log.debug(`the config folder cannot be written: with the end of this process, ${loss}`, { error })
  }
  return secret
}
