// What the server answers about agents elsewhere, checked with its own schemas. A newer server may send more.

import { z } from 'zod'
import { ShownApprovalSchema } from '../../../protocols/manage/approvals/schema.ts'
import { type Checkpoint, CheckpointSchema } from '../../../protocols/manage/supervision/checkpoint-schema.ts'
import {
  type Alert,
  AlertSchema,
  type Prompt,
  PromptSchema,
  type Standby,
  StandbySchema,
} from '../../../protocols/manage/supervision/schema.ts'
import { type Supervision, SupervisionSchema } from '../../../protocols/shared/supervised/schema.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'

/** The server says the folder of a session, not of a record: `allWaiting` puts it in. */
interface InFolder {
  workspace_root?: string | null | undefined
}

/** In a list it has no diff, and not what would run. */
const AnyApprovalSchema = ShownApprovalSchema.partial({ shown: true })
export type ShownApproval = z.output<typeof AnyApprovalSchema> & InFolder

/** A record of any kind that a person can be asked about. */
export type ShownRecord =
  | { kind: 'approval'; id: string; record: ShownApproval }
  | { kind: 'prompt'; id: string; record: Prompt & InFolder }
  | { kind: 'wait'; id: string; record: Standby & InFolder }
  | { kind: 'alert'; id: string; record: Alert & InFolder }
export type RecordKind = ShownRecord['kind']

export const readRecord: { [Kind in RecordKind]: (value: unknown) => Extract<ShownRecord, { kind: Kind }> } = {
  approval: (value) => {
    const read = understood(AnyApprovalSchema, value)
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
  items: z.array(z.looseObject({ id: z.string(), kind: z.string(), created_at: z.string() })),
  cursor: z.string(),
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

const SessionsSchema = z.array(z.looseObject({ session_id: z.string(), supervision: z.unknown().optional() }))

/** A page of all sessions, of which the supervised ones are kept. */
export function readSessions(value: unknown): { sessions: Supervision[]; count: number; last: string | null } {
  const all = understood(SessionsSchema, value)
  const sessions = all.flatMap(({ supervision }) =>
    supervision === undefined || supervision === null ? [] : [understood(SupervisionSchema, supervision)],
  )
  return { sessions, count: all.length, last: all.at(-1)?.session_id ?? null }
}

export const readCheckpoints = (value: unknown): Checkpoint[] =>
  understood(z.looseObject({ checkpoints: z.array(CheckpointSchema) }), value).checkpoints

export const isOpenSession = ({ status }: Supervision): boolean =>
  status === 'created' || status === 'active' || status === 'paused'

export function understood<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const issue = read.error.issues.find(({ code }) => code !== 'unrecognized_keys')
  // A newer server says more than this version knows, and the rest is right.
  if (issue === undefined) return value as T
  const where = ` (${issue.path.join('.')}: ${issue.message})`
  throw new CliError(
    exitCodes.failed.code,
    `The server answered in a way that this version does not understand${where}. Use the same version for both.`,
  )
}
