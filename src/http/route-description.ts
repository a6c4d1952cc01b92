import type { z } from 'zod'
import type { ErrorCode } from '../domain/errors.ts'

/**
 * What a route takes and answers, in the very schemas that validate it. OpenAPI is generated from it. Every description names
 * what it adds; what all routes share (correlation, 401, 403, 404 of a closed door, 421, 500, 503) is added by the generator.
 */
export interface RouteDescription {
  /** Groups the routes in the document. */
  tag: string
  description?: string
  params?: Readonly<Record<string, z.ZodType>>
  query?: Readonly<Record<string, z.ZodType>>
  headers?: Readonly<Record<string, z.ZodType>>
  /** As JSON. */
  body?: BodyDescription
  /** As `multipart/form-data`; beside `body` where the route takes both. Files are `z.file()`. */
  form?: FormDescription
  responses: Readonly<Record<number, ResponseDescription>>
  /** The problems it can answer with, besides those that all routes share. */
  errors: readonly ErrorCode[]
}

export interface BodyDescription {
  schema: z.ZodType
  /** By name; each must satisfy the schema. */
  examples: Readonly<Record<string, unknown>>
}

export interface FormDescription {
  /** Of the parts, by name. */
  schema: z.ZodType
}

export interface ResponseDescription {
  description: string
  /** By media type. `text/event-stream` describes one `data:` payload; `events` names the `event:` lines where there are any. */
  content?: Readonly<
    Record<string, { schema: z.ZodType; example?: unknown; events?: Readonly<Record<string, z.ZodType>> }>
  >
  headers?: Readonly<Record<string, string>>
}
