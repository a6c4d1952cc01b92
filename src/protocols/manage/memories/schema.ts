import { z } from 'zod'
import { MOST_MEMORY_CHARS } from '../../../engine/memories/memories.ts'

const example = {
  memory_id: '5f0c2a9e41b7',
  owner: 'ada',
  agent: 'assistant',
  text: 'Is allergic to nuts.',
  session_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  run_id: '0192f3a1-7b2c-7def-8abc-0123456789ac',
  created_at: '2026-11-15T09:00:02.125Z',
  corrected_at: null,
}

export const MemorySchema = z
  .strictObject({
    memory_id: z.string(),
    owner: z.string().describe('The user whom it is about.'),
    agent: z.string().describe('The agent that keeps it, and alone is told it.'),
    text: z.string().describe('One line. Hidden characters are marked, as `<U+202E>`.'),
    session_id: z.string().describe('Where the agent learned it. The session may be gone.'),
    run_id: z.string(),
    created_at: z.iso.datetime(),
    corrected_at: z.iso.datetime().nullable().describe('When a person changed the text; null: nobody has.'),
  })
  .meta({ id: 'Memory', example })
/** A fact that an agent keeps about a user between sessions. */
export type Memory = z.output<typeof MemorySchema>

export const MemoryListSchema = z
  .strictObject({
    memories: z.array(MemorySchema).describe('The newest first.'),
    complete: z.boolean().describe('False: there are more. Name an owner.'),
  })
  .meta({ example: { memories: [example], complete: true } })
export type MemoryList = z.output<typeof MemoryListSchema>

export const MemoryTextSchema = z.strictObject({
  text: z.string().min(1).max(MOST_MEMORY_CHARS).describe('What the agent is told from the next message on.'),
})

export const ForgottenSchema = z
  .strictObject({ forgotten: z.int().describe('How many facts there were.') })
  .meta({ example: { forgotten: 3 } })
export type Forgotten = z.output<typeof ForgottenSchema>
