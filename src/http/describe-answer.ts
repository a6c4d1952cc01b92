// Answers in JSON, for the descriptions of routes. Each schema of the wire has its example in `.meta({ example })`.

import { z } from 'zod'
import type { ResponseDescription } from './route.ts'

/** `differing`: what is different from the example of the schema in this answer. */
export function answer(description: string, schema: z.ZodType, differing?: object): ResponseDescription {
  const example = exampleOf(schema)
  return {
    description,
    content: {
      'application/json': { schema, example: differing === undefined ? example : { ...example, ...differing } },
    },
  }
}

/** A list under its name, such as `{ "approvals": […] }`. */
export const listOf = (name: string, schema: z.ZodType, description: string): ResponseDescription =>
  answer(description, z.strictObject({ [name]: z.array(schema) }))

/** A page of a list. */
export const page = (name: string, schema: z.ZodType, description = 'A page.'): ResponseDescription => ({
  ...listOf(name, schema, description),
  headers: { Link: 'The next page, if there is one.' },
})

/** The example of the schema, or one that is made of the examples of its parts. Throws if it has none. */
export function exampleOf(schema: z.core.$ZodType): object {
  const { example } = z.globalRegistry.get(schema) ?? {}
  if (typeof example === 'object' && example !== null) return example
  if (schema instanceof z.ZodArray) return [exampleOf(schema.element)]
  if (schema instanceof z.ZodObject) {
    return Object.fromEntries(Object.entries(schema.shape).map(([name, part]) => [name, exampleOf(part)]))
  }
  throw new Error('An answer needs a schema with an example: .meta({ example })')
}
