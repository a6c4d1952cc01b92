// Turns zod's issues into sentences that say what was expected, what was found and what to write.

import { stringify } from 'yaml'
import type { z } from 'zod'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { describeValue } from '../../json/describe-value.ts'
import {
  exampleOf,
  expectationOf,
  type JsonSchema,
  keysOf,
  type Path,
  refusalOf,
  schemaAt,
  valueAt,
  wordsOf,
} from './json-schema-node.ts'

export interface Explained {
  path: Path
  /** Where the issue is: at the key, if the key itself is wrong, otherwise at its value. */
  part: 'key' | 'value'
  message: string
}

export interface Explanation {
  schema: JsonSchema
  value: unknown
  /** How to write an example: `key: example` in a file, `--flag example` on the command line. */
  write(path: Path, example: string): string
  /** Whether the value is a secret or came from the environment. Messages do not repeat such a value. */
  hidden(path: Path, value: unknown): boolean
}

export function explainIssues(issues: readonly z.core.$ZodIssue[], explanation: Explanation): Explained[] {
  const flat = issues.flatMap((issue) => flatten(issue, []))
  const explained = flat
    // If a key is mistyped, a message that the keys do not fit together would only confuse.
    .filter(({ issue, path }) => issue.code !== 'custom' || !flat.some((other) => isMistypedAt(other, path)))
    .flatMap(({ issue, path }) => explain(issue, path, explanation))
  // A value that fails two checks is reported once.
  return explained.filter((one, index) => explained.findIndex((other) => isSame(one, other)) === index)
}

const isMistypedAt = ({ issue, path }: Flat, at: Path): boolean =>
  issue.code === 'unrecognized_keys' && isSamePath(path, at)

const isSame = (a: Explained, b: Explained): boolean => a.message === b.message && isSamePath(a.path, b.path)

const isSamePath = (a: Path, b: Path): boolean => a.length === b.length && a.every((step, index) => step === b[index])

interface Flat {
  issue: z.core.$ZodIssue
  path: Path
}

/** If a union fails, only the alternative that the author evidently meant is explained. */
function flatten(issue: z.core.$ZodIssue, above: Path): Flat[] {
  const path = [...above, ...issue.path]
  if (issue.code !== 'invalid_union') return [{ issue, path }]
  const meant = issue.errors.filter((errors) => !errors.some(isOtherKind))
  const only = meant.length === 1 ? meant[0] : undefined
  return only === undefined ? [{ issue, path }] : only.flatMap((inner) => flatten(inner, path))
}

const isOtherKind = (error: z.core.$ZodIssue): boolean =>
  error.path.length === 0 && (error.code === 'invalid_type' || error.code === 'invalid_value')

function explain(issue: z.core.$ZodIssue, path: Path, explanation: Explanation): Explained[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], part: 'key', message: unknownKey(key, path, explanation) }))
  }
  if (issue.code === 'invalid_key') {
    const above = schemaAt(explanation.schema, path.slice(0, -1), explanation.value) ?? {}
    const write = advice(above, path.slice(0, -1), undefined, explanation)
    return [{ path, part: 'key', message: `this name is not allowed here; expected ${expectationOf(above)}.${write}` }]
  }
  // A check of several keys has its own message; a check of one value leaves the message empty.
  if (issue.code === 'custom' && issue.message !== '') {
    return [{ path, part: 'value', message: withoutSecret(issue.message, path, explanation) }]
  }

  const node = schemaAt(explanation.schema, path, explanation.value) ?? {}
  const found = valueAt(explanation.value, path)
  const write = advice(node, path, found, explanation)
  if (found === undefined) {
    return [{ path, part: 'key', message: `this key is missing; expected ${expectationOf(node)}.${write}` }]
  }
  const shown = explanation.hidden(path, found) ? 'a value that is not shown here' : describeValue(found)
  return [{ path, part: 'value', message: `expected ${expectationOf(node)}, found ${shown}.${write}` }]
}

function withoutSecret(message: string, path: Path, { value, hidden }: Explanation): string {
  const found = valueAt(value, path)
  return hidden(path, found) ? message.replaceAll(describeValue(found), 'a value that is not shown here') : message
}

function unknownKey(key: string, path: Path, { schema, value }: Explanation): string {
  const node = schemaAt(schema, path, value) ?? {}
  const here = valueAt(value, path)
  const refusal = refusalOf(node, here, key)
  if (refusal !== null) return refusal
  const known = keysOf(node, here)
  const near = didYouMean(key, known)
  if (near !== null) return `unknown key. Did you mean ${near}?`
  const place = placeOf(key, schema)
  if (place === null) return `unknown key. Known keys here: ${known.join(', ')}.`
  return `unknown key. It belongs ${place.length === 0 ? 'at the top level of the file' : `under ${place.join('.')}`}.`
}

/** Another place where a key of this name is known, as close to the top level as possible; null if there is none. */
function placeOf(key: string, root: JsonSchema): string[] | null {
  let level: { path: string[]; node: JsonSchema }[] = [{ path: [], node: root }]
  for (let deep = 0; deep < 3; deep += 1) {
    const found = level.find(({ node }) => keysOf(node).includes(key))
    if (found !== undefined) return found.path
    level = level.flatMap(({ path, node }) =>
      keysOf(node).flatMap((name) => {
        const below = schemaAt(node, [name])
        return below === null || below.type === 'array' ? [] : [{ path: [...path, name], node: below }]
      }),
    )
  }
  return null
}

function advice(node: JsonSchema, path: Path, found: unknown, explanation: Explanation): string {
  const hidden = explanation.hidden(path, found)
  const near = typeof found === 'string' && !hidden ? didYouMean(found, wordsOf(node)) : null
  if (near !== null) return ` Did you mean ${near}?`
  const isPlainText = node.type === 'string' && node.pattern === undefined && node.enum === undefined
  const quoted = !hidden && isPlainText && (typeof found === 'number' || typeof found === 'boolean')
  const example = quoted ? String(found) : exampleOf(node)
  if (example === undefined) return ''
  return ` Write e.g. ${explanation.write(path, inline(example))}`
}

/** A value as one line of YAML. */
export function inline(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()
}
