import { z } from 'zod'
import { promptTypes } from '../../../domain/records/record.ts'
import { operationalModes, supervisedStatuses } from '../../../domain/supervision.ts'
import { MOST_INSTRUCTION_CHARS, MOST_NAME_CHARS, MOST_TITLE_CHARS } from '../../../supervision/sessions/check-text.ts'
import { isLonger } from '../../shared/request/message-limits.ts'
import { ProgressSchema, SupervisionSchema } from '../../shared/supervised/supervision-view.ts'
import { nobodyWaits } from '../approvals/schema.ts'
import { ViewSchema } from '../records/schema.ts'

/** What an operator tells an agent. `meta` is for the OpenAPI document, which cannot see the checks. */
const TextSchema = z
  .string()
  .refine((text) => text.trim() !== '', 'The text is blank. Write something.')
  .refine((text) => !isLonger(text, MOST_INSTRUCTION_CHARS), `Send at most ${MOST_INSTRUCTION_CHARS} characters.`)
  .meta({ minLength: 1, maxLength: MOST_INSTRUCTION_CHARS, pattern: '\\S' })

const ReasonSchema = z.string().max(2_000)
const NameSchema = z.string().min(1).max(MOST_NAME_CHARS)

export const NoBodySchema = z.strictObject({})

export const PromptAnswerSchema = z
  .strictObject({
    decision: z.enum(['continue', 'refine', 'stop']),
    instruction: TextSchema.optional().describe('What to do instead. `refine` needs it.'),
    reason: ReasonSchema.optional(),
  })
  .meta({ id: 'PromptAnswer' })

export const WaitAnswerSchema = z
  .strictObject({
    instruction: TextSchema.optional().describe('What to do next. Left out: the agent just goes on.'),
    stop: z.literal(true).optional().describe('Tells the agent to stop, in place of an instruction.'),
  })
  .meta({ id: 'WaitAnswer' })

export const NudgeSchema = z
  .strictObject({ message: TextSchema.optional().describe('Left out: the configured text and the checklist.') })
  .meta({ id: 'Nudge' })

export const TerminateSchema = z.strictObject({ reason: ReasonSchema.optional() }).meta({ id: 'Terminate' })
export const NewInstructionSchema = z.strictObject({ text: TextSchema }).meta({ id: 'NewInstruction' })
export const NewModeSchema = z.strictObject({ mode: z.enum(operationalModes) }).meta({ id: 'NewMode' })
export const StallsSchema = z.strictObject({ enabled: z.boolean() }).meta({ id: 'StallsSwitch' })
export const HandoverSchema = z
  .strictObject({ to: NameSchema.describe('Name of an operator in quarterdeck.yaml.') })
  .meta({ id: 'Handover' })

export const NewCheckpointSchema = z
  .strictObject({
    label: z.string().min(1).max(200).optional(),
    contents: z.boolean().optional().describe('False keeps only hashes: enough to compare, not to restore.'),
  })
  .meta({ id: 'NewCheckpoint' })
export const RestoreSchema = z
  .strictObject({
    confirm: z.string().min(1).max(200).optional().describe('`digest` of the answer that said what would change.'),
  })
  .meta({ id: 'Restore' })
export const RunCommandSchema = z
  .strictObject({ alias: NameSchema.describe('Name of a command in quarterdeck.yaml.') })
  .meta({ id: 'RunCommand' })
export const SpawnSchema = z
  .strictObject({
    prompt: z
      .string()
      .refine((text) => text.trim() !== '', 'The prompt is blank. Write something.')
      .refine((text) => !isLonger(text, 10_000), 'A prompt has at most 10000 characters.')
      .meta({ minLength: 1, maxLength: 10_000, pattern: '\\S' }),
    workspace: z.string().min(1).max(4_096).describe('Path or id of a workspace.'),
    host: NameSchema.optional(),
    title: z.string().min(1).max(MOST_TITLE_CHARS).optional(),
  })
  .meta({ id: 'Spawn' })
export const PurgeSchema = z
  .strictObject({ dry_run: z.boolean().optional().describe('True only says what would be removed.') })
  .meta({ id: 'Purge' })

const time = z.iso.datetime()

export const CheckpointSchema = z
  .strictObject({
    checkpoint_id: z.string(),
    session_id: z.string(),
    owner: z.string(),
    label: z.string().nullable(),
    workspace_root: z.string(),
    files: z.int().min(0),
    bytes: z.int().min(0),
    has_contents: z.boolean().describe('Its files can be brought back.'),
    session_state: z.strictObject({
      status: z.enum(supervisedStatuses),
      mode: z.enum(operationalModes),
      title: z.string().nullable(),
      last_tool: z.string().nullable(),
    }),
    progress_snapshot: ProgressSchema.nullable(),
    created_at: time,
  })
  .meta({ id: 'Checkpoint' })

