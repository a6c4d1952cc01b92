// Building blocks for the schemas of the configuration files.

import { z } from 'zod'
import type { JsonSchema } from './json-schema-node.ts'

/**
 * Adds what editors show and error messages need. `expected` replaces the description that is derived from the type. The example
 * has a key of our own, because zod drops `examples` of every schema that contains a transform.
 */
export function key<S extends z.ZodType>(schema: S, description: string, example: unknown, expected?: string): S {
  return schema.meta({ description, example, ...(expected === undefined ? {} : { expected }) })
}

export const text = () =>
  z
    .string()
    .refine((value) => value.trim() !== '', { error: '' })
    .min(1)

export const count = (min = 1) => z.int().min(min)

/** A list, or a single value that counts as a list of one. */
export const oneOrMore = <S extends z.ZodType>(item: S) =>
  z.union([z.array(item).min(1), item]).transform((value): z.output<S>[] => (Array.isArray(value) ? value : [value]))

/** Explains why a schema does not have certain keys that similar schemas have. */
export const refusing = <S extends z.ZodType>(schema: S, refused: Readonly<Record<string, string>>): S =>
  schema.meta({ refused })

/** Reports a mistake at a key of the object that is being checked. */
export type Report = (path: string | readonly PropertyKey[], message: string) => void

export const reporter =
  (context: z.RefinementCtx): Report =>
  (path, message) =>
    context.addIssue({ code: 'custom', path: typeof path === 'string' ? [path] : [...path], message })

/** The JSON Schema for error messages and reference pages. It still contains our own keys, such as `expected`. */
export const validationSchema = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })
