import { z } from 'zod'

/** For the document: the headers that `start-headers.ts` reads, and `Last-Event-ID`. */
export const startHeaderSchemas = {
  'Idempotency-Key': z
    .string()
    .regex(/^[\x21-\x7e][\x20-\x7e]{0,254}$/)
    .optional()
    .describe('The same key and body never start a second run, for 24 hours.'),
  'X-On-Busy': z
    .enum(['queue', 'reject', 'interrupt'])
    .optional()
    .describe('What to do when the session is busy, for this request only.'),
  'Last-Event-ID': z
    .string()
    .optional()
    .describe('An `id:` of an earlier stream: starts nothing, goes on behind that event of its run.'),
} as const
