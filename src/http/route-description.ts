import type { z } from 'zod'
import type { ErrorCode } from '../domain/errors.ts'

/**
 * What a route accepts and answers, in the same schemas that validate it. OpenAPI is generated from it. A description names only
 * what its route adds. The generator adds what all routes share: correlation ids, 401, 403, 404 for a closed door, 421, 500, 503.
 */
export interface RouteDescription {
  /** Groups the routes in the document. */
  tag: string
  description?: string
  params?: Readonly<Record<string, z.ZodType>>
  query?: Readonly<Record<string, z.ZodType>>
  headers?: Readonly<Record<string, z.ZodType>>
  /** The JSON body. */
  body?: BodyDescription
  /** The `multipart/form-data` body. A route that accepts both has `body` too. Files are `z.file()`. */
  form?: FormDescription
  responses: Readonly<Record<number, ResponseDescription>>
  /** Errors that this route can answer with, besides those that all routes share. */
  errors: readonly ErrorCode[]
}

export interface BodyDescription {
  schema: z.ZodType
  /** Keyed by name. Each one must match the schema. */
  examples: Readonly<Record<string, unknown>>
}

interface FormDescription {
  /** The parts, keyed by name. */
  schema: z.ZodType
}

export interface ResponseDescription {
  description: string
  /** Keyed by media type. For `text/event-stream` the schema describes one `data:` payload, and `events` names the `event:` lines, if any. */
  content?: Readonly<
    Record<string, { schema: z.ZodType; example?: unknown; events?: Readonly<Record<string, z.ZodType>> }>
  >
  headers?: Readonly<Record<string, string>>
}
