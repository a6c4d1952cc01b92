// What the commands for agents elsewhere answer.

import { z } from 'zod'
import { operationalModes } from '../../../domain/supervision/supervision.ts'

const time = z.iso.datetime()

export const InstructionSchema = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['steering', 'task']),
    session_id: z.string().nullable().describe('Null: a task that no session has taken yet.'),
    text: z.string(),
    source: z.string(),
    created_at: time,
    delivered_at: time.nullable().describe('Set when the agent’s next call proves that it has it.'),
  })
  .meta({
    id: 'Instruction',
    example: {
      id: '0192f3a1-7b2c-7def-8abc-0123456789ae',
      kind: 'steering',
      session_id: '0192f3a1-7b2c-7def-8abc-0123456789ac',
      text: 'Use the test database.',
      source: 'ada via http',
      created_at: '2026-11-15T09:04:00.000Z',
      delivered_at: null,
    },
  })
/** A text for an agent. It goes out with the results of its calls. */
export type Instruction = z.output<typeof InstructionSchema>

export const ModesSchema = z
  .strictObject({ previous_mode: z.enum(operationalModes), current_mode: z.enum(operationalModes) })
  .meta({ example: { previous_mode: 'remote', current_mode: 'local' } })
/** The modes of a session before and now. */
export type Modes = z.output<typeof ModesSchema>
