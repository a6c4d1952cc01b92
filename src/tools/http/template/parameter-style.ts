// How OpenAPI writes lists and objects where only text can stand. Everything that comes out is encoded.

import { isRecord } from '../is-record.ts'
import { textOf } from './template.ts'

export const queryStyles = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const
export type QueryStyle = (typeof queryStyles)[number]

const SEPARATORS: Record<QueryStyle, string> = {
  form: ',',
  spaceDelimited: '%20',
  pipeDelimited: '%7C',
  deepObject: ',',
}

/** `name=value` once for each pair that the value becomes; what was left out becomes none. */
export function queryPairs(name: string, value: unknown, style: QueryStyle, explode: boolean): string[] {
  if (value === undefined || value === null) return []
  if (style === 'deepObject' && typeof value === 'object') return deepPairs(name, value)
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => pair(name, item))
    return value.length === 0 ? [] : [`${encodeURIComponent(name)}=${value.map(encoded).join(SEPARATORS[style])}`]
  }
  if (!isRecord(value)) return [pair(name, value)]
  const entries = given(value)
  if (explode) return entries.map(([key, item]) => pair(key, item))
  if (entries.length === 0) return []
  return [`${encodeURIComponent(name)}=${entries.flat().map(encoded).join(SEPARATORS[style])}`]
}

/** Of a form where nothing else is said: a list repeats its name, an object is JSON. */
export function formPairs(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value.map((item) => pair(name, item)) : [pair(name, value)]
}

/** OpenAPI's `simple`, for paths and headers. */
export function simpleText(value: unknown, explode: boolean, encode: (text: string) => string): string {
  const text = (item: unknown) => encode(textOf(item))
  if (Array.isArray(value)) return value.map(text).join(',')
  if (!isRecord(value)) return text(value)
  const entries = given(value)
  return explode ? entries.map((entry) => entry.map(text).join('=')).join(',') : entries.flat().map(text).join(',')
}

/** The standard ends at the first level; services that go deeper write it like this. */
function deepPairs(name: string, value: object): string[] {
  return given(value).flatMap(([key, item]) => {
    const inner = `${name}[${key}]`
    return typeof item === 'object' && item !== null ? deepPairs(inner, item) : [pair(inner, item)]
  })
}

const given = (value: object): [string, unknown][] =>
  Object.entries(value).filter(([, item]) => item !== undefined && item !== null)

const encoded = (value: unknown): string => encodeURIComponent(textOf(value))

const pair = (name: string, value: unknown): string => `${encodeURIComponent(name.toWellFormed())}=${encoded(value)}`
