// What the commands for agents elsewhere answer.

import { z } from 'zod'
import type { ErrorCode } from '../../../domain/errors.ts'
import { operationalModes } from '../../../domain/supervision/supervision.ts'
import { MOST_INSTRUCTION_CHARS, MOST_NAME_CHARS, MOST_TITLE_CHARS } from '../../../supervision/sessions/check-text.ts'
import { writtenText } from '../../shared/request/message-limits.ts'

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

// What the routes of agents elsewhere take, and what they share in the OpenAPI document.

export const supervisionTag = 'Supervision'

export const sessionParams = { id: z.string().describe('Id of a supervised session: a UUID or a ULID.') }

/** `?status=&session=&owner=&limit=&before=` of every list here. */
export const listQuery = {
  session: z.string().optional().describe('Only those of this session.'),
  owner: z.string().optional().describe('For operators: only those of this owner.'),
  limit: z.coerce.number().int().min(1).max(100).optional().describe('50 when left out.'),
  before: z.string().optional().describe('Where the page before ended; comes in the Link header.'),
}

export const commandErrors: readonly ErrorCode[] = [
  'invalid_request',
  'malformed_id',
  'forbidden',
  'conflict',
  'session_not_found',
  'passphrase_required',
  'passphrase_wrong',
  'storage_full',
  'storage_failed',
]

/** What an operator tells an agent. */
const TextSchema = writtenText('text', MOST_INSTRUCTION_CHARS, `Send at most ${MOST_INSTRUCTION_CHARS} characters.`)

const ReasonSchema = z.string().max(2_000)
const NameSchema = z.string().min(1).max(MOST_NAME_CHARS)

export const NoBodySchema = z.strictObject({})

export const PromptAnswerSchema = z
  .strictObject({
    decision: z.enum(['continue', 'refine', 'stop']),
    instruction: TextSchema.exactOptional().describe('What to do instead. `refine` needs it.'),
    reason: ReasonSchema.exactOptional(),
  })
  .meta({ id: 'PromptAnswer' })
export type PromptAnswer = z.output<typeof PromptAnswerSchema>

export const WaitAnswerSchema = z
  .strictObject({
    instruction: TextSchema.exactOptional().describe('What to do next. Left out: the agent just goes on.'),
    stop: z.literal(true).exactOptional().describe('Tells the agent to stop, in place of an instruction.'),
  })
  .meta({ id: 'WaitAnswer' })

export const NudgeSchema = z
  .strictObject({ message: TextSchema.exactOptional().describe('Left out: the configured text and the checklist.') })
  .meta({ id: 'Nudge' })

export const TerminateSchema = z.strictObject({ reason: ReasonSchema.exactOptional() }).meta({ id: 'Terminate' })
export const NewInstructionSchema = z.strictObject({ text: TextSchema }).meta({ id: 'NewInstruction' })
export const SteeringSchema = z
  .strictObject({
    text: TextSchema,
    now: z.boolean().exactOptional().describe('Wake a hosted agent that rests, so that it hears it at once.'),
  })
  .meta({ id: 'Steering' })
export const NewModeSchema = z.strictObject({ mode: z.enum(operationalModes) }).meta({ id: 'NewMode' })
export const StallsSchema = z.strictObject({ enabled: z.boolean() }).meta({ id: 'StallsSwitch' })
export const HandoverSchema = z
  .strictObject({ to: NameSchema.describe('Name of an operator in quarterdeck.yaml.') })
  .meta({ id: 'Handover' })

export const NewCheckpointSchema = z
  .strictObject({
    label: z.string().min(1).max(200).exactOptional(),
    contents: z.boolean().exactOptional().describe('False keeps only hashes: enough to compare, not to restore.'),
  })
  .meta({ id: 'NewCheckpoint' })
export const RestoreSchema = z
  .strictObject({
    confirm: z.string().min(1).max(200).exactOptional().describe('`digest` of the answer that said what would change.'),
  })
  .meta({ id: 'Restore' })
export const RunCommandSchema = z
  .strictObject({ alias: NameSchema.describe('Name of a command in quarterdeck.yaml.') })
  .meta({ id: 'RunCommand' })
export const SpawnSchema = z
  .strictObject({
    prompt: writtenText('prompt', 10_000),
    workspace: z.string().min(1).max(4_096).describe('Path or id of a workspace.'),
    host: NameSchema.exactOptional(),
    title: z.string().min(1).max(MOST_TITLE_CHARS).exactOptional(),
  })
  .meta({ id: 'Spawn' })
/** An agent to start. */
export type Spawn = z.output<typeof SpawnSchema>
export const StartableSchema = z
  .strictObject({
    hosts: z.array(
      z.strictObject({
        name: z.string(),
        title: z.string(),
        problem: z.string().nullable().describe('Why it cannot be started; null: it can.'),
        command: z.string().nullable().describe('A command that fixes it, on the machine of the server.'),
      }),
    ),
    workspaces: z.array(z.strictObject({ path: z.string(), id: z.string().nullable(), label: z.string().nullable() })),
    root: z
      .string()
      .nullable()
      .describe('Every folder below it is allowed too. Null, and no workspaces: every folder.'),
  })
  .meta({
    id: 'Startable',
    example: {
      hosts: [{ name: 'claude', title: 'Claude Code', problem: null, command: null }],
      workspaces: [{ path: '/home/ada/shop', id: 'shop', label: 'Shop' }],
      root: null,
    },
  })
/** What can be started, and where. */
export type Startable = z.output<typeof StartableSchema>
export const PurgeSchema = z
  .strictObject({ dry_run: z.boolean().exactOptional().describe('True only says what would be removed.') })
  .meta({ id: 'Purge' })
