// Some clients (.NET's among them) send `null` for fields they leave out, so `null` counts as absent. Only members of AG-UI's
// own objects are meant: inside state, metadata and other data of the application a null is a value.

import { isRecord } from '../../../domain/is-record.ts'
import { jsonPointer } from '../../shared/request/input-problems.ts'

type Fields = Record<string, unknown>

/** The same object when it holds no null, which is nearly always. */
export function dropNulls(object: Fields): Fields {
  for (const key in object) {
    if (object[key] === null) return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
  }
  return object
}

/** `dropNulls` for each object of a list; anything else is left for the schema to validate. */
export function dropNullsEach(list: unknown): unknown {
  return Array.isArray(list) ? list.map((item) => (isRecord(item) ? dropNulls(item) : item)) : list
}

/** What a tolerant reader left out. Bounded: a hostile body must not fill the log. */
export interface Warnings {
  readonly list: readonly string[]
  /** No more are taken. */
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
