// The small words the schemas of the configuration files are made of.

import { z } from 'zod'
import type { JsonSchema } from './json-schema-node.ts'

/**
 * Adds what an editor shows and an error message needs; `expected` replaces the words derived from the type.
 * The example has a key of our own, because zod drops `examples` of everything that holds a transform.
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

/** A list, or the one value it would hold. */
export const oneOrMore = <S extends z.ZodType>(item: S) =>
  z.union([z.array(item).min(1), item]).transform((value): z.output<S>[] => (Array.isArray(value) ? value : [value]))

/** Says why these keys, which others of its kind have, are not for this one. */
export const refusing = <S extends z.ZodType>(schema: S, refused: Readonly<Record<string, string>>): S =>
  schema.meta({ refused })

/** Reports a mistake at one key of the object that is being checked. */
export type Report = (path: string | readonly PropertyKey[], message: string) => void

export const reporter =
  (context: z.RefinementCtx): Report =>
  (path, message) =>
    context.addIssue({ code: 'custom', path: typeof path === 'string' ? [path] : [...path], message })

/** The JSON Schema behind error messages and the reference pages: with our own `expected` words still in it. */
export const validationSchema = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })
