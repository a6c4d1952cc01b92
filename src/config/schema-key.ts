// The small words the schemas of the configuration files are made of.

import { z } from 'zod'

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
