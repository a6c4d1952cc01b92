// The JSON Lines that `sessions export` writes and `sessions import` reads. The first line says what the file is. `docs/cli.md` describes the
// format.

import { z } from 'zod'
import { isRecord } from '../../../domain/is-record.ts'
import { isSupervised } from '../../../domain/records/record.ts'
import type { ContentPart, StoredMessage, ToolCall } from '../../../domain/session/message.ts'
import { isFinished, type RunInput, type RunRecord } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { AuditEntry } from '../../../domain/supervision/audit.ts'
import { agentsProposalId } from '../../../domain/supervision/supervision.ts'
import type { StoredEntry } from '../../../store/ports/entry.ts'
import type { ImportSession } from '../../../store/ports/sessions.ts'
import { type CliError, usageError } from '../../cli-error.ts'
import {
  type ArchivedRecords,
  auditLine,
  type BytesPart,
  bytesPart,
  checkpoint,
  end,
  file,
  hasTwice,
  instruction,
  note,
  proposal,
  recordsLine,
} from './archive-lines.ts'
import { count, time, uuid, whole } from './archive-shape.ts'
import { archivedRecord } from './archived-records.ts'
import { supervisionSchema, withoutAgent } from './archived-supervision.ts'

const ARCHIVE_VERSION = 1

export type ArchivedSession = Omit<ImportSession, 'type'>

export type ArchiveLine =
  | { type: 'session'; session: ArchivedSession }
  | { type: 'bytes'; part: BytesPart }
  | { type: 'records'; records: ArchivedRecords }
  | { type: 'audit'; entries: readonly AuditEntry[] }
  /** So many sessions came before it. */
  | { type: 'end'; sessions: number }

export const archiveHeader = (now: number): string =>
  JSON.stringify({
    archive: 'quarterdeck',
    version: ARCHIVE_VERSION,
    exported_at: new Date(now).toISOString(),
  })

/** Throws if this is not an archive that this program reads. */
export function readArchiveHeader(line: string): void {
  const header = headerSchema.safeParse(parseJson(line))
  if (!header.success) {
    throw usageError('This file was not written by `quarterdeck sessions export`: its first line is different.')
  }
  const { archive, version } = header.data
  if (archive === 'quarterdeck-sessions') {
    throw usageError(
      `This archive was written before 0.1.0 (version ${version}), and this Quarterdeck cannot read it. Nothing was imported. To import it, use a checkout of commit 6665030b.`,
    )
  }
  if (version > ARCHIVE_VERSION) {
    throw usageError(`This archive has version ${version}; this Quarterdeck reads up to ${ARCHIVE_VERSION}.`, [
      'Update Quarterdeck, then import the file again.',
    ])
  }
}

const headerSchema = z.object({
  /** `quarterdeck-sessions`: from before 0.1.0, with versions of its own. */
  archive: z.enum(['quarterdeck', 'quarterdeck-sessions']),
  version: z.number(),
})

/** Throws with the number of the line and what is wrong with it. */
export function readArchiveLine(line: string, lineNumber: number): ArchiveLine {
  const value = parseJson(line)
  if (value === undefined) throw damaged(lineNumber, 'it is not JSON. If it is the last line, the file was cut off.')
  const check = <T>(schema: z.ZodType<T>): T => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    const path = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.join('.')
    throw damaged(lineNumber, `${path}: ${issue?.message ?? 'is not a session'}.`)
  }
  if (isRecord(value) && !('session' in value)) {
    if ('bytes' in value) return { type: 'bytes', part: check(bytesPart).bytes }
    if ('records' in value) return { type: 'records', records: check(recordsLine).records }
    if ('audit' in value) return { type: 'audit', entries: check(auditLine).audit }
    if ('end' in value) return { type: 'end', sessions: check(end).end.sessions }
  }
  return { type: 'session', session: withoutAgent(check(sessionLine)) }
}

export const damaged = (lineNumber: number, problem: string): CliError =>
  usageError(`Line ${lineNumber}: ${problem}`, [
    'The file is damaged or was not written by `quarterdeck sessions export`.',
  ])

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const object = z.record(z.string(), z.unknown())

const session: z.ZodType<SessionRecord> = whole<SessionRecord>()({
  id: uuid,
  owner: z.string().min(1),
  agent: z.string().min(1),
  activeAgent: z.string().min(1).nullable(),
  status: z.enum(['created', 'active', 'paused', 'terminated', 'interrupted']),
  createdAt: time,
  lastActivity: time,
  terminatedAt: time.nullable(),
  lastTool: z.string().nullable(),
  metadata: object,
  alias: z.string().nullable(),
  messageCount: count,
  // A session without shared state has no such key.
  state: z.unknown().optional(),
  unlisted: z.boolean(),
  label: z.string().exactOptional(),
  supervision: supervisionSchema.exactOptional(),
}).transform(({ state, ...rest }) => ({ ...rest, state }))

