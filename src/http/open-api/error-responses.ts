// The failures of an operation, by status. Statuses and formats come from the same functions that answer requests.

import { z } from 'zod'
import { type ErrorCode, ServerError } from '../../domain/errors.ts'
import { type ErrorShape, problemOf, problemShape } from '../problem.ts'
import type { Route, RouteDescription } from '../route.ts'
import { titleOf } from '../status.ts'
import type { ComponentSchemas } from './component-schemas.ts'

/** The error format of a route family, and the schema of its body if it is not an RFC 9457 problem. */
export interface DescribedErrors {
  shape: ErrorShape
  schema?: z.ZodType
}

export const ProblemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().optional(),
    code: z.string(),
    correlation_id: z.string(),
    errors: z.array(z.strictObject({ pointer: z.string(), detail: z.string() })).optional(),
  })
  .meta({
    id: 'Problem',
    description: 'A failure in the format of RFC 9457. `code` is for programs, `detail` for people.',
  })

const plain: DescribedErrors = { shape: problemShape }

/** Errors that every route of this kind can answer with, besides those in its description. */
export function sharedErrors(
  { role, door, anytime, method, path, body }: Route,
  describe: RouteDescription,
): ErrorCode[] {
  return [
    ...(role === 'public' ? [] : (['unauthorized', 'identity_unavailable'] as const)),
    ...(role === 'operator' || role === 'agent' ? (['forbidden'] as const) : []),
    'origin_not_allowed',
    'host_not_allowed',
    'header_too_large',
    ...(/[:*]/.test(path) ? (['invalid_request'] as const) : []),
    ...(door === null ? [] : (['door_closed'] as const)),
    ...(method === 'POST' || isStream(describe) ? (['rate_limited'] as const) : []),
    ...(describe.body === undefined ? [] : (['malformed_json', 'unsupported_media_type', 'request_timeout'] as const)),
    ...(body === 'none' ? [] : (['body_too_large'] as const)),
    ...(describe.form === undefined ? [] : FORM_ERRORS),
    'internal_error',
    ...(anytime ? [] : (['not_ready', 'shutting_down'] as const)),
  ]
}

const FORM_ERRORS = [
  'invalid_request',
  'unsupported_media_type',
  'too_many_files',
  'file_too_large',
  'file_unreadable',
  'request_timeout',
] as const

const isStream = (describe: RouteDescription): boolean =>
  Object.values(describe.responses).some(({ content }) => content?.['text/event-stream'] !== undefined)

export function errorResponses(
  codes: readonly ErrorCode[],
  families: readonly DescribedErrors[],
  components: ComponentSchemas,
  examples: Record<string, unknown>,
) {
  const found = new Map<number, { codes: Set<ErrorCode>; types: Map<string, Entry> }>()
  for (const code of new Set(codes)) {
    // A failure before the route's own code runs has the common status, unless the family has its own format.
    for (const { shape, schema } of families.length === 0 ? [plain] : families) {
      const { status, contentType, body } = shape(sampleOf(code))
      const at = found.get(status) ?? { codes: new Set(), types: new Map<string, Entry>() }
      const entry = at.types.get(contentType) ?? { schemas: new Set<z.ZodType>(), examples: {} }
      entry.schemas.add(schema ?? ProblemSchema)
      if (entry.examples[code] === undefined) {
        const name = exampleName(code, body, examples)
        examples[name] = { summary: titleOf(code), value: body }
        entry.examples[code] = { $ref: `#/components/examples/${name}` }
      }
      at.codes.add(code)
      at.types.set(contentType, entry)
      found.set(status, at)
    }
  }
  return Object.fromEntries(
    [...found]
      .sort(([a], [b]) => a - b)
      .map(([status, { codes, types }]) => [
        String(status),
        {
          description: `${[...codes].map(titleOf).join('. ')}.`,
          content: Object.fromEntries(
            [...types].map(([type, entry]) => [
              type,
              { schema: schemaOf(entry, codes, components), examples: entry.examples },
            ]),
          ),
        },
      ]),
  )
}

interface Entry {
  schemas: Set<z.ZodType>
  examples: Record<string, unknown>
}

function schemaOf({ schemas }: Entry, codes: ReadonlySet<ErrorCode>, components: ComponentSchemas): unknown {
  const all = [...schemas].map((schema) =>
    schema === ProblemSchema
      ? { allOf: [components.add(schema, 'output', 'Problem'), { properties: { code: { enum: [...codes] } } }] }
      : components.add(schema, 'output', 'ErrorBody'),
  )
  return all.length === 1 ? all[0] : { anyOf: all }
}

function sampleOf(code: ErrorCode) {
  const error = new ServerError(code, `${titleOf(code)}.`)
  return problemOf(error, { path: '/', correlationId: '0192f3a1-7b2c-7def-8abc-0123456789ab' })
}

/** Families with the same answer for a code share one example. */
function exampleName(code: ErrorCode, body: unknown, examples: Record<string, unknown>): string {
  const text = JSON.stringify({ summary: titleOf(code), value: body })
  let name: string = code
  for (let n = 2; examples[name] !== undefined && JSON.stringify(examples[name]) !== text; n += 1) name = `${code}_${n}`
  return name
}
