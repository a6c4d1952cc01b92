// Secrets of the server. Each is made at its first use, and all servers on one store know the same.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import type { KeptKind, KeptRecord, Shared } from '../../../store/ports/shared.ts'
import { type ConfigFileOptions, createConfigFile } from './config-file.ts'

/** The kind of their shared records. */
export const SECRET = 'secret'

export interface SecretKind<T> {
  /** Key of its record, and the first part of the name of its file. */
  key: string
  schema: z.ZodType<T>
  /** What is lost when its file cannot be used or written. */
  loss: string
}

/** Signs what people hand back to us: keys of files, buttons of a chat. */
export const fileKeySecret: SecretKind<{ files: string }> = {
  key: 'keys',
  schema: z.object({ files: z.string().regex(/^[\w-]{43}$/) }),
  // At most for the hour that a link is valid.
  loss: 'links to files stop working',
}

/** The key pair that browsers know this server by when it sends push messages. */
export const pushKeySecret: SecretKind<{ publicKey: string; privateKey: string }> = {
  key: 'push',
  schema: z.object({ publicKey: z.string().regex(/^[\w-]{87}$/), privateKey: z.string().regex(/^[\w-]{43}$/) }),
  loss: 'browsers must subscribe to push messages again',
}

/** Asks the store at the first call. Rejects with `config_invalid` if the record cannot be read. */
export function createSecret<T extends object>(
  shared: Pick<Shared, 'get' | 'put'>,
  { key, schema }: SecretKind<T>,
  make: () => T,
): () => Promise<T> {
  async function read(): Promise<T | null> {
    const record = await shared.get(SECRET, key)
    if (record === null) return null
    try {
      return schema.parse(JSON.parse(record.value))
    } catch (cause) {
      throw new ServerError(
        'config_invalid',
        `A secret in the database cannot be read (table shared, kind ${SECRET}, key ${key}). Restore the row, or remove it: then a new one is made, and what the old one signed is void.`,
        { cause },
      )
    }
  }

  async function open(): Promise<T> {
    const known = await read()
    if (known !== null) return known
    const made = make()
    const isOurs = await shared.put({ kind: SECRET, key, value: JSON.stringify(made), version: 0, expiresAt: null })
    // Another server was faster. Its secret counts.
    return isOurs ? made : await open()
  }

  let opened: Promise<T> | null = null
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = null
      throw error
    })
    return opened
  }
}

/**
 * Each secret in a file of its own beside the tokens, where no tool can reach it. A file that cannot be used is made anew, and one
 * that cannot be written is not missed before the process ends.
 */
export function createSecretFiles(options: ConfigFileOptions, log: Logger): KeptKind {
  function read({ key, schema, loss }: SecretKind<object>): KeptRecord[] {
    try {
      const file = createConfigFile(key, options)
      const text = file.read({ maxBytes: 10_000, refuse: (why, cause) => new Error(why, { cause }) })
      if (text === null) return []
      return [{ key, value: JSON.stringify(schema.parse(JSON.parse(text))), expiresAt: null }]
    } catch (error) {
      log.warn(`a file in the config folder is damaged or open to others, and is made anew: ${loss}`, { error })
      return []
    }
  }

  const kinds: readonly SecretKind<object>[] = [fileKeySecret, pushKeySecret]
  return {
    read: () => kinds.flatMap(read),
    write(records, changed) {
      const record = records.find(({ key }) => key === changed)
      const { loss = '' } = kinds.find(({ key }) => key === changed) ?? {}
      if (record === undefined) return
      try {
        const file = createConfigFile(changed, options)
        file.write(`${JSON.stringify({ data_dir: file.dataDir, ...JSON.parse(record.value) })}\n`)
      } catch (error) {
        log.debug(`the config folder cannot be written: with the end of this process, ${loss}`, { error })
      }
    },
  }
}
