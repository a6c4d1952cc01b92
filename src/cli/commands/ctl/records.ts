// What the server answers about agents elsewhere, checked with its own schemas. A newer server may send more.

import { z } from 'zod'
import { isRecord } from '../../../domain/is-record.ts'
import { personKinds, recordKinds } from '../../../domain/records/record-kinds.ts'
import { type RecordView, RecordViewSchema } from '../../../protocols/manage/records/schema.ts'
import { type Checkpoint, CheckpointSchema } from '../../../protocols/manage/supervision/checkpoint-schema.ts'
import { type Supervision, SupervisionSchema } from '../../../protocols/shared/supervised/schema.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'

/** What every record has that a person can be asked about, and what answers to approvals need beside it. */
const RecordSchema = z.object({
  view: RecordViewSchema,
  /** What is to be approved: a `diff`, a `policy`, a call. */
  kind: z.string().optional(),
  digest: z.string().optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  question: z.object({ schema: z.record(z.string(), z.unknown()) }).nullish(),
  change: z.object({ file_path: z.string() }).nullish(),
  /** The text of a file, if it was asked for. */
  content: z.string().nullish(),
})

/** A record of any kind. `sent`: what the server said, for `--json`. */
export type ShownRecord = z.output<typeof RecordSchema> & { sent: unknown }
export type ViewAction = RecordView['actions'][number]

export const readRecord = (value: unknown, sent = value): ShownRecord => ({ ...understood(RecordSchema, value), sent })

/** By kind, the first part of the path of its records. */
export const recordPaths: ReadonlyMap<string, string> = new Map(
  personKinds.map((kind) => [recordKinds[kind].wire.kind, recordKinds[kind].wire.path]),
)

export const recordPath = ({ kind, id }: Pick<RecordView, 'kind' | 'id'>): string => `/${recordPaths.get(kind)}/${id}`

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
  const read = items
    .filter(({ kind }) => recordPaths.has(kind))
    .map((item) => readRecord({ ...objectIn(item[item.kind]), view: item.view }, item))
  return { items: read, cursor, count: items.length, last: items.at(-1) ?? null }
}

const objectIn = (value: unknown): object => (isRecord(value) ? value : {})

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
