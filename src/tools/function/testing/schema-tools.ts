// Tools for the tests, with schemas of several libraries.

import { z } from 'zod'
import { defineTool } from '../define-tool.ts'

export const transformed = defineTool({
  description: 'Adds days to a date.',
  parameters: z.object({
    date: z.iso.date().transform((text) => new Date(text)),
    days: z.number().default(1),
  }),
  returns: z.object({ date: z.string() }),
  run({ date, days }) {
    return { date: new Date(date.getTime() + days * 86_400_000).toISOString().slice(0, 10) }
  },
})

export const unspeakable = { description: 'Takes a date.', parameters: z.object({ at: z.date() }), run: () => 1 }

export const list = { description: 'Takes a list.', parameters: z.array(z.string()), run: () => 1 }

/** The first zod 4, which had no `~standard.jsonSchema`. */
const { jsonSchema: _, ...older } = z.object({ a: z.string() })['~standard']
export const olderZod = {
  description: 'Takes a text.',
  parameters: Object.assign(Object.create(z.object({ a: z.string() })), { '~standard': older }),
  run: ({ a }: { a: string }) => a,
}

const positive = {
  version: 1 as const,
  vendor: 'tiny',
  validate: async (value: unknown) =>
    typeof value === 'object' && value !== null && 'n' in value && typeof value.n === 'number' && value.n > 0
      ? { value: { n: value.n * 10 } }
      : { issues: [{ message: 'must be positive', path: [{ key: 'n' }] }, { message: 'try again' }] },
  types: undefined as { input: unknown; output: { n: number } } | undefined,
}
const jsonSchema = {
  input: ({ target }: { target: string }) => ({
    $schema: target,
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
  }),
  output: () => ({ type: 'object' }),
}

/** A Standard Schema that is a function, as ArkType's are. */
export const speaking = defineTool({
  description: 'Multiplies by ten.',
  parameters: Object.assign(() => {}, { '~standard': { ...positive, jsonSchema } }),
  run: ({ n }) => n,
})

export const silent = defineTool({
  description: 'Multiplies by ten.',
  parameters: { '~standard': positive },
  run: ({ n }) => n,
})

export const silentValibot = { ...silent, parameters: { '~standard': { ...positive, vendor: 'valibot' } } }

export const plain = defineTool({
  description: 'Echoes a text.',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  returns: { type: 'string' },
  run: ({ text }) => text,
})

export const broken = { description: 'Has no schema.', parameters: 'text', run: () => 1 }
