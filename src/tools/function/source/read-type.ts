// A type as it is written -> JSON Schema. Only what JSON can carry: everything else is `Unreadable`, never a guess.

import type { JsonSchema } from '../../../domain/tool-settings.ts'
import { readJsdoc } from './read-jsdoc.ts'
import { keyOf, readLiteral, type Span } from './read-literal.ts'
import type { Token } from './tokenize.ts'
import { Unreadable } from './unreadable.ts'

export interface ReadType {
  schema: JsonSchema
  /** `undefined` is one of its values. */
  optional: boolean
}

/** Where a type that is called by its name is written down in the same file; null when it is not. */
export type FindType = (name: string) => Span | null

/** The end of a span that nobody knows yet. */
const OPEN = Number.POSITIVE_INFINITY

/** Finds `type Name = …` and `interface Name { … }` on the top level, without parameters, heirs or a second part elsewhere. */
export function createFindType(tokens: readonly Token[]): FindType {
  return (name) => {
    const spans: Span[] = []
    let depth = 0
    for (const [at, token] of tokens.entries()) {
      if (token.pair !== -1) depth += token.pair > at ? 1 : -1
      if (depth > 0 || token.text !== name || token.kind !== 'name') continue
      const [before, after] = [tokens[at - 1]?.text, tokens[at + 1]]
      if (before === 'type' && after?.text === '=') spans.push({ start: at + 2, end: OPEN })
      else if (before === 'interface' && after?.text === '{') spans.push({ start: at + 1, end: after.pair + 1 })
      else if (before === 'interface' || before === 'type') return null
    }
    const [only, ...others] = spans
    return only !== undefined && others.length === 0 ? only : null
  }
}

interface Reader {
  tokens: readonly Token[]
  findType: FindType
  /** The named types that are being read, against those that contain themselves. */
  inside: readonly string[]
}

interface At<T> {
  value: T
  end: number
}

/** Reads the whole span as one type. */
export function readType(tokens: readonly Token[], span: Span, findType: FindType): ReadType {
  return readWhole({ tokens, findType, inside: [] }, span)
}

function readWhole(reader: Reader, span: Span): ReadType {
  const { value, end } = union(reader, span.start)
  // The span of a declaration is open: where it ends is known only now, by a `;` or a new line.
  const after = reader.tokens[end]
  const isWhole = end === span.end || (span.end === OPEN && (!after || after.text === ';' || after.newline))
  if (!isWhole) throw unknownType(reader, end)
  return value
}

const KEYWORDS: Readonly<Record<string, JsonSchema>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  null: { type: 'null' },
  object: { type: 'object' },
  unknown: {},
  any: {},
  // JSDoc's habit
  String: { type: 'string' },
  Number: { type: 'number' },
  Boolean: { type: 'boolean' },
  Object: { type: 'object' },
}

function union(reader: Reader, from: number): At<ReadType> {
  const alternatives: JsonSchema[] = []
  let optional = false
  let at = textAt(reader, from) === '|' ? from + 1 : from
  for (;;) {
    if (textAt(reader, at) === 'undefined' || textAt(reader, at) === 'void') {
      optional = true
      at += 1
    } else {
      const part = withBrackets(reader, at)
      // A named type or one in parentheses may be a union itself.
      optional ||= part.value.optional
      alternatives.push(...(Array.isArray(part.value.schema.anyOf) ? part.value.schema.anyOf : [part.value.schema]))
      at = part.end
    }
    if (textAt(reader, at) !== '|') break
    at += 1
  }
  if (textAt(reader, at) === '&') throw unknownType(reader, at, 'an intersection (&)')
  if (alternatives.length === 0) throw unknownType(reader, from)
  return { value: { schema: combine(alternatives), optional }, end: at }
}

/** Literals of one type become one `enum`; what remains is `anyOf`. */
function combine(alternatives: readonly JsonSchema[]): JsonSchema {
  const enums = new Map<unknown, JsonSchema & { enum: unknown[] }>()
  const result: JsonSchema[] = []
  for (const schema of alternatives) {
    if (Array.isArray(schema.enum)) {
      const known = enums.get(schema.type)
      if (known !== undefined) {
        known.enum.push(...schema.enum.filter((value) => !known.enum.includes(value)))
        continue
      }
      const merged = { ...schema, enum: [...schema.enum] }
      enums.set(schema.type, merged)
      result.push(merged)
    } else if (!result.some((other) => JSON.stringify(other) === JSON.stringify(schema))) {
      result.push(schema)
    }
  }
  const plain = result.map((schema) =>
    schema.type === 'boolean' && Array.isArray(schema.enum) && schema.enum.length === 2 ? { type: 'boolean' } : schema,
  )
  const [only] = plain
  return plain.length === 1 && only !== undefined ? only : { anyOf: plain }
}

/** `string[][]`. A bracket on the next line begins something else. */
function withBrackets(reader: Reader, from: number): At<ReadType> {
  const isReadonly = textAt(reader, from) === 'readonly'
  let { value, end } = primary(reader, isReadonly ? from + 1 : from)
  while (textAt(reader, end) === '[' && reader.tokens[end]?.newline === false) {
    if (textAt(reader, end + 1) !== ']') throw unknownType(reader, end, 'an indexed type')
    value = { schema: arrayOf(value), optional: false }
    end += 2
  }
  return { value, end }
}

