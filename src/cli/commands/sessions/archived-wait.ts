import { z } from 'zod'
import { parseUuid } from '../../../domain/ids.ts'

export const uuid = z.string().refine((text) => parseUuid(text) === text, 'expected a UUID in lower case')
export const time = z.number().int().nonnegative()
export const count = z.number().int().nonnegative()

/** What every wait in an archive has. */
export const waitBase = {
  id: uuid,
  sessionId: uuid,
  owner: z.string().min(1),
  agent: z.string().min(1),
  runId: uuid,
  callId: z.string(),
  tool: z.string().min(1),
  arguments: z.string(),
  lane: z.string().nullable(),
  createdAt: time,
  expiresAt: time.nullable(),
  continuationRunId: uuid.nullable(),
}
