// A function's declared parameters -> JSON Schema, and how to call it.

import type { JsonSchema } from '../../../domain/tool-settings.ts'
import { type FoundFunction, findFunction } from './find-function.ts'
import { isContext } from './is-context.ts'
import { type Jsdoc, type JsdocParameter, readJsdoc } from './read-jsdoc.ts'
import { readLiteral, type Span } from './read-literal.ts'
import { createFindType, type FindType, objectSchema, type ReadType, readType } from './read-type.ts'
import { type Parameter, type Part, splitParameters } from './split-parameters.ts'
import { type Token, tokenize } from './tokenize.ts'
import { Unreadable } from './unreadable.ts'

/** Names: the arguments are given one by one, in this order. Null: all of them as one object. */
export type Order = readonly string[] | null

export interface DeclaredFunction {
  /** The text of its comment; empty without one. */
  description: string
  /** The names of its parameters without the context; null for one that is taken apart. */
  names: readonly (string | null)[]
  /** Throws `Unreadable` where the declaration says too little. */
  parameters(): { schema: JsonSchema; order: Order }
  /** Whether it takes one object, whatever that object is called. */
  takesObject: boolean
}

/** The function behind an export of this source. Throws `Unreadable`. */
export function readFunction(source: string, exportName: string): DeclaredFunction {
  const tokens = tokenize(source)
  const found = findFunction(tokens, exportName)
  return declaredFunction(tokens, found)
}

interface Reading {
  tokens: readonly Token[]
  jsdoc: Jsdoc
  findType: FindType
}

function declaredFunction(tokens: readonly Token[], found: FoundFunction): DeclaredFunction {
  const jsdoc = found.doc === null ? { text: '', parameters: [] } : readJsdoc(found.doc)
  const reading: Reading = { tokens, jsdoc, findType: createFindType(tokens) }
  const all = splitParameters(tokens, found)
  const own = all.filter((_, index) => !isContext(tokens, all, index, jsdoc))
  const [first] = own
  return {
    description: jsdoc.text,
    names: own.map(({ name }) => name),
    takesObject: own.length === 1 && first !== undefined && isObject(reading, first),
    parameters: () => readOwn(reading, own),
  }
}

function readOwn(reading: Reading, own: readonly Parameter[]): { schema: JsonSchema; order: Order } {
  const [first] = own
  // Only the context, or nothing: it comes first.
  if (first === undefined) return { schema: objectSchema([], []), order: [] }
  // `_args`: there must be a first parameter to get at the second; it is not used.
  if (own.length === 1 && first.name?.startsWith('_')) return { schema: objectSchema([], []), order: null }
  if (own.length === 1 && isObject(reading, first)) return { schema: objectParameter(reading, first), order: null }
  return positional(reading, own)
}

function isObject(reading: Reading, parameter: Parameter): boolean {
  if (parameter.parts !== null) return true
  const told = toldOf(reading, parameter.name ?? '')
  if (parameter.type === null && told?.type == null) return dotted(reading, parameter.name ?? '').length > 0
  try {
    return typeOf(reading, parameter, told)?.schema.type === 'object'
  } catch (error) {
    // A type of its own name that is declared elsewhere: such types are objects.
    if (error instanceof Unreadable) return true
    throw error
  }
}

function positional(reading: Reading, own: readonly Parameter[]): { schema: JsonSchema; order: Order } {
  const names: string[] = []
  const properties: [string, JsonSchema][] = []
  const required: string[] = []
  for (const parameter of own) {
    const { name, position } = parameter
    if (name === null) throw new Unreadable(position, 'a parameter beside others that is taken apart has no name')
    const told = toldOf(reading, name)
    const { schema, optional } = property(reading, name, parameter, typeOf(reading, parameter, told), told)
    names.push(name)
    properties.push([name, schema])
    if (!optional && !parameter.optional) required.push(name)
  }
  return { schema: objectSchema(properties, required), order: names }
}

/** One object: its type says what is in it; without one, the comment and the defaults do. */
function objectParameter(reading: Reading, parameter: Parameter): JsonSchema {
  const parts = parameter.parts ?? []
  const root = parameter.name ?? rootOf(reading)
  const declared = typeOf(reading, parameter, root === null ? null : toldOf(reading, root))
  if (declared?.schema.properties !== undefined || declared?.schema.additionalProperties !== undefined)
    return withParts(reading, declared.schema, parts)
  if (declared !== null && declared.schema.type !== 'object')
    throw new Unreadable(parameter.position, 'a parameter that is taken apart must be an object')

  const properties: [string, JsonSchema][] = []
  const required: string[] = []
  const wanted: Part[] =
    parameter.parts ??
    dotted(reading, parameter.name ?? '').map((key) => ({ key, fallback: null, position: parameter.position }))
  for (const part of wanted) {
    const told = toldOf(reading, part.key)
    const { schema, optional } = property(reading, part.key, part, toldType(told, part.position), told)
    properties.push([part.key, schema])
    if (!optional) required.push(part.key)
  }
  return objectSchema(properties, required)
}

