// How OpenAPI writes lists and objects in paths, queries, headers and forms. All results are encoded.

import { isRecord } from '../../../domain/is-record.ts'
import { textOf } from './template.ts'

export const queryStyles = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const
export type QueryStyle = (typeof queryStyles)[number]

const SEPARATORS: Record<QueryStyle, string> = {
  form: ',',
  spaceDelimited: '%20',
  pipeDelimited: '%7C',
  deepObject: ',',
}

/** The `name=value` pairs of a parameter. A value that was left out has none. */
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

/** The default for forms: a list repeats its name, an object becomes JSON. */
export function formPairs(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value.map((item) => pair(name, item)) : [pair(name, value)]
}

/** A whole form, with `formPairs` for each value. */
export const formText = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .flatMap(([name, value]) => formPairs(name, value))
    .join('&')

/** OpenAPI's style `simple`, for paths and headers. */
export function simpleText(value: unknown, explode: boolean, encode: (text: string) => string): string {
  const text = (item: unknown) => encode(textOf(item))
  if (Array.isArray(value)) return value.map(text).join(',')
  if (!isRecord(value)) return text(value)
  const entries = given(value)
  return explode ? entries.map((entry) => entry.map(text).join('=')).join(',') : entries.flat().map(text).join(',')
}

/** OpenAPI defines only the first level. Services that go deeper write it like this. */
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
