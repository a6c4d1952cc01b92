// Some clients (.NET's among them) send `null` for fields they leave out, so `null` counts as absent. Only members of AG-UI's
// own objects are meant: inside state, metadata and other data of the application a null is a value.

import { isRecord } from '../../../domain/is-record.ts'

type Fields = Record<string, unknown>

/** The same object when it holds no null, which is nearly always. */
export function dropNulls(object: Fields): Fields {
  for (const key in object) {
    if (object[key] === null) return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
  }
  return object
}

/** `dropNulls` for each object of a list; anything else is left for the schema to judge. */
export function dropNullsEach(list: unknown): unknown {
  return Array.isArray(list) ? list.map((item) => (isRecord(item) ? dropNulls(item) : item)) : list
}