function arrayOf(items: ReadType): JsonSchema {
  return { type: 'array', items: items.schema }
}

function primary(reader: Reader, at: number): At<ReadType> {
  const token = reader.tokens[at]
  if (token === undefined) throw unknownType(reader, at)
  const done = (schema: JsonSchema, end: number): At<ReadType> => ({ value: { schema, optional: false }, end })

  if (token.text === '{') return done(objectType(reader, at), token.pair + 1)
  if (token.text === '(') {
    if (textAt(reader, token.pair + 1) === '=>') throw unknownType(reader, at, 'a function')
    const inner = readWhole(reader, { start: at + 1, end: token.pair })
    return { value: inner, end: token.pair + 1 }
  }
  const literalEnd = token.text === '-' ? at + 2 : at + 1
  const literal = token.text === 'null' ? null : readLiteral(reader.tokens, { start: at, end: literalEnd })
  if (literal !== null) return done({ type: typeof literal.value, enum: [literal.value] }, literalEnd)
  if (token.kind !== 'name' || textAt(reader, at + 1) === '.') throw unknownType(reader, at)

  if (textAt(reader, at + 1) === '<') return generic(reader, at)
  const keyword = Object.hasOwn(KEYWORDS, token.text) ? KEYWORDS[token.text] : undefined
  if (keyword !== undefined) return done(keyword, at + 1)
  return { value: namedType(reader, at, token.text), end: at + 1 }
}

function generic(reader: Reader, at: number): At<ReadType> {
  const name = textAt(reader, at)
  const first = union(reader, at + 2)
  if (name === 'Array' || name === 'ReadonlyArray') {
    return { value: { schema: arrayOf(first.value), optional: false }, end: closed(reader, first.end, at) }
  }
  if (name === 'Record' && textAt(reader, first.end) === ',' && first.value.schema.type === 'string') {
    const second = union(reader, first.end + 1)
    const end = closed(reader, second.end, at)
    const keys = first.value.schema.enum
    const schema = Array.isArray(keys)
      ? objectSchema(
          keys.map((key) => [key, second.value.schema]),
          keys,
        )
      : { type: 'object', additionalProperties: second.value.schema }
    return { value: { schema, optional: false }, end }
  }
  throw unknownType(reader, at)
}

function closed(reader: Reader, at: number, from: number): number {
  if (textAt(reader, at) !== '>') throw unknownType(reader, from)
  return at + 1
}

function namedType(reader: Reader, at: number, name: string): ReadType {
  if (reader.inside.includes(name)) throw unknownType(reader, at, `the type ${name}, which contains itself,`)
  const span = reader.findType(name)
  if (span === null) throw unknownType(reader, at, `the type ${name}, which this file does not declare in plain words,`)
  return readWhole({ ...reader, inside: [...reader.inside, name] }, span)
}

function objectType(reader: Reader, open: number): JsonSchema {
  const close = reader.tokens[open]?.pair ?? open
  const properties: [string, JsonSchema][] = []
  const required: string[] = []
  let rest: JsonSchema | null = null
  for (let at = open + 1; at < close; ) {
    const doc = reader.tokens[at]?.doc ?? null
    if (textAt(reader, at) === 'readonly' && !/^[?:]$/.test(textAt(reader, at + 1))) at += 1
    const token = reader.tokens[at]
    if (token?.text === '[' && textAt(reader, at + 2) === ':' && textAt(reader, token.pair + 1) === ':') {
      const value = union(reader, token.pair + 2)
      rest = value.value.schema
      at = value.end
    } else {
      const key = keyOf(token)
      const isOptional = textAt(reader, at + 1) === '?'
      const colon = isOptional ? at + 2 : at + 1
      if (key === null || textAt(reader, colon) !== ':')
        throw unknownType(reader, at, 'a member that is no plain property')
      const { value, end } = union(reader, colon + 1)
      const text = doc === null ? '' : readJsdoc(doc).text
      properties.push([key, text === '' ? value.schema : { ...value.schema, description: text }])
      if (!isOptional && !value.optional) required.push(key)
      at = end
    }
    if (at < close && (textAt(reader, at) === ',' || textAt(reader, at) === ';')) at += 1
    else if (at < close && reader.tokens[at]?.newline !== true) throw unknownType(reader, at)
  }
  const schema = objectSchema(properties, required)
  return rest === null ? schema : { ...schema, additionalProperties: rest }
}

/** An object of these properties and no others. */
export function objectSchema(properties: readonly [string, JsonSchema][], required: readonly string[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required: [...required] } : {}),
    additionalProperties: false,
  }
}

const textAt = (reader: Reader, at: number): string => reader.tokens[at]?.text ?? ''

function unknownType(reader: Reader, at: number, what?: string): Unreadable {
  const token = reader.tokens[Math.min(at, reader.tokens.length - 1)]
  return new Unreadable(token?.start ?? 0, `${what ?? `the type ${token?.text ?? ''}`} cannot be read`)
}
