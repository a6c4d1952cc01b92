import type { JsonSchema } from '../../../domain/tool-settings.ts'
import { isRecord } from '../is-record.ts'
import { formPairs, queryPairs, queryStyles } from '../template/parameter-style.ts'
import { textOf } from '../template/template.ts'
import type { OpenApiDocument } from './document.ts'
import { objectShape } from './object-shape.ts'
import { sentSchema } from './sent-schema.ts'
import { argumentName, uniqueName } from './tool-name.ts'

export interface BodyPlan {
  contentType: string
  /** Undefined: nothing to send. */
  value(args: Readonly<Record<string, unknown>>): unknown
  encode(value: unknown): string
}

export interface PlannedBody {
  plan: BodyPlan
  /** The arguments it adds. */
  properties: Record<string, unknown>
  required: string[]
}

/**
 * Null: there is no body. A sentence: one is needed that cannot be sent. The properties of an object become arguments of their
 * own; where their names clash with those in `taken`, or the body is no plain object, it is one argument.
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

interface Content {
  contentType: string
  encode(value: unknown): string
  media: Record<string, unknown>
}

/** JSON before a form before text, whatever order the document has. */
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

/** `encoding` says for single properties how their lists and objects are written. */
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
