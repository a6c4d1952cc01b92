// Sessions of agents elsewhere, and what belongs to them.

import type { SupervisedApproval } from '../../domain/records/record.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Checkpoint, Instruction, Supervision } from '../../domain/supervision/supervision.ts'
import type { Supervise } from '../ports/supervised.ts'
import type { Store } from '../store.ts'
import {
  askedElsewhere,
  done,
  NOW,
  newApproval,
  newId,
  newRun,
  newSession,
  supervisionSample,
} from './samples.contract.ts'

export const supervised = (values: Partial<Supervision> = {}, session: Partial<SessionRecord> = {}): SessionRecord =>
  newSession({ agent: 'claude-code', ...session, supervision: { ...supervisionSample, ...values } })

export const create = (session: SessionRecord, values: Partial<Supervise> = {}): Supervise => ({
  type: 'supervise',
  sessionId: session.id,
  now: NOW,
  create: session,
  ...values,
})

export const step = (sessionId: string, version: number, values: Partial<Supervise> = {}): Supervise => ({
  type: 'supervise',
  sessionId,
  now: NOW + 1,
  version,
  ...values,
})

export const diff = (sessionId: string, values: Partial<SupervisedApproval> = {}): SupervisedApproval => ({
  ...newApproval(newRun(sessionId), { kind: 'diff', tool: 'ask_approval' }),
  supervised: askedElsewhere,
  ...values,
})

export const instruction = (session: SessionRecord, values: Partial<Instruction> = {}): Instruction => ({
  id: newId(),
  kind: 'steering',
  sessionId: values.kind === 'task' ? null : session.id,
  owner: session.owner,
  workspaceRoot: session.supervision?.workspaceRoot ?? '',
  text: 'Use pnpm.',
  source: 'ann via ctl',
  createdAt: NOW,
  deliveredAt: null,
  ...values,
})

export const checkpoint = (sessionId: string, values: Partial<Checkpoint> = {}): Checkpoint => ({
  id: newId(),
  sessionId,
  owner: 'ann',
  label: 'before the refactoring',
  workspaceRoot: '/srv/shop',
  manifest: 'c'.repeat(64),
  files: 12,
  bytes: 3_000,
  hasContents: true,
  sessionState: { status: 'active', mode: 'remote', title: null, lastTool: 'heartbeat' },
  progressSnapshot: [{ label: 'Tests', status: 'done' }],
  createdAt: NOW,
  ...values,
})

/** A new supervised session in the store. Its version is 1. */
export async function opened(store: Store, values: Partial<Supervision> = {}, session: Partial<SessionRecord> = {}) {
  const record = supervised(values, session)
  await done(store, create(record))
  return record
}
