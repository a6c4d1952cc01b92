// Whether a JSON Schema that somebody wrote into a file means what it says. A keyword that is mistyped or holds the wrong kind of
// value is skipped by every validator, so that the schema would silently allow more than it seems to.

import { didYouMean } from '../../domain/did-you-mean.ts'
import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { createJsonCheck } from '../../json/json-schema.ts'
import { describe } from './explain-issues.ts'
import type { Path } from './json-schema-node.ts'

type Report = (path: Path, message: string) => void

/** Reports every mistake with its path inside `schema`. */
export function checkJsonSchema(schema: Record<string, unknown>, report: Report): void {
  let isSound = true
  checkNode(schema, [], schema, (path, message) => {
    isSound = false
    report(path, message)
  })
  if (isSound) checkUse(schema, report)
}

/** What cannot be used though each word of it is right: it refers to itself in a circle, or is too large. Better now than at the first call. */
function checkUse(schema: Record<string, unknown>, report: Report): void {
  try {
    createJsonCheck(schema)
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    report([], error.message)
  }
}

export const jsonTypes: readonly string[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

type Check = (value: unknown, at: Path, root: unknown, report: Report) => void

const oneSchema: Check = (value, at, root, report) => {
  if (typeof value !== 'boolean') checkNode(value, at, root, report)
}

const schemaMap: Check = (value, at, root, report) => {
  if (!isRecord(value)) return report(at, `expected names with JSON Schemas, found ${describe(value)}.`)
  for (const [name, one] of Object.entries(value)) oneSchema(one, [...at, name], root, report)
}

const schemaList: Check = (value, at, root, report) => {
  if (!Array.isArray(value) || value.length === 0) {
    return report(at, `expected a list of JSON Schemas, found ${describe(value)}.`)
  }
  for (const [index, one] of value.entries()) oneSchema(one, [...at, index], root, report)
}

/** A list of schemas was the old way to say `prefixItems`. */
const items: Check = (value, at, root, report) => {
  if (Array.isArray(value)) schemaList(value, at, root, report)
  else oneSchema(value, at, root, report)
}

const types: Check = (value, at, _root, report) => {
  for (const type of [value].flat()) {
    if (typeof type === 'string' && jsonTypes.includes(type)) continue
    const near = typeof type === 'string' ? didYouMean(type, jsonTypes) : null
    const advice = near === null ? 'Write e.g. type: string' : `Did you mean ${near}?`
    report(at, `expected one of ${jsonTypes.join(', ')}, found ${describe(type)}. ${advice}`)
  }
  if (Array.isArray(value) && value.length === 0) report(at, 'expected at least one type, found an empty list.')
}

const names: Check = (value, at, _root, report) => {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return
  report(at, `expected a list of names, found ${describe(value)}. Write e.g. required: [ city ]`)
}

const values: Check = (value, at, _root, report) => {
  if (Array.isArray(value) && value.length > 0) return
  report(at, `expected a list of values, found ${describe(value)}. Write e.g. enum: [ small, large ]`)
}

const text: Check = (value, at, _root, report) => {
  if (typeof value !== 'string') report(at, `expected text, found ${describe(value)}.`)
}

const number: Check = (value, at, _root, report) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) report(at, `expected a number, found ${describe(value)}.`)
}

const size: Check = (value, at, _root, report) => {
  if (Number.isInteger(value) && Number(value) >= 0) return
  report(at, `expected a whole number of at least 0, found ${describe(value)}.`)
}

const pattern: Check = (value, at, _root, report) => {
  const problem = regexProblem(value, 'u')
  if (problem !== null) report(at, problem)
}

/** Why this is no regular expression, or null. */
export function regexProblem(value: unknown, flags: string): string | null {
  if (typeof value !== 'string') return `expected a regular expression, found ${describe(value)}.`
  try {
    new RegExp(value, flags)
    return null
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: /, '') : 'unknown'
    return `${describe(value)} is no regular expression (${reason}). Fix it.`
  }
}

