// Lenient decoding. Some clients (.NET, for example) send `null` for fields they leave out, so `null` counts as absent in AG-UI's own
// objects. Inside state, metadata and other data of the application a null is a value. What is left out becomes a warning.

import { isRecord } from '../../../domain/is-record.ts'
import { jsonPointer } from '../../shared/request/validate.ts'

type Fields = Record<string, unknown>

/** Returns the same object if it holds no null, which is nearly always. */
export function dropNulls(object: Fields): Fields {
  for (const key in object) {
    if (object[key] === null) return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
  }
  return object
}

/** `dropNulls` for each object of a list. The schema checks everything else. */
export function dropNullsEach(list: unknown): unknown {
  return Array.isArray(list) ? list.map((item) => (isRecord(item) ? dropNulls(item) : item)) : list
}

/** What was left out, for the log. Limited, so that a hostile body cannot fill the log. */
export interface Warnings {
  readonly list: readonly string[]
  /** The limit is reached. */
  readonly isFull: boolean
  add(what: string, path: readonly PropertyKey[]): void
}

const MAX_WARNINGS = 10
const MAX_POINTER = 120

export function createWarnings(): Warnings {
  const list: string[] = []
  return {
    list,
    get isFull() {
      return list.length >= MAX_WARNINGS
    },
    add(what, path) {
      if (list.length < MAX_WARNINGS) list.push(`${what} at ${jsonPointer(path).slice(0, MAX_POINTER)}`)
    },
  }
}
