// Finds the mistakes in a JSON Schema that somebody wrote into a file. Validators skip a keyword that is mistyped, so the schema would
// silently allow more than it seems to.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { describeValue } from '../../json/describe-value.ts'
import { createSchemaBudget } from '../../json/schema/budget.ts'
import { keywords } from '../../json/schema/read-keywords.ts'
import { notRegex, readSchema } from '../../json/schema/read-schema.ts'
import { isOfType, isType } from '../../json/schema/schema-node.ts'
import type { Path } from './json-schema-node.ts'

type Report = (path: Path, message: string) => void

/** Reports every mistake with its path inside `schema`. */
export function checkJsonSchema(schema: Record<string, unknown>, report: Report): void {
  const refuse = (mistake: ServerError): void => {
    const [problem] = mistake.problems
    if (problem === undefined || problem.pointer === '') report([], mistake.message)
    else report(pathOf(schema, problem.pointer), problem.detail)
  }
  try {
    readSchema(schema, {
      budget: createSchemaBudget(),
      foreignPatterns: false,
      report: refuse,
      visit: (node, pointer) => checkMeaning(node, pathOf(schema, pointer), report),
    })
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    refuse(error)
  }
}

function pathOf(schema: unknown, pointer: string): Path {
  let inside: unknown = schema
  return pointer
    .split('/')
    .slice(1)
    .map((part) => {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      const step = Array.isArray(inside) ? Number(key) : key
      inside = Reflect.get(Object(inside), step)
      return step
    })
}

const TEXTS = ['title', 'description', 'format', 'contentEncoding', 'contentMediaType']
const NAMES = ['$schema', '$id', '$anchor', '$dynamicAnchor', '$comment']

/** What a validator would accept, and nobody means. */
function checkMeaning(node: Record<string, unknown>, at: Path, report: Report): void {
  for (const [keyword, value] of Object.entries(node)) {
    const problem = keywordProblem(keyword, value)
    if (problem !== null) report([...at, keyword], problem)
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
    report([...at, 'default'], `the default ${describeValue(node.default)} does not fit its own type or enum.`)
  }
}

function keywordProblem(keyword: string, value: unknown): string | null {
  switch (keyword) {
    case 'type':
      return isEmpty(value) ? 'expected at least one type, found an empty list.' : null
    case 'enum':
      return isEmpty(value) ? 'expected a list of values, found an empty list. Write e.g. enum: [ small, large ]' : null
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
    case 'prefixItems':
      return isEmpty(value) ? 'expected a list of JSON Schemas, found an empty list.' : null
    case 'pattern':
      // The reader takes patterns that only the laxer syntax without `u` allows, because strangers send them.
      return typeof value === 'string' && regexProblem(value, '') === null ? regexProblem(value, 'u') : null
  }
  if (TEXTS.includes(keyword) || NAMES.includes(keyword))
    return typeof value === 'string' ? null : `expected text, found ${describeValue(value)}.`
  if (keywords.includes(keyword)) return null
  // JSON Schema may be extended, so only what looks like a typing mistake is one.
  const near = didYouMean(keyword, keywords)
  return near === null ? null : `JSON Schema has no keyword ${keyword}. Did you mean ${near}?`
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** Why this is not a regular expression, or null. */
export function regexProblem(source: string, flags: string): string | null {
  try {
    new RegExp(source, flags)
    return null
  } catch (error) {
    if (error instanceof SyntaxError) return notRegex(source, error)
    throw error
  }
}

function fits(value: unknown, { type, enum: words }: Record<string, unknown>): boolean {
  if (Array.isArray(words) && typeof value !== 'object' && !words.includes(value)) return false
  if (type === undefined) return true
  // The reader reports a type that does not exist.
  return [type].flat().some((one) => !isType(one) || isOfType(value, one))
}
