import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import type { KeptKind } from '../../../store/ports/shared.ts'
import { type ConfigFileOptions, createConfigFile } from './config-file.ts'

/** How a kind of shared records looks in its file, which people may read: `{ "data_dir": …, "<name>": […] }`. */
export interface RecordFormat<T> {
  /** The name of the list, and the first part of the file's name. */
  name: string
  /** A stored record. */
  schema: z.ZodType<T>
  maxBytes: number
  keyOf(record: T): string
  /** Epoch ms. */
  expiresAt(record: T): number | null
  /** What people are told about a file that cannot be used. */
  unusable(path: string, why: string): string
  /** `problem`: what is wrong with the text in it. */
  damaged(problem: string): string
}

/** Records of one kind in a file of the config folder, for `createLocalShared`. */
export interface RecordFile extends KeptKind {
  readonly path: string
  /** Writes a file without records if there is none. Throws `config_invalid` or `storage_full`. */
  begin(): void
}

/** Reading throws `config_invalid` if the file cannot be used. Only for the holder of the lock of the data directory. */
export function createRecordFile<T>(format: RecordFormat<T>, options: ConfigFileOptions): RecordFile {
  const { name, schema, maxBytes, keyOf, expiresAt } = format
  const file = createConfigFile(name, options)
  const ContentSchema = z.strictObject({ data_dir: z.string(), [name]: z.array(z.unknown()) })

  const unusable = (why: string, cause?: unknown): ServerError =>
    new ServerError('config_invalid', format.unusable(file.path, why), { details: { path: file.path }, cause })

  const text = (): string | null => file.read({ maxBytes, refuse: unusable })

  function parsed<S>(as: z.ZodType<S>, value: unknown, path: readonly PropertyKey[]): S {
    const read = as.safeParse(value)
    if (read.success) return read.data
    const where = [...path, ...(read.error.issues[0]?.path ?? [])]
    const named = where.length === 0 ? '' : ` (${where.join('.')})`
    throw unusable(format.damaged(`it is not a file of this version${named}`), read.error)
  }

  function json(stored: string): unknown {
    try {
      return JSON.parse(stored)
    } catch (error) {
      throw unusable(format.damaged('it is not valid JSON'), error)
    }
  }

  function writeAll(records: readonly unknown[]): void {
    file.write(`${JSON.stringify({ data_dir: file.dataDir, [name]: records }, null, 2)}\n`)
  }

  return {
    path: file.path,
    read() {
      const stored = text()
      if (stored === null) return []
      const records = z.array(z.unknown()).parse(parsed(ContentSchema, json(stored), [])[name])
      return records.map((value, i) => {
        const record = parsed(schema, value, [name, i])
        return { key: keyOf(record), value: JSON.stringify(value), expiresAt: expiresAt(record) }
      })
    },
    write: (records) => writeAll(records.map(({ value }) => JSON.parse(value))),
    begin() {
      if (text() === null) writeAll([])
    },
  }
}
