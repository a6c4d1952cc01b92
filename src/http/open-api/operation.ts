// Describes one route as an OpenAPI operation.

import type { z } from 'zod'
import { present } from '../../domain/present.ts'
import type { ResponseDescription, Route, RouteDescription } from '../route.ts'
import type { ComponentSchemas, JsonSchema } from './component-schemas.ts'

export type Operation = ReturnType<typeof operationOf>

/** The operation without its failures. */
export function operationOf(route: Route, describe: RouteDescription, components: ComponentSchemas) {
  const operationId = operationIdOf(route)
  return {
    operationId,
    tags: [describe.tag],
    summary: route.summary,
    description: describe.description,
    security: route.role === 'public' ? [{}, { token: [] }] : undefined,
    // For our own page: who may use it, and the door that it belongs to.
    'x-role': route.role,
    'x-door': route.door ?? undefined,
    parameters: parametersOf(route, describe, components),
    ...requestBodyOf(describe, operationId, components),
    responses: Object.fromEntries(
      Object.entries(describe.responses).map(([status, response]) => [
        status,
        responseOf(response, `${pascal(operationId)}${status === '200' ? '' : status}`, components),
      ]),
    ),
  }
}

function requestBodyOf({ body, form }: RouteDescription, operationId: string, components: ComponentSchemas): object {
  if (body === undefined && form === undefined) return {}
  const json = body && {
    schema: components.add(body.schema, 'input', `${pascal(operationId)}Body`),
    examples: namedExamples(body.examples),
  }
  const parts = form && { schema: components.add(form.schema, 'input', `${pascal(operationId)}Form`) }
  return {
    requestBody: {
      // If the schema accepts `undefined`, the body may be empty.
      required: body?.schema.safeParse(undefined).success !== true,
      content: present({ 'application/json': json, 'multipart/form-data': parts }),
    },
  }
}

/** `POST /sessions/:id/messages` → `postSessionsIdMessages`. */
function operationIdOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return [
    method.toLowerCase(),
    ...path
      .split(/[^A-Za-z0-9]+/)
      .filter((word) => word !== '')
      .map(pascal),
  ].join('')
}

/** `/runs/:id` → `/runs/{id}`, `/console/*path` → `/console/{path}`. */
export const templateOf = (path: string): string => path.replace(/[:*](\w+)/g, '{$1}')

const pascal = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

function parametersOf(
  { path }: Route,
  { params, query, headers }: RouteDescription,
  components: ComponentSchemas,
): unknown[] {
  const parameter = (place: string, name: string, schema: z.ZodType | undefined) => {
    const { description, ...rest }: JsonSchema =
      schema === undefined ? { type: 'string' } : components.add(schema, 'input', name)
    return {
      name,
      in: place,
      // Path parameters are never optional.
      required: place === 'path' || (schema !== undefined && !schema.safeParse(undefined).success),
      description,
      schema: rest,
    }
  }
  const names = [...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name)
  return [
    ...names.map((name) => parameter('path', name, params?.[name])),
    ...Object.entries(query ?? {}).map(([name, schema]) => parameter('query', name, schema)),
    ...Object.entries(headers ?? {}).map(([name, schema]) => parameter('header', name, schema)),
    { $ref: '#/components/parameters/CorrelationId' },
  ]
}

function responseOf(
  { description, content, headers }: ResponseDescription,
  name: string,
  components: ComponentSchemas,
) {
  const described = Object.entries(content ?? {}).map(([type, one]) => {
    const { schema, example } = one
    if (type === 'text/event-stream') return [type, eventStreamOf(one, name, components)]
    const own = type === 'application/json' ? components.add(schema, 'output', `${name}Answer`) : { type: 'string' }
    return [type, { schema: own, example }]
  })
  const ownHeaders = Object.entries(headers ?? {}).map(([header, text]) => [
    header,
    { description: text, schema: { type: 'string' } },
  ])
  return {
    description,
    headers: { ...Object.fromEntries(ownHeaders), 'X-Correlation-ID': { $ref: '#/components/headers/CorrelationId' } },
    content: described.length === 0 ? undefined : Object.fromEntries(described),
  }
}

type Content = NonNullable<ResponseDescription['content']>[string]

/** OpenAPI 3.1 cannot describe event streams. `contentSchema` describes one `data:`, and `x-events` has a schema for each `event:`. */
function eventStreamOf({ schema, example, events }: Content, name: string, components: ComponentSchemas): unknown {
  const byName = Object.entries(events ?? {}).map(([event, one]) => [
    event,
    components.add(one, 'output', `${name}${wordsOf(event)}`),
  ])
  return {
    schema: {
      type: 'string',
      description: 'Server-sent events. `contentSchema` is the schema of one `data:`.',
      contentMediaType: 'text/event-stream',
      ...(byName.length > 0
        ? { contentSchema: { anyOf: byName.map(([, one]) => one) }, 'x-events': Object.fromEntries(byName) }
        : { contentSchema: components.add(schema, 'output', `${name}Event`) }),
    },
    example: example === undefined ? undefined : `data: ${JSON.stringify(example)}\n\n`,
  }
}

const wordsOf = (event: string): string =>
  event
    .split(/[^A-Za-z0-9]+/)
    .map(pascal)
    .join('')

const namedExamples = (
  examples: Readonly<Record<string, unknown>>,
): Record<string, { value: unknown; summary?: string }> =>
  Object.fromEntries(
    // A key of `examples` must be a plain name. The summary has the text for people.
    Object.entries(examples).map(([name, value]) => [name.replace(/[^A-Za-z0-9._-]+/g, '-'), { summary: name, value }]),
  )
