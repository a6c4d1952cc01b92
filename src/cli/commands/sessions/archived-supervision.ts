// What an archive says about a session of an agent elsewhere. Its process, its connection and its workspace stay behind, so it
// is imported as one that has ended: nothing in it waits, and nothing is written any more.

import { z } from 'zod'
import { type AnyRecord, isSupervised, isWaiting, type SupervisedRecord } from '../../../domain/records/record.ts'
import {
  operationalModes,
  type ProgressItem,
  type Supervision,
  supervisedStatuses,
} from '../../../domain/supervision/supervision.ts'
import type { ImportSession } from '../../../store/ports/sessions.ts'
import { interruptWait } from '../../../store/rules/wait-change.ts'
import { count, time, whole } from './archive-shape.ts'

const text = z.string().nullable()
export const progress: z.ZodType<ProgressItem[] | null> = z
  .array(z.strictObject({ label: z.string(), status: z.enum(['done', 'in_progress', 'pending']) }))
  .nullable()

export const supervisionSchema: z.ZodType<Supervision> = whole<Supervision>()({
  status: z.enum(supervisedStatuses),
  version: count,
  host: z.string(),
  workspaceRoot: z.string().min(1),
  channelId: text,
  mode: z.enum(operationalModes),
  title: text,
  prompt: text,
  updatedAt: time,
  terminatedAt: time.nullable(),
  lastTool: text,
  nudgeCount: count,
  silence: z.strictObject({ ms: z.number(), seenAt: time }).nullable(),
  stallPaused: z.boolean(),
  turnEnded: z.boolean().exactOptional(),
  stallsOff: z.boolean().exactOptional(),
  held: z.boolean().exactOptional(),
  takenUpAs: z.string().exactOptional(),
  progressSnapshot: progress,
  tokenId: z.string(),
  connectionId: text,
  mcp: z
    .array(
      z.strictObject({
        id: z.string(),
        tokenId: z.string(),
        initialize: z.record(z.string(), z.unknown()),
        listens: z.boolean().exactOptional(),
      }),
    )
    .exactOptional(),
  openRun: text,
  lastRun: text,
  continuesAlone: count,
  givenInstructions: z.array(z.string()),
  openNudge: text,
  restoredFrom: text,
  spawned: z.strictObject({ pid: z.number().int(), startedAt: z.number() }).nullable(),
  place: z.string().exactOptional(),
  crash: z.string().exactOptional(),
})

type Imported = Omit<ImportSession, 'type'>

/** The session as it is imported: one that was open is interrupted. A session of our own agents stays as it is. */
export function withoutAgent(archived: Imported): Imported {
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
