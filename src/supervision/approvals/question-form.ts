// What an answer to a question may be, in lines for the person who answers. The schema comes from a tool or an MCP server, so every word
// of it is bounded and shown with all its characters.

import type { JsonSchema } from '../../domain/agent/tool-settings.ts'
import { isRecord } from '../../domain/is-record.ts'
import { visibleJson, visibleText } from '../../domain/text/visible-text.ts'

const MAX_FIELDS = 50
const MAX_CHOICES = 50
const MAX_WORDS = 300
const MAX_FORM = 4_000

/** One line for each field of the answer, or one for an answer that is a single value. No lines: any text will do. */
export function questionForm(schema: JsonSchema): string[] {
  const fields = isRecord(schema.properties) ? Object.entries(schema.properties) : null
  if (fields === null) {
    // A text is typed as it is, so its choices have no quotes here.
    const line = valueWords(schema, schema.type === 'string')
    return line === ANY_TEXT || line === NOT_EMPTY ? [] : bounded([`Answer with ${line}${note(schema)}`])
  }
  const required = Array.isArray(schema.required) ? schema.required : []
  const lines = fields.slice(0, MAX_FIELDS).map(([name, field]) => {
    const must = required.includes(name) ? ' (required)' : ''
    return `${words(name)}${must}: ${isRecord(field) ? `${valueWords(field)}${note(field)}` : 'any value'}`
  })
  const more = fields.length > MAX_FIELDS ? [`… and ${fields.length - MAX_FIELDS} more fields`] : []
  return lines.length === 0
    ? []
    : bounded(['Answer with these fields:', ...[...lines, ...more].map((line) => `  ${line}`)])
}

/** The fields to begin with: those that are needed or have a usual value, otherwise all. */
export function emptyAnswer(schema: JsonSchema): Record<string, unknown> {
  const fields = Object.entries(isRecord(schema.properties) ? schema.properties : {})
  const required = Array.isArray(schema.required) ? schema.required : []
  const begun = fields.filter(([name, field]) => required.includes(name) || (isRecord(field) && 'default' in field))
  return Object.fromEntries(
    (begun.length === 0 ? fields : begun).map(([name, field]) => [
      name,
      (isRecord(field) ? field.default : null) ?? null,
    ]),
  )
}

const ANY_TEXT = 'a text'
const NOT_EMPTY = 'a text, at least 1 character'

function valueWords(schema: Record<string, unknown>, isPlain = false): string {
  const choices = choicesOf(schema)
  if (choices !== null) return `one of ${listed(choices, isPlain)}`
  switch (schema.type) {
    case 'boolean':
      return 'true or false'
    case 'integer':
    case 'number':
      return [schema.type === 'integer' ? 'a whole number' : 'a number', ...numberLimits(schema)].join(', ')
    case 'string':
      return [ANY_TEXT, ...textLimits(schema)].join(', ')
    case 'array':
      return [
        `a list of ${itemWords(schema.items)}`,
        ...limits(schema, 'minItems', 'maxItems', 'entry', 'entries'),
      ].join(', ')
    case 'null':
      return 'null'
    default:
      return `a value that fits the schema ${json(schema)}`
  }
}

function itemWords(items: unknown): string {
  if (!isRecord(items)) return 'values'
  const choices = choicesOf(items)
  return choices === null ? `values, each ${valueWords(items)}` : `any of ${listed(choices)}`
}

interface Choice {
  value: unknown
  title: string | null
}

/** `enum` with or without `enumNames`, `const`, or a list of `const` with titles. Null: it is not a choice. */
function choicesOf(schema: Record<string, unknown>): Choice[] | null {
  if ('const' in schema) return [{ value: schema.const, title: null }]
  if (Array.isArray(schema.enum)) {
    const names: unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : []
    return schema.enum.map((value, i) => ({ value, title: textOr(names[i]) }))
  }
  const options = [schema.oneOf, schema.anyOf].find(Array.isArray)
  if (options === undefined || !options.every((one) => isRecord(one) && 'const' in one)) return null
  return options.map((one) => ({ value: one.const, title: textOr(one.title) }))
}

function listed(choices: readonly Choice[], isPlain = false): string {
  const shown = choices.slice(0, MAX_CHOICES).map(({ value, title }) => {
    const text = isPlain && typeof value === 'string' ? words(value) : json(value)
    return title === null || title === value ? text : `${text} (${words(title)})`
  })
  const rest = choices.length > MAX_CHOICES ? [`… and ${choices.length - MAX_CHOICES} more`] : []
  return [...shown, ...rest].join(', ')
}

function numberLimits(schema: Record<string, unknown>): string[] {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = schema
  return [
    ...(typeof minimum === 'number' ? [`at least ${minimum}`] : []),
    ...(typeof above === 'number' ? [`more than ${above}`] : []),
    ...(typeof maximum === 'number' ? [`at most ${maximum}`] : []),
    ...(typeof below === 'number' ? [`less than ${below}`] : []),
    ...(typeof multipleOf === 'number' ? [`a multiple of ${multipleOf}`] : []),
  ]
}

function textLimits(schema: Record<string, unknown>): string[] {
  const { format, pattern } = schema
  return [
    ...(typeof format === 'string' ? [`in the format ${words(format)}`] : []),
    ...limits(schema, 'minLength', 'maxLength', 'character', 'characters'),
    ...(typeof pattern === 'string' ? [`that matches ${words(pattern)}`] : []),
  ]
}

function limits(schema: Record<string, unknown>, least: string, most: string, one: string, many: string): string[] {
  const counted = (count: number): string => `${count} ${count === 1 ? one : many}`
  const [from, to] = [schema[least], schema[most]]
  return [
    ...(typeof from === 'number' && from > 0 ? [`at least ${counted(from)}`] : []),
    ...(typeof to === 'number' ? [`at most ${counted(to)}`] : []),
  ]
}

/** In the words of whoever asks. */
function note({ title, description, default: usual }: Record<string, unknown>): string {
  const said = [title, description].filter((text): text is string => typeof text === 'string' && text !== '').map(words)
  const preset = usual === undefined ? [] : [`usually ${json(usual)}`]
  const all = [...preset, ...said]
  return all.length === 0 ? '' : ` – ${all.join('; ')}`
}

const textOr = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const words = (text: string): string => cut(visibleText(text.slice(0, MAX_WORDS).toWellFormed()))

const json = (value: unknown): string => cut(visibleJson((JSON.stringify(value) ?? 'null').slice(0, MAX_WORDS + 1)))

const cut = (text: string): string => (text.length > MAX_WORDS ? `${text.slice(0, MAX_WORDS)}…` : text)

function bounded(lines: string[]): string[] {
  let length = 0
  const kept = lines.filter((line) => {
    length += line.length + 1
    return length <= MAX_FORM
  })
  return kept.length === lines.length ? lines : [...kept, '  … and more: the schema of the question has all of it']
}
