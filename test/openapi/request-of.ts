// Requests to an operation: most of them valid, some of them broken.

import fc from 'fast-check'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { allowedValue, spoiled } from './allowed-value.ts'
import { type Api, isJson, type Operation, type Parameter } from './api.ts'

/** The thread id in the examples. */
export const FIRST_THREAD = 'thread-1'

export interface Asked {
  operationId: string
  /** Still has placeholders for known ids. `known` is the number of one that answers have shown. */
  path: Record<string, { known: number } | { text: string }>
  query: Record<string, string>
  headers: Record<string, string>
  /** The text of the body. */
  body: string | null
}

/** Texts that a header can hold and a URL does not change. */
const headerText = fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/)
const segment = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => !/^\.+$/.test(text) && text.isWellFormed())

export function requestOf(operation: Operation, api: Api): fc.Arbitrary<Asked> {
  const at = (place: Parameter['in']) => operation.parameters.filter((parameter) => parameter.in === place)
  const record = <T>(parameters: Parameter[], one: (parameter: Parameter) => fc.Arbitrary<T>) => {
    const model = Object.fromEntries(parameters.map((parameter) => [parameter.name, one(parameter)]))
    return fc.record(model, {
      requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
      noNullPrototype: true,
    })
  }
  const types = [...operation.responses.values()].flatMap(({ content }) => Object.keys(content ?? {}))
  return fc
    .record({
      path: record(at('path'), () =>
        fc.oneof(
          { weight: 6, arbitrary: fc.record({ known: fc.nat(1_000) }) },
          { weight: 1, arbitrary: fc.record({ text: segment }) },
        ),
      ),
      query: fc.oneof(
        { weight: 3, arbitrary: record(at('query').filter(isNumber), ({ schema }) => asText(schema, api)) },
        { weight: 1, arbitrary: record(at('query'), ({ schema }) => fc.oneof(asText(schema, api), fc.string())) },
      ),
      headers: fc.oneof(
        { weight: 4, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: record(at('header'), ({ schema }) => headerOf(schema, api)) },
      ),
      accept: fc.option(fc.constantFrom(...types, '*/*')),
      body: bodyOf(operation, api),
    })
    .map(({ path, query, headers, accept, body }) => ({
      operationId: operation.id,
      path,
      query,
      headers: {
        ...headers,
        ...(accept === null ? {} : { accept }),
        ...(body === null ? {} : { 'content-type': body.type }),
      },
      body: body?.text ?? null,
    }))
}

const isNumber = ({ schema }: Parameter): boolean => schema.type === 'integer' || schema.type === 'number'

const asText = (schema: Parameter['schema'], api: Api): fc.Arbitrary<string> =>
  allowedValue(schema, api.resolve).map(String)

const headerOf = (schema: Parameter['schema'], api: Api): fc.Arbitrary<string> =>
  Array.isArray(schema.enum) ? fc.oneof(allowedValue(schema, api.resolve).map(String), headerText) : headerText

function bodyOf({ body }: Operation, api: Api): fc.Arbitrary<{ type: string; text: string } | null> {
  if (body === null) return fc.constant(null)
  const valid = fc
    .oneof(
      { weight: 3, arbitrary: fc.constantFrom(...(body.examples.length === 0 ? [{}] : body.examples)) },
      { weight: 3, arbitrary: allowedValue(body.schema, api.resolve) },
    )
    .chain((value) => fc.constantFrom(value, withKnownNames(value), withKnownNames(value)))
  const asJson = (value: fc.Arbitrary<unknown>) =>
    value.map((one) => ({ type: 'application/json', text: JSON.stringify(one) ?? '' }))
  return fc.oneof(
    { weight: 10, arbitrary: asJson(valid) },
    { weight: 6, arbitrary: asJson(valid.chain(spoiled)) },
    { weight: 1, arbitrary: fc.string().map((text) => ({ type: 'application/json', text })) },
    { weight: 1, arbitrary: asJson(valid).map(({ text }) => ({ type: 'text/plain', text })) },
  )
}

/** Puts existing names into the body. Otherwise few requests would get further than "not found". */
function withKnownNames(value: unknown): unknown {
  if (!isJson(value)) return value
  const known = Object.entries(knownNames).filter(([key]) => typeof value[key] === 'string')
  return { ...value, ...Object.fromEntries(known) }
}

const knownNames = {
  model: testAgent.name,
  agent: testAgent.name,
  session_id: FIRST_THREAD,
  thread_id: FIRST_THREAD,
  conversation: FIRST_THREAD,
}