export const ShownCheckpointSchema = CheckpointSchema.extend({
  file_hashes: z.record(z.string(), z.string()).describe('SHA-256 by path. A link has `link:` and its target.'),
  next_file: z.string().nullable().describe('Send it as `after` for the next files. Null: these were the last.'),
}).meta({ id: 'ShownCheckpoint' })

const ChangedFileSchema = z.strictObject({
  path: z.string(),
  change: z.enum(['modified', 'deleted', 'added']).describe('Since the checkpoint.'),
  bytes_then: z.int().min(0).nullable().describe('Null: it was not there, or was a link.'),
  bytes_now: z.int().min(0).nullable().describe('Null: it is not there, or is a link.'),
})

export const ChangesSchema = z
  .strictObject({
    checkpoint_id: z.string(),
    counts: z.strictObject({
      modified: z.int().min(0),
      deleted: z.int().min(0),
      added: z.int().min(0),
      unknown: z.int().min(0).describe('Could not be read now or at the checkpoint.'),
    }),
    files: z.array(ChangedFileSchema).describe('Up to 1,000, in the order of their paths.'),
    unknown: z.array(z.string()).describe('Up to 1,000.'),
  })
  .meta({ id: 'CheckpointChanges' })

export const FileDiffSchema = z
  .strictObject({
    path: z.string(),
    change: z.enum(['modified', 'deleted', 'added', 'same']).describe('`same`: at most its mode differs.'),
    diff: z.string().nullable().describe('A unified diff. Null: `why_not` says why.'),
    shown_diff: z.string().nullable().describe('The same for people: hidden characters are marked, as `<U+202E>`.'),
    added_lines: z.int().min(0),
    removed_lines: z.int().min(0),
    why_not: z.string().nullable().describe('Such as: it is not text, it is too large, it holds a secret.'),
  })
  .meta({ id: 'CheckpointFileDiff' })

export const RestoredSchema = z
  .strictObject({
    session: SupervisionSchema.describe('The new session.'),
    written: z.int().min(0),
    removed: z.int().min(0),
    not_restored: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
    undo: CheckpointSchema.describe('What the workspace was before. Restore it to undo this.'),
  })
  .meta({ id: 'Restored' })

export const CommandResultSchema = z
  .strictObject({
    alias: z.string(),
    ended: z.enum(['exit', 'timeout', 'stopped', 'not_started']),
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    duration_ms: z.int().min(0),
    output: z.string().describe('The first 64 KB of stdout and stderr.'),
    dropped_bytes: z.int().min(0),
    problem: z.string().nullable(),
  })
  .meta({ id: 'CommandResult' })

export const PurgedSchema = z
  .strictObject({ dry_run: z.boolean(), count: z.int().min(0), sessions: z.array(z.string()) })
  .meta({ id: 'Purged' })

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
  view: ViewSchema,
}

export const PromptSchema = z
  .strictObject({
    prompt_id: z.string(),
    ...record,
    status: z.enum(['pending', 'decided', 'interrupted']),
    prompt_text: z.string(),
    prompt_type: z.enum(promptTypes),
    elapsed_seconds: z.number().nullable(),
    actions_taken: z.number().nullable(),
    expires_at: time.nullable(),
    decision: z.enum(['continue', 'refine', 'stop']).nullable(),
    instruction: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .meta({ id: 'Prompt' })

export const StandbySchema = z
  .strictObject({
    wait_id: z.string(),
    ...record,
    status: z.enum(['waiting', 'resumed', 'timeout', 'interrupted']),
    message: z.string(),
    timeout_seconds: z.number().describe('0: it waits for ever.'),
    expires_at: time.nullable(),
    instruction: z.string().nullable(),
  })
  .meta({ id: 'Wait' })

export const AlertSchema = z
  .strictObject({
    alert_id: z.string(),
    ...record,
    status: z.enum(['pending', 'nudged', 'self_recovered', 'escalated', 'dismissed']),
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
  .meta({ id: 'Alert' })

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
  .meta({ id: 'Instruction' })

/** `?status=` of each list, beside `waiting` and `all`. A pending wait is `waiting` on the wire. */
export const promptStatuses = ['pending', 'decided', 'interrupted'] as const
export const waitStatuses = ['resumed', 'timeout', 'interrupted'] as const
export const alertStatuses = ['pending', 'nudged', 'self_recovered', 'escalated', 'dismissed'] as const
