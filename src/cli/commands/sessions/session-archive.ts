// The JSON Lines that `sessions export` writes and `sessions import` reads. The first line says what the file is. `docs/look-up/cli.md` describes the
// format.

import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { isRecord } from '../../../domain/is-record.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { type AnyRecord, isSupervised, isWaiting, type SupervisedRecord } from '../../../domain/records/record.ts'
import { isFinished } from '../../../domain/session/run.ts'
import type { AuditEntry } from '../../../domain/supervision/audit.ts'
import { agentsProposalId } from '../../../domain/supervision/supervision.ts'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import type { ImportSession } from '../../../store/ports/sessions.ts'
import { interruptWait } from '../../../store/rules/wait-change.ts'
import { type CliError, failure, usageError } from '../../cli-error.ts'
import type { Io } from '../../terminal/io.ts'
import { linesOf } from '../../terminal/lines.ts'
import {
  type ArchivedRecords,
  auditLine,
  type BytesPart,
  bytesPart,
  checkpoint,
  end,
  feedback,
  file,
  hasTwice,
  instruction,
  note,
  proposal,
  recordsLine,
} from './archive-lines.ts'
import { archivedRecord, entry, message, run, session } from './archived-records.ts'

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
  const header = headerSchema.safeParse(jsonIn(line))
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
  const value = jsonIn(line)
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
    feedback: z.array(feedback).exactOptional(),
  })
  .superRefine((value, context) => {
    const problem = (path: string, text: string) => context.addIssue({ code: 'custom', path: [path], message: text })
    if (value.runs.some(({ sessionId }) => sessionId !== value.session.id))
      problem('runs', 'one belongs to another session')
    if (value.entries.some(({ seq }, i) => seq <= (value.entries[i - 1]?.seq ?? 0))) problem('entries', 'out of order')
    const runs = new Map(value.runs.map(({ id, status }) => [id, status]))
    // The runs in the log of an agent elsewhere are not ours.
    const { supervision } = value.session
    const isElsewhere = supervision !== undefined && supervision.hosted === undefined
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
    const rated = (value.feedback ?? []).map(({ messageId, by }) => JSON.stringify([messageId, by]))
    if (hasTwice(rated)) problem('feedback', 'one is there twice')
    if (hasTwice(notes.map(({ channel, key }) => JSON.stringify([channel, key]))))
      problem('notes', 'one is there twice')
    // The bytes of a change are found by its approval alone. Those of another session's approval must not change.
    const ofWaits = new Set(waits.flatMap(({ id }) => [id, agentsProposalId(id)]))
    if (proposals.some(({ approvalId }) => !ofWaits.has(approvalId)))
      problem('proposals', 'one belongs to an unknown approval')
    const owned = [...files, ...instructions, ...checkpoints, ...notes.map(({ session: sessionId }) => ({ sessionId }))]
    if (owned.some(({ sessionId }) => sessionId !== value.session.id))
      problem('session', 'a record of another session is with it')
    const ofRuns = waits.filter((one) => !isSupervised(one))
    if (
      waits.some(({ sessionId }) => sessionId !== value.session.id) ||
      (!isElsewhere && ofRuns.some(({ runId }) => !runs.has(runId)))
    )
      problem('waits', 'one belongs to another session or an unknown run')
    const isOther = isElsewhere ? ofRuns.length > 0 : supervision === undefined && ofRuns.length < waits.length
    if (isOther) problem('waits', 'one is of another kind of session')
    if (isElsewhere) return
    // Nobody could answer it, and it would never end.
    if (ofRuns.some(({ status, runId }) => status === 'pending' && isFinished(runs.get(runId) ?? 'completed')))
      problem('waits', 'one is pending on a run that has ended')
  })

/**
 * The session as it is imported. The process, connection and workspace of an agent elsewhere stay behind, so it has ended: nothing in it
 * waits, and nothing is written any more. A session of our own agents stays as it is. So do the runs of a hosted one: its program starts
 * anew, and is told what was said.
 */
function withoutAgent(archived: ArchivedSession): ArchivedSession {
  const { session, entries, waits = [] } = archived
  if (session.supervision === undefined) return archived
  // What it needed of that server, and where its files were.
  const { mcp: _, place: __, ...supervision } = session.supervision
  const { status, updatedAt, openRun, lastRun, terminatedAt } = supervision
  const last = entries.at(-1)
  const end = { type: 'RUN_ERROR', message: 'The session was moved.', code: 'interrupted', timestamp: updatedAt }
  return {
    ...archived,
    session: {
      ...session,
      supervision: {
        ...supervision,
        status: status === 'terminated' ? status : 'interrupted',
        ...(status === 'paused' ? { held: true } : {}),
        terminatedAt: terminatedAt ?? updatedAt,
        openRun: null,
        lastRun: openRun ?? lastRun,
        connectionId: null,
        spawned: null,
        stallPaused: false,
        givenInstructions: [],
        openNudge: null,
        ...(supervision.hosted === undefined ? {} : { hosted: { ...supervision.hosted, acpSession: null } }),
      },
    },
    // Every run in the log has its end.
    entries:
      openRun === null || last === undefined
        ? entries
        : [...entries, { seq: last.seq + 1, runId: openRun, kind: 'event', data: JSON.stringify(end) }],
    waits: waits.map((wait) => (isSupervised(wait) ? settled(wait, updatedAt) : wait)),
  }
}

function settled(wait: SupervisedRecord, at: number): AnyRecord {
  if (isWaiting(wait)) return interruptWait(wait, at)
  if (wait.wait !== 'approval' || wait.kind !== 'diff') return wait
  // The workspace may be another one here.
  if (wait.status === 'approved') return { ...wait, status: 'interrupted' }
  const { appliedAt, notApplied = 'The session was moved before the change was written.' } = wait.supervised
  const isUnwritten = wait.status === 'consumed' && appliedAt === null
  return isUnwritten ? { ...wait, supervised: { ...wait.supervised, notApplied } } : wait
}

/** The lines of an archive after the first. Throws at a damaged line, and after the last one if the file was cut off. */
export async function* readArchive(file: string, io: Io): AsyncGenerator<{ line: ArchiveLine; number: number }> {
  const input = file === '-' ? io.stdin : createReadStream(resolve(io.cwd, file), { encoding: 'utf8' })
  let [number, sessions] = [0, 0]
  let isOpen = true
  try {
    for await (const text of linesOf(input)) {
      number += 1
      if (number === 1) {
        readArchiveHeader(text)
        continue
      }
      if (text === '') continue
      const line = readArchiveLine(text, number)
      // Somebody may have joined the lines of several archives.
      if (line.type === 'end') {
        if (line.sessions !== sessions) throw cutOff(`${sessions} of its ${line.sessions} sessions are there`)
        ;[isOpen, sessions] = [false, 0]
      } else {
        isOpen = true
        if (line.type === 'session') sessions += 1
        yield { line, number }
      }
    }
  } catch (error) {
    const isMissing = systemErrorCode(error) === 'ENOENT'
    throw isMissing ? usageError(`There is no file ${file}.`) : error
  }
  if (number === 0) readArchiveHeader('')
  if (isOpen) throw cutOff('its last line is missing')
}

const cutOff = (reason: string): CliError => failure(`The archive was cut off: ${reason}.`, ['Export it again.'])
