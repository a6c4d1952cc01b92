// What the server answers about agents elsewhere, as far as these commands show it. Newer servers may send more.

import { z } from 'zod'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'

const text = z.string()
const maybe = z.string().nullish()

const ChangeSchema = z.looseObject({
  file_path: text,
  kind: text,
  added_lines: z.number(),
  removed_lines: z.number(),
  warnings: z.array(text).default([]),
  protected_because: maybe,
  has_hidden_text: z.boolean().default(false),
})

const ApprovalSchema = z.looseObject({
  approval_id: text,
  kind: text,
  status: text,
  title: text,
  description: text.default(''),
  risk: z.enum(['low', 'high', 'critical']),
  tool: text.default(''),
  arguments: z.record(z.string(), z.unknown()).default({}),
  /** What the call will really do, and what its tool shows of it. */
  action: maybe,
  preview: maybe,
  question: z.looseObject({ message: text, schema: z.record(z.string(), z.unknown()).default({}) }).nullish(),
  session_id: text,
  agent: text.default(''),
  owner: maybe,
  host: maybe,
  workspace_root: maybe,
  digest: text,
  created_at: text,
  expires_at: maybe,
  decided_at: maybe,
  decided_by: maybe,
  reason: maybe,
  change: ChangeSchema.nullish(),
  /** Only when one approval is asked for. */
  diff: maybe,
  /** The whole text after the change, if it was asked for. */
  content: maybe,
  edited: z.boolean().nullish(),
  nobody_waits_since: maybe,
  quorum: z.number().default(1),
  decisions: z.array(z.looseObject({ by: text, at: text })).default([]),
})
export type ShownApproval = z.infer<typeof ApprovalSchema>

const ProgressSchema = z.array(z.looseObject({ label: text, status: text })).nullish()
/** The server says the folder of a session, not of a record: `allWaiting` puts it in. */
const record = {
  session_id: text,
  owner: maybe,
  host: maybe,
  workspace_root: maybe,
  created_at: text,
  status: text,
  nobody_waits_since: maybe,
}

const PromptSchema = z.looseObject({
  prompt_id: text,
  ...record,
  prompt_text: text,
  prompt_type: text,
  elapsed_seconds: z.number().nullish(),
  actions_taken: z.number().nullish(),
  decision: maybe,
  instruction: maybe,
})
const StandbySchema = z.looseObject({ wait_id: text, ...record, message: text.nullish(), instruction: maybe })
const AlertSchema = z.looseObject({
  alert_id: text,
  ...record,
  last_tool: maybe,
  idle_seconds: z.number(),
  nudge_count: z.number(),
  nudged_by: maybe,
  progress_snapshot: ProgressSchema,
})

const SupervisionSchema = z.looseObject({
  session_id: text,
  owner_user_id: text,
  workspace_root: text,
  status: text,
  host: text,
  mode: text,
  title: maybe,
  prompt: maybe,
  updated_at: text,
  last_tool: maybe,
  stalls_enabled: z.boolean().default(true),
  progress_snapshot: ProgressSchema,
})
export type ShownSession = z.infer<typeof SupervisionSchema>

const CheckpointSchema = z.looseObject({
  checkpoint_id: text,
  session_id: text,
  label: maybe,
  workspace_root: text,
  created_at: text,
})
export type ShownCheckpoint = z.infer<typeof CheckpointSchema>

/** A record of any kind that a person can be asked about. */
export type ShownRecord =
  | { kind: 'approval'; id: string; record: ShownApproval }
  | { kind: 'prompt'; id: string; record: z.infer<typeof PromptSchema> }
  | { kind: 'wait'; id: string; record: z.infer<typeof StandbySchema> }
  | { kind: 'alert'; id: string; record: z.infer<typeof AlertSchema> }
export type RecordKind = ShownRecord['kind']

export const readRecord: { [Kind in RecordKind]: (value: unknown) => Extract<ShownRecord, { kind: Kind }> } = {
  approval: (value) => {
    const read = understood(ApprovalSchema, value)
    return { kind: 'approval', id: read.approval_id, record: read }
  },
  prompt: (value) => {
    const read = understood(PromptSchema, value)
    return { kind: 'prompt', id: read.prompt_id, record: read }
  },
  wait: (value) => {
    const read = understood(StandbySchema, value)
    return { kind: 'wait', id: read.wait_id, record: read }
  },
  alert: (value) => {
    const read = understood(AlertSchema, value)
    return { kind: 'alert', id: read.alert_id, record: read }
  },
}

const kinds: readonly RecordKind[] = ['approval', 'prompt', 'wait', 'alert']
const InboxSchema = z.looseObject({
  items: z.array(z.looseObject({ id: text, kind: text, owner: maybe, created_at: text })),
  cursor: text,
})

/** A page. Items of a kind that this version does not know are left out, but counted. */
export function readInbox(value: unknown): {
  items: ShownRecord[]
  cursor: string
  count: number
  last: { id: string; created_at: string } | null
} {
  const { items, cursor } = understood(InboxSchema, value)
  const read = items.flatMap((item): ShownRecord[] => {
    const kind = kinds.find((one) => one === item.kind)
    return kind === undefined ? [] : [readRecord[kind](item[kind])]
  })
  return { items: read, cursor, count: items.length, last: items.at(-1) ?? null }
}

const SessionsSchema = z.array(z.looseObject({ session_id: text, supervision: z.unknown().optional() }))

/** A page of all sessions, of which the supervised ones are kept. */
export function readSessions(value: unknown): { sessions: ShownSession[]; count: number; last: string | null } {
  const all = understood(SessionsSchema, value)
  const sessions = all.flatMap(({ supervision }) =>
    supervision === undefined || supervision === null ? [] : [understood(SupervisionSchema, supervision)],
  )
  return { sessions, count: all.length, last: all.at(-1)?.session_id ?? null }
}

export const readCheckpoints = (value: unknown): ShownCheckpoint[] =>
  understood(z.looseObject({ checkpoints: z.array(CheckpointSchema) }), value).checkpoints

export const isOpenSession = ({ status }: ShownSession): boolean =>
  status === 'created' || status === 'active' || status === 'paused'

export function understood<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`
  throw new CliError(
    exitCodes.failed.code,
    `The server answered in a way that this version does not understand${where}. Use the same version for both.`,
  )
}
