// Records of agents elsewhere, as they are answered.

import { z } from 'zod'
import { promptTypes } from '../../../domain/records/record.ts'
import { wireStatusesOf } from '../../../domain/records/record-kinds.ts'
import { operationalModes } from '../../../domain/supervision.ts'
import { ProgressSchema } from '../../shared/supervised/schema.ts'
import { nobodyWaits } from '../approvals/schema.ts'
import { exampleAlertView, exampleStandbyView, exampleView, RecordViewSchema } from '../records/schema.ts'

const time = z.iso.datetime()

/** What every record of an agent elsewhere has. */
const record = {
  session_id: z.string(),
  owner: z.string(),
  host: z.string(),
  created_at: time,
  decided_at: time.nullable(),
  decided_by: z.string().nullable().describe('A person, or `timeout`.'),
  decided_channel: z.string().nullable().describe('The way the answer came: `http`, `ctl`, …'),
  nobody_waits_since: nobodyWaits,
  message_refs: z.record(z.string(), z.string()).describe('The messages that announced it, by channel.'),
  view: RecordViewSchema,
}

const exampleId = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const exampleRecord = {
  session_id: '0192f3a1-7b2c-7def-8abc-0123456789ac',
  owner: 'ada',
  host: 'claude-code',
  created_at: '2026-11-15T09:00:00.000Z',
  decided_at: null,
  decided_by: null,
  decided_channel: null,
  nobody_waits_since: null,
  message_refs: {},
}

export const examplePrompt = {
  prompt_id: exampleId,
  ...exampleRecord,
  view: exampleView,
  status: 'pending',
  prompt_text: 'The tests pass. Shall I also update the docs?',
  prompt_type: 'continuation',
  elapsed_seconds: 340,
  actions_taken: 12,
  expires_at: '2026-11-15T09:30:00.000Z',
  decision: null,
  instruction: null,
  reason: null,
}

export const PromptSchema = z
  .strictObject({
    prompt_id: z.string(),
    ...record,
    status: z.enum(wireStatusesOf('prompt')),
    prompt_text: z.string(),
    prompt_type: z.enum(promptTypes),
    elapsed_seconds: z.number().nullable(),
    actions_taken: z.number().nullable(),
    expires_at: time.nullable(),
    decision: z.enum(['continue', 'refine', 'stop']).nullable(),
    instruction: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .meta({ id: 'Prompt', example: examplePrompt })
/** A question that an agent forwards to its operator. */
export type Prompt = z.output<typeof PromptSchema>

export const StandbySchema = z
  .strictObject({
    wait_id: z.string(),
    ...record,
    status: z.enum(wireStatusesOf('standby')),
    message: z.string(),
    timeout_seconds: z.number().describe('0: it waits for ever.'),
    expires_at: time.nullable(),
    instruction: z.string().nullable(),
  })
  .meta({
    id: 'Wait',
    example: {
      wait_id: exampleId,
      ...exampleRecord,
      view: exampleStandbyView,
      status: 'waiting',
      message: 'The migration is done. What next?',
      timeout_seconds: 0,
      expires_at: null,
      instruction: null,
    },
  })
/** An agent that stands by for an instruction. */
export type Standby = z.output<typeof StandbySchema>

export const AlertSchema = z
  .strictObject({
    alert_id: z.string(),
    ...record,
    status: z.enum(wireStatusesOf('alert')),
    last_tool: z.string().nullable(),
    last_activity_at: time,
    idle_seconds: z.number().describe('When the alert was made.'),
    nudge_count: z.int().min(0),
    nudge_message: z.string().nullable(),
    last_nudge_at: time.nullable(),
    nudged_by: z
      .string()
      .nullable()
      .describe('The way the last nudge took. Null: nothing was open, so it waits for the agent’s next call.'),
    progress_snapshot: ProgressSchema.nullable(),
  })
  .meta({
    id: 'Alert',
    example: {
      alert_id: exampleId,
      ...exampleRecord,
      view: exampleAlertView,
      status: 'pending',
      last_tool: 'heartbeat',
      last_activity_at: '2026-11-15T08:55:00.000Z',
      idle_seconds: 300,
      nudge_count: 0,
      nudge_message: null,
      last_nudge_at: null,
      nudged_by: null,
      progress_snapshot: [{ label: 'Add an index', status: 'in_progress' }],
    },
  })
/** An agent that has gone silent. */
export type Alert = z.output<typeof AlertSchema>

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
      session_id: exampleRecord.session_id,
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
