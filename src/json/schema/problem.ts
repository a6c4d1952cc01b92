// Says what is wrong with a value, so that whoever wrote it can fix it.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { JsonType } from './schema-node.ts'

/** Nobody reads more than this. */
export const MAX_PROBLEMS = 10
const MAX_LISTED = 20
const MAX_LIST = 300

export interface Problem {
  path: string
  text: string
  /** The types that would have fitted, if only the type is wrong. */
  types?: readonly JsonType[]
}

export const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text)
export const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
export const escapeKey = (key: string): string => escapePointer(cut(key, 60))
export const named = (path: string): string => (path === '' ? 'the value' : path)
export const sentence = (problem: Problem): string => `${named(problem.path)} ${problem.text}`

/** The first few words. There may be thousands of any length, and a thousand branches may each want to list them. */
export function listed(words: Iterable<string>): string {
  const first: string[] = []
  let length = 0
  for (const word of words) {
    if (first.length === MAX_LISTED || length > MAX_LIST) break
    first.push(cut(word, MAX_LIST))
    length += word.length
  }
  return cut(first.join(', '), MAX_LIST)
}

export function preview(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (isRecord(value)) return 'an object'
  return typeof value === 'string' ? JSON.stringify(cut(value, 40)) : String(value)
}

/** For what is not a JSON Schema. `detail` is a sentence, or two with what to write instead; `pointer` is '' for the schema as a whole. */
export const broken = (pointer: string, detail: string): ServerError =>
  new ServerError(
    'config_invalid',
    `This JSON Schema cannot be used: ${pointer === '' ? '' : `${pointer}: `}${detail}`,
    {
      problems: [{ pointer, detail }],
    },
  )
