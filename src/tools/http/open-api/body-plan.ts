import type { JsonSchema } from '../../../domain/agent/tool-settings.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { formPairs, queryPairs, queryStyles } from '../template/parameter-style.ts'
import { textOf } from '../template/template.ts'
import type { OpenApiDocument } from './document.ts'
import { sentSchema } from './sent-schema.ts'
import { argumentName, uniqueName } from './tool-name.ts'

export interface BodyPlan {
  contentType: string
  /** Undefined: there is nothing to send. */
  value(args: Readonly<Record<string, unknown>>): unknown
  encode(value: unknown): string
}

/** The properties are the arguments that the body adds. */
interface PlannedBody extends ObjectShape {
  plan: BodyPlan
}

/**
 * Returns null when there is no body, and a sentence when a body is required that cannot be sent. Each property of an object
 * becomes an argument. If a name is in `taken`, or the body is not a plain object, the whole body is one argument.
 */
export function planBody(document: OpenApiDocument, source: unknown, taken: Set<string>): PlannedBody | string | null {
  const body = document.resolve(source)
  if (!isRecord(body) || !isRecord(body.content)) return null
  const isRequired = body.required === true
  const chosen = chooseContent(body.content)
  if (chosen === null) {
    const types = Object.keys(body.content).join(', ')
    return isRequired && types !== '' ? `its body (${types}) is neither JSON, a form nor text` : null
  }
  const { contentType, encode, media } = chosen
  const schema = sentSchema(document, media.schema)
  const shape = objectShape(schema)

  if (
    shape !== null &&
    Object.keys(shape.properties).every((name) => argumentName(name) === name && !taken.has(name))
  ) {
    const names = Object.keys(shape.properties)
    const value = (args: Readonly<Record<string, unknown>>) => {
      const given = names.filter((name) => Object.hasOwn(args, name))
      if (given.length === 0 && !isRequired) return undefined
      return Object.fromEntries(given.map((name) => [name, args[name]]))
    }
    const required = isRequired ? shape.required : []
    return { plan: { contentType, value, encode }, properties: shape.properties, required }
  }

  const argument = uniqueName('body', taken)
  const value = (args: Readonly<Record<string, unknown>>) =>
    Object.hasOwn(args, argument) ? args[argument] : undefined
  return {
    plan: { contentType, value, encode },
    properties: { [argument]: withDescription(schema, body.description) },
    required: isRequired ? [argument] : [],
  }
}

interface ObjectShape {
  properties: Record<string, unknown>
  required: string[]
}

/** The properties of a schema that only says which properties an object has. Null for any other schema. */
function objectShape(schema: JsonSchema): ObjectShape | null {
  if (Object.keys(schema).some((key) => !UNDERSTOOD.has(key))) return null
  if (schema.type !== undefined && schema.type !== 'object') return null
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) return null
  const parts = Array.isArray(schema.allOf)
    ? schema.allOf.map((part) => (isRecord(part) ? objectShape(part) : null))
    : []
  const own = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : []
  if (!parts.every((part) => part !== null)) return null
  const shape = {
    properties: Object.fromEntries([...parts, { properties: own }].flatMap((part) => Object.entries(part.properties))),
    required: [...new Set([...parts.flatMap((part) => part.required), ...required])],
  }
  // An object without declared properties may hold anything, so there are no names for arguments.
  return Object.keys(shape.properties).length === 0 ? null : shape
}

const UNDERSTOOD: ReadonlySet<string> = new Set([
  'additionalProperties',
  'allOf',
  'description',
  'properties',
  'required',
  'title',
  'type',
])

type Content = Omit<BodyPlan, 'value'> & { media: Record<string, unknown> }

/** Prefers JSON, then a form, then text, in whatever order the document lists them. */
function chooseContent(content: Record<string, unknown>): Content | null {
  const types = Object.keys(content)
  const pick = (test: RegExp) => types.find((type) => test.test(type.toLowerCase()))
  const mediaOf = (type: string) => (isRecord(content[type]) ? content[type] : {})
  const json = pick(/^application\/json\b|[/+]json\b/) ?? pick(/^(\*|application)\/\*$/)
  if (json !== undefined) {
    const contentType = json.includes('*') ? 'application/json' : json
    return { contentType, encode: (value) => JSON.stringify(value), media: mediaOf(json) }
  }
  const form = pick(/^application\/x-www-form-urlencoded\b/)
  if (form !== undefined) {
    const media = mediaOf(form)
    return { contentType: 'application/x-www-form-urlencoded', encode: formEncoder(media.encoding), media }
  }
  const text = pick(/^text\/[a-z]/)
  return text === undefined ? null : { contentType: text, encode: textOf, media: mediaOf(text) }
}

/** `encoding` says how the lists and objects of single properties are written. */
function formEncoder(encoding: unknown): (value: unknown) => string {
  const rules = isRecord(encoding) ? encoding : {}
  return (value) => {
    if (!isRecord(value)) return textOf(value)
    return Object.entries(value)
      .flatMap(([name, item]) => {
        const rule = Object.hasOwn(rules, name) && isRecord(rules[name]) ? rules[name] : {}
        if (rule.style === undefined && rule.explode === undefined) return formPairs(name, item)
        const style = queryStyles.find((candidate) => candidate === rule.style) ?? 'form'
        return queryPairs(name, item, style, typeof rule.explode === 'boolean' ? rule.explode : style === 'form')
      })
      .join('&')
  }
}

const withDescription = (schema: JsonSchema, description: unknown): JsonSchema =>
  typeof description === 'string' && description.trim() !== '' ? { description: description.trim(), ...schema } : schema