const run: z.ZodType<RunRecord> = whole<RunRecord>()({
  id: uuid,
  sessionId: uuid,
  owner: z.string().min(1),
  agent: z.string().min(1),
  wireId: z.string().min(1),
  parentRunId: z.string().nullable(),
  status: z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted']),
  origin: z.enum(['reader', 'background', 'recovery', 'answer']),
  input: z.custom<RunInput>(
    (value) =>
      isRecord(value) &&
      ['messages', 'instructions', 'context', 'clientTools'].every((key) => Array.isArray(value[key])),
    'expected the input of a run',
  ),
  createdAt: time,
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  usage: z.array(z.custom<RunRecord['usage'][number]>(isRecord, 'expected an object')),
  error: z.object({ code: z.string(), message: z.string(), isFinal: z.literal(true).exactOptional() }).nullable(),
  cancelRequested: z.boolean(),
  firstSeq: count.nullable(),
  lastSeq: count.nullable(),
  fence: count,
  leaseOwner: z.string().nullable(),
})

const message: z.ZodType<StoredMessage> = whole<StoredMessage>()({
  id: z.string().min(1),
  role: z.enum(['user', 'assistant', 'tool', 'system', 'developer', 'reasoning', 'activity']),
  content: z.union([z.string(), z.array(z.custom<ContentPart>(isRecord, 'expected an object'))]),
  runId: z.string(),
  createdAt: time,
  toolCalls: z.array(z.custom<ToolCall>(isRecord, 'expected an object')).exactOptional(),
  toolCallId: z.string().exactOptional(),
  error: z.string().exactOptional(),
  agentName: z.string().exactOptional(),
  encryptedValue: z.string().exactOptional(),
  brokenOff: z.boolean().exactOptional(),
  activity: z.strictObject({ type: z.string(), content: object }).exactOptional(),
  lane: z.string().min(1).exactOptional(),
  supersededBy: z.string().exactOptional(),
  metadata: object.exactOptional(),
})

const entry: z.ZodType<StoredEntry> = whole<StoredEntry>()({
  seq: z.number().int().positive(),
  runId: z.string().nullable(),
  kind: z.enum(['event', 'fact']),
  // The log is served as it is stored, one entry per line. Anything but a line of JSON would break every reader.
  data: z.string().refine((text) => !text.includes('\n') && isRecord(parseJson(text)), 'expected one line of JSON'),
  spans: z.array(z.tuple([z.number().int().positive(), count])).exactOptional(),
})

const sessionLine: z.ZodType<ArchivedSession> = z
  .strictObject({
    session,
    runs: z.array(run),
    messages: z.array(message),
    entries: z.array(entry),
    waits: z.array(archivedRecord).exactOptional(),
    files: z.array(file).exactOptional(),
    proposals: z.array(proposal).exactOptional(),
    instructions: z.array(instruction).exactOptional(),
    checkpoints: z.array(checkpoint).exactOptional(),
    notes: z.array(note).exactOptional(),
  })
  .superRefine((value, context) => {
    const problem = (path: string, text: string) => context.addIssue({ code: 'custom', path: [path], message: text })
    if (value.runs.some(({ sessionId }) => sessionId !== value.session.id))
      problem('runs', 'one belongs to another session')
    if (value.entries.some(({ seq }, i) => seq <= (value.entries[i - 1]?.seq ?? 0))) problem('entries', 'out of order')
    const runs = new Map(value.runs.map(({ id, status }) => [id, status]))
    // The runs in the log of an agent elsewhere are no runs of ours.
    const isElsewhere = value.session.supervision !== undefined
    if (!isElsewhere && value.entries.some(({ runId }) => runId !== null && !runs.has(runId)))
      problem('entries', 'one belongs to an unknown run')
    const { waits = [], files = [], proposals = [], instructions = [], checkpoints = [], notes = [] } = value
    const { messages } = value
    for (const [name, records] of Object.entries({
      runs: value.runs,
      messages,
      waits,
      files,
      instructions,
      checkpoints,
    })) {
      if (hasTwice(records.map(({ id }) => id))) problem(name, 'one is there twice')
    }
    if (hasTwice(value.runs.map(({ wireId }) => wireId))) problem('runs', 'two have the same wireId')
    if (hasTwice(notes.map(({ channel, key }) => JSON.stringify([channel, key]))))
      problem('notes', 'one is there twice')
    // The bytes of a change are found by its approval alone. Those of another session's approval must not change.
    const ofWaits = new Set(waits.flatMap(({ id }) => [id, agentsProposalId(id)]))
    if (proposals.some(({ approvalId }) => !ofWaits.has(approvalId)))
      problem('proposals', 'one belongs to an unknown approval')
    const owned = [...files, ...instructions, ...checkpoints, ...notes.map(({ session: sessionId }) => ({ sessionId }))]
    if (owned.some(({ sessionId }) => sessionId !== value.session.id))
      problem('session', 'a record of another session is with it')
    if (waits.some(({ sessionId, runId }) => sessionId !== value.session.id || (!isElsewhere && !runs.has(runId))))
      problem('waits', 'one belongs to another session or an unknown run')
    if (waits.some((one) => isSupervised(one) !== isElsewhere)) problem('waits', 'one is of another kind of session')
    if (isElsewhere) return
    // Nobody could answer it, and it would never end.
    if (waits.some(({ status, runId }) => status === 'pending' && isFinished(runs.get(runId) ?? 'completed')))
      problem('waits', 'one is pending on a run that has ended')
  })
