// Asks the JSON Schema that zod makes of our own files: what belongs at a path, how to describe it, how to read it from plain text.

import type { z } from 'zod'
import { isRecord } from '../../domain/is-record.ts'

export type JsonSchema = z.core.JSONSchema.BaseSchema

export type Path = readonly PropertyKey[]

/**
 * The schema at `path`, or null where anything is allowed. `value` is the value at the root: if one of its keys says which of several
 * shapes is meant, only that shape counts.
 */
export function schemaAt(root: JsonSchema, path: Path, value?: unknown): JsonSchema | null {
  let node: JsonSchema | null = root
  let current = value
  for (const step of path) {
    node = node === null ? null : child(node, step, current)
    current = valueAt(current, [step])
  }
  return node
}

/** Undefined if there is nothing. */
export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inside, step) =>
      typeof inside === 'object' && inside !== null && Object.hasOwn(inside, step)
        ? Reflect.get(inside, step)
        : undefined,
    value,
  )

function child(node: JsonSchema, step: PropertyKey, value: unknown): JsonSchema | null {
  const found = optionsOf(node, value)
    .map((option) => stepInto(option, step))
    .filter(isSchema)
  const [first] = found
  if (first === undefined) return null
  // This key says which shape is meant, so any of its words may be right.
  if (found.length > 1 && found.every((one) => one.const !== undefined)) {
    const { const: _, ...rest } = first
    return { ...rest, enum: found.flatMap((one) => (one.const === undefined ? [] : [one.const])) }
  }
  return first
}

function stepInto(option: JsonSchema, step: PropertyKey): unknown {
  if (typeof step === 'number') return option.items
  if (Object.hasOwn(option.properties ?? {}, step)) return option.properties?.[String(step)]
  return option.additionalProperties
}

/** The alternatives of a schema, or the schema itself if it has none. If `value` rules some out, only the others. */
export function optionsOf(node: JsonSchema, value?: unknown): JsonSchema[] {
  const options = node.anyOf ?? node.oneOf
  if (options === undefined) return [node]
  const all = options.filter(isSchema).flatMap((option) => optionsOf(option, value))
  const meant = all.filter((option) => isMeant(option, value))
  return meant.length > 0 ? meant : all
}

function isMeant(option: JsonSchema, value: unknown): boolean {
  if (!isSchema(value)) return true
  return Object.entries(option.properties ?? {}).every(
    ([key, one]) => !isSchema(one) || one.const === undefined || one.const === value[key],
  )
}

/** The known keys of this schema. */
export function keysOf(node: JsonSchema, value?: unknown): string[] {
  return optionsOf(node, value).flatMap((option) => Object.keys(option.properties ?? {}))
}

/** Why this schema refuses a key that others of its kind have, or null. */
export function refusalOf(node: JsonSchema, value: unknown, key: string): string | null {
  for (const { refused } of optionsOf(node, value)) {
    if (isSchema(refused) && typeof refused[key] === 'string') return refused[key]
  }
  return null
}

/** The words that are allowed, for suggestions. */
export function wordsOf(node: JsonSchema): string[] {
  return optionsOf(node)
    .flatMap((option) => [...(option.enum ?? []), option.const])
    .filter((word) => typeof word === 'string')
}

/** Describes the allowed values: "a number between 0 and 2". A schema with `expected` has words of its own. */
export function expectationOf(node: JsonSchema): string {
  if (typeof node.expected === 'string') return node.expected
  if (node.anyOf ?? node.oneOf) return optionsOf(node).map(expectationOf).join(' or ')
  if (node.enum) return `one of ${node.enum.join(', ')}`
  if (node.const !== undefined) return JSON.stringify(node.const)
  switch (node.type) {
    case 'boolean':
      return 'true or false'
    case 'integer':
      return `a whole number${rangeOf(node)}`
    case 'number':
      return `a number${rangeOf(node)}`
    case 'array':
      return 'a list'
    case 'object':
      return 'keys with values'
    case 'string':
      return (node.minLength ?? 0) > 1 ? `text of at least ${node.minLength} characters` : 'text'
    default:
      return 'a value'
  }
}

function rangeOf(node: JsonSchema): string {
  const low = bound(node.minimum)
  const high = bound(node.maximum)
  if (low !== null && high !== null) return ` between ${low} and ${high}`
  if (node.exclusiveMinimum !== undefined)
    return ` above ${node.exclusiveMinimum}${high === null ? '' : `, at most ${high}`}`
  if (low !== null) return ` of at least ${low}`
  if (high !== null) return ` of at most ${high}`
  return ''
}

// zod gives every integer the safe integers as bounds, which nobody needs to read.
const bound = (limit: unknown): number | null =>
  typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : null

/** A value to show as an example, or undefined. */
export const exampleOf = (node: JsonSchema): unknown => node.example

const booleans: Record<string, boolean> = {
  true: true,
  yes: true,
  on: true,
  1: true,
  false: false,
  no: false,
  off: false,
  0: false,
}

/**
 * Reads the text of a flag or a variable as what the schema wants: a number, yes or no, a list with commas. Text that fits nothing is
 * returned as it is, and validation then says what was expected. A schema with `prose` takes the text as it is, with its commas.
 */
export function readTextAs(node: JsonSchema | null, text: string): unknown {
  if (node?.prose === true) return text
  const trimmed = text.trim()
  const options = node === null ? [] : optionsOf(node)
  const has = (...types: string[]) =>
    options.some((option) => [option.type].flat().some((type) => type !== undefined && types.includes(type)))
  const word = (node === null ? [] : wordsOf(node)).find((one) => one.toLowerCase() === trimmed.toLowerCase())
  if (word !== undefined) return word
  if (has('number', 'integer') && /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed)) return Number(trimmed)
  if (has('boolean') && Object.hasOwn(booleans, trimmed.toLowerCase())) return booleans[trimmed.toLowerCase()]
  const list = options.find((option) => option.type === 'array')
  if (list) {
    const item = isSchema(list.items) ? list.items : null
    const parts = trimmed.split(',').map((part) => part.trim())
    return parts.filter((part) => part !== '').map((part) => readTextAs(item, part))
  }
  return text
}

export const isSchema = (value: unknown): value is JsonSchema => isRecord(value)
