// A form for the answer to a question, out of the JSON Schema that a tool or an MCP server sent. What the form cannot ask is typed as JSON.

import { isRecord } from '../../../../src/domain/is-record.ts'

export interface QuestionField {
  /** Empty: the answer is one value, and this is it. */
  name: string
  label: string
  help: string | null
  isRequired: boolean
  input:
    | { type: 'text'; isLong: boolean; format: string | null }
    | { type: 'number'; isWhole: boolean }
    | { type: 'switch' }
    | { type: 'choice'; choices: { value: unknown; label: string }[] }
    | { type: 'json' }
  /** What the field begins with. */
  preset: string
}

type Schema = Record<string, unknown>

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

export function questionFields(schema: Schema): QuestionField[] {
  if (!isRecord(schema.properties)) return [fieldOf('', schema, true)]
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties).map(([name, field]) =>
    fieldOf(name, isRecord(field) ? field : {}, required.includes(name)),
  )
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): QuestionField {
  const input = inputOf(schema)
  const title = textOf(schema.title)
  return {
    name,
    label: title ?? (name === '' ? 'Your answer' : name),
    help: textOf(schema.description),
    isRequired,
    input,
    preset: schema.default === undefined ? '' : presetOf(schema.default, input),
  }
}

function presetOf(value: unknown, input: QuestionField['input']): string {
  if (input.type === 'choice') {
    const index = input.choices.findIndex((choice) => JSON.stringify(choice.value) === JSON.stringify(value))
    return index === -1 ? '' : String(index)
  }
  return typeof value === 'string' && input.type !== 'json' ? value : JSON.stringify(value)
}

function inputOf(schema: Schema): QuestionField['input'] {
  const choices = choicesOf(schema)
  if (choices !== null) return { type: 'choice', choices }
  switch (schema.type) {
    case 'boolean':
      return { type: 'switch' }
    case 'integer':
    case 'number':
      return { type: 'number', isWhole: schema.type === 'integer' }
    case 'string': {
      const format = textOf(schema.format)
      const isShort = format !== null || (typeof schema.maxLength === 'number' && schema.maxLength <= 100)
      return { type: 'text', isLong: !isShort, format }
    }
    default:
      return { type: 'json' }
  }
}

function choicesOf(schema: Schema): { value: unknown; label: string }[] | null {
  const label = (value: unknown, title: unknown) =>
    textOf(title) ?? (typeof value === 'string' ? value : JSON.stringify(value))
  if (Array.isArray(schema.enum)) {
    const names: unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : []
    return schema.enum.map((value: unknown, i) => ({ value, label: label(value, names[i]) }))
  }
  const options = [schema.oneOf, schema.anyOf].find(Array.isArray)
  if (options === undefined || !options.every((one) => isRecord(one) && 'const' in one)) return null
  return options.map((one: Schema) => ({ value: one.const, label: label(one.const, one.title) }))
}

export type QuestionAnswer = { ok: true; result: unknown } | { ok: false; problems: Readonly<Record<string, string>> }

/** The answer that the texts of the form say. The server checks it against the schema once more. */
export function answerOf(fields: readonly QuestionField[], texts: Readonly<Record<string, string>>): QuestionAnswer {
  const problems: Record<string, string> = {}
  const values: [string, unknown][] = []
  for (const field of fields) {
    const text = texts[field.name] ?? field.preset
    const value = answerIn(field, text)
    if (value === MISSING) {
      if (field.isRequired) problems[field.name] = 'This is needed.'
    } else if (value === WRONG) problems[field.name] = wrongWords[field.input.type] ?? 'This cannot be read.'
    else values.push([field.name, value])
  }
  if (Object.keys(problems).length > 0) return { ok: false, problems }
  const single = fields.length === 1 && fields[0]?.name === ''
  return { ok: true, result: single ? values[0]?.[1] : Object.fromEntries(values) }
}

const MISSING = Symbol('missing')
const WRONG = Symbol('wrong')
const wrongWords: Partial<Record<QuestionField['input']['type'], string>> = {
  number: 'Type a number.',
  json: 'This is not JSON.',
}

function answerIn({ input, isRequired }: QuestionField, text: string): unknown {
  switch (input.type) {
    case 'switch':
      return text === 'true'
    case 'choice':
      return text === '' ? MISSING : (input.choices[Number(text)]?.value ?? MISSING)
    case 'number': {
      if (text.trim() === '') return MISSING
      const value = Number(text)
      return !Number.isFinite(value) || (input.isWhole && !Number.isInteger(value)) ? WRONG : value
    }
    case 'text':
      return text === '' && !isRequired ? MISSING : text
    case 'json':
      if (text.trim() === '') return MISSING
      try {
        return JSON.parse(text)
      } catch {
        return WRONG
      }
  }
}