const reference: Check = (value, at, root, report) => {
  if (typeof value !== 'string' || !value.startsWith('#')) {
    return report(at, `expected a place in this schema, found ${describe(value)}. Write e.g. $ref: "#/$defs/address"`)
  }
  const steps = value.slice(1).split('/').slice(1).map(unescaped)
  let place: unknown = root
  for (const step of steps) {
    place = typeof place === 'object' && place !== null && Object.hasOwn(place, step) ? Reflect.get(place, step) : null
  }
  // Without a slash it is the name of an $anchor.
  if (place === null && value.startsWith('#/')) report(at, `there is nothing at ${describe(value)} in this schema.`)
}

const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')

const anything: Check = () => {}

const keywords: Readonly<Record<string, Check>> = {
  type: types,
  enum: values,
  const: anything,
  title: text,
  description: text,
  default: anything,
  examples: anything,
  example: anything,
  properties: schemaMap,
  patternProperties: schemaMap,
  $defs: schemaMap,
  definitions: schemaMap,
  dependentSchemas: schemaMap,
  dependentRequired: anything,
  dependencies: anything,
  required: names,
  additionalProperties: oneSchema,
  unevaluatedProperties: oneSchema,
  propertyNames: oneSchema,
  minProperties: size,
  maxProperties: size,
  items,
  prefixItems: schemaList,
  additionalItems: oneSchema,
  unevaluatedItems: oneSchema,
  contains: oneSchema,
  minContains: size,
  maxContains: size,
  minItems: size,
  maxItems: size,
  uniqueItems: anything,
  anyOf: schemaList,
  oneOf: schemaList,
  allOf: schemaList,
  not: oneSchema,
  if: oneSchema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: oneSchema,
  else: oneSchema,
  minimum: number,
  maximum: number,
  // Draft 4 has true and false here.
  exclusiveMinimum: anything,
  exclusiveMaximum: anything,
  multipleOf: number,
  minLength: size,
  maxLength: size,
  pattern,
  format: text,
  contentEncoding: text,
  contentMediaType: text,
  contentSchema: oneSchema,
  nullable: anything,
  readOnly: anything,
  writeOnly: anything,
  deprecated: anything,
  $ref: reference,
  $dynamicRef: anything,
  $schema: text,
  $id: text,
  $anchor: text,
  $dynamicAnchor: text,
  $comment: text,
  $vocabulary: anything,
}

function checkNode(node: unknown, at: Path, root: unknown, report: Report): void {
  if (!isRecord(node)) {
    report(at, `expected a JSON Schema, found ${describe(node)}. Write e.g. { type: string }`)
    return
  }
  for (const [keyword, value] of Object.entries(node)) {
    const check = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined
    if (check !== undefined) check(value, [...at, keyword], root, report)
    else {
      // JSON Schema may be extended, so only what looks like a slip is one.
      const near = didYouMean(keyword, Object.keys(keywords))
      if (near !== null) report([...at, keyword], `JSON Schema has no word ${keyword}. Did you mean ${near}?`)
    }
  }
  const { properties, required } = node
  if (isRecord(properties) && Array.isArray(required)) {
    for (const [index, name] of required.entries()) {
      if (typeof name !== 'string' || Object.hasOwn(properties, name)) continue
      const near = didYouMean(name, Object.keys(properties))
      const advice = near === null ? 'Describe it there, or take it out here.' : `Did you mean ${near}?`
      report([...at, 'required', index], `${name} is not among the properties. ${advice}`)
    }
  }
  if (node.default !== undefined && !fits(node.default, node)) {
    report([...at, 'default'], `the default ${describe(node.default)} does not fit its own type or enum.`)
  }
}

function fits(value: unknown, { type, enum: words }: Record<string, unknown>): boolean {
  if (Array.isArray(words) && typeof value !== 'object' && !words.includes(value)) return false
  if (type === undefined) return true
  return [type].flat().some((one) => {
    switch (one) {
      case 'null':
        return value === null
      case 'array':
        return Array.isArray(value)
      case 'object':
        return isRecord(value)
      case 'integer':
        return Number.isInteger(value)
      // A type that is none has been reported already.
      default:
        return !jsonTypes.includes(String(one)) || typeof value === one
    }
  })
}