/** A declared object, with the defaults of what is taken out of it and what the comment says about that. */
function withParts(reading: Reading, schema: JsonSchema, parts: readonly Part[]): JsonSchema {
  const declared = new Map(Object.entries(isRecord(schema.properties) ? schema.properties : {}))
  const optional = new Set<string>()
  for (const [key, value] of declared) {
    const told = toldOf(reading, key)
    if (isRecord(value) && value.description === undefined && told !== null && told.description !== '')
      declared.set(key, { ...value, description: told.description })
  }
  for (const { key, fallback } of parts) {
    const value = declared.get(key)
    if (!isRecord(value) || fallback === null) continue
    optional.add(key)
    declared.set(key, { ...value, ...defaultOf(reading, fallback) })
  }
  const required = Array.isArray(schema.required) ? schema.required.filter((key) => !optional.has(key)) : []
  const { properties: _, required: __, ...rest } = schema
  return {
    ...rest,
    properties: Object.fromEntries(declared),
    ...(required.length > 0 ? { required } : {}),
  }
}

/** One property's schema from its type, its default and what the comment says. */
function property(
  reading: Reading,
  name: string,
  declared: { fallback: Span | null; position: number },
  type: ReadType | null,
  told: JsdocParameter | null,
): { schema: JsonSchema; optional: boolean } {
  const { fallback, position } = declared
  const literal = fallback === null ? null : readLiteral(reading.tokens, fallback)
  const schema = type?.schema ?? (literal === null ? null : schemaOfValue(literal.value))
  if (schema === null) throw new Unreadable(position, `the parameter ${name} has no type`)
  return {
    schema: {
      ...schema,
      ...(literal === null ? {} : { default: literal.value }),
      ...(told !== null && told.description !== '' ? { description: told.description } : {}),
    },
    optional: fallback !== null || type?.optional === true || told?.optional === true,
  }
}

function defaultOf(reading: Reading, fallback: Span): { default?: unknown } {
  const literal = readLiteral(reading.tokens, fallback)
  return literal === null ? {} : { default: literal.value }
}

function typeOf(reading: Reading, parameter: Parameter, told: JsdocParameter | null): ReadType | null {
  return parameter.type === null
    ? toldType(told, parameter.position)
    : readType(reading.tokens, parameter.type, reading.findType)
}

/** The type in the comment. `?T` is JSDoc for "or null". */
function toldType(told: JsdocParameter | null, position: number): ReadType | null {
  if (told === null || told.type === null) return null
  const text = told.type.replace(/^!/, '').replaceAll('.<', '<')
  if (text === '*') return { schema: {}, optional: false }
  try {
    const tokens = tokenize(text.startsWith('?') ? `(${text.slice(1)}) | null` : text)
    return readType(tokens, { start: 0, end: tokens.length }, () => null)
  } catch (error) {
    if (error instanceof Unreadable) throw new Unreadable(position, error.message)
    throw error
  }
}

/** What the comment says about a parameter or, behind the object's name, about a property. */
function toldOf(reading: Reading, name: string): JsdocParameter | null {
  const { parameters } = reading.jsdoc
  return (
    parameters.find((parameter) => parameter.name === name) ??
    parameters.find((parameter) => parameter.name.split('.').slice(1).join('.') === name) ??
    null
  )
}

/** The properties of `name` that the comment lists: `@param {string} args.city`. */
function dotted(reading: Reading, name: string): string[] {
  return reading.jsdoc.parameters
    .map((parameter) => parameter.name.split('.'))
    .filter(([root, , deeper]) => root === name && deeper === undefined)
    .map(([, key]) => key)
    .filter((key) => key !== undefined)
}

/** What the comment calls a parameter that has no name in the code. */
function rootOf(reading: Reading): string | null {
  const first = reading.jsdoc.parameters.find(({ type }) => type !== null && /^(\{|object\b)/i.test(type))
  return first !== undefined && !first.name.includes('.') ? first.name : null
}

function schemaOfValue(value: unknown): JsonSchema | null {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return { type: typeof value }
  if (!Array.isArray(value)) return null
  const items = value.map((item) => schemaOfValue(item))
  const [first] = items
  const isSame = first != null && items.every((item) => JSON.stringify(item) === JSON.stringify(first))
  return isSame ? { type: 'array', items: first } : null
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
