import { createHash, randomBytes } from 'node:crypto'
import type { Checkpoint } from '../../domain/supervision/supervision.ts'
import type { Blobs } from '../../files/keep/blob-folder.ts'
import {
  done,
  NOW,
  newAudit,
  newFile,
  newGrant,
  newId,
  newSession,
  supervisionSample,
} from '../../store/contract/samples.contract.ts'
import type { Store } from '../../store/store.ts'
import { sampleSession } from './sample-session.ts'

/** Puts one of everything into an empty store: what a move has to bring along. */
export async function fillStore(store: Store, blobs: Blobs): Promise<void> {
  const bytes = randomBytes(600_000)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const incoming = await blobs.begin(newId())
  await incoming.write(bytes)
  await incoming.sync()
  await incoming.keepAs(sha256)
  await incoming.discard()

  const { session, ...talk } = sampleSession(1)
  const file = newFile({ owner: session.owner, sessionId: session.id, sha256, bytes: bytes.length })
  const notes = [{ channel: 'slack', key: 'thread', session: session.id, value: '{"ts":"1"}', at: NOW }]
  await done(store, { type: 'import_session', session, ...talk, files: [file], notes })
  await done(store, { type: 'import_session', ...sampleSession(2, 'ann') })

  const ended = { ...supervisionSample, status: 'terminated' as const, terminatedAt: NOW }
  const work = newSession({ supervision: ended })
  const checkpoint: Checkpoint = {
    id: newId(),
    sessionId: work.id,
    owner: work.owner,
    label: 'before',
    workspaceRoot: '/srv/shop',
    manifest: 'ab'.repeat(32),
    files: 1,
    bytes: 2,
    hasContents: true,
    sessionState: { status: 'active', mode: 'hybrid', title: null, lastTool: null },
    progressSnapshot: [{ label: 'Tests', status: 'done' }],
    createdAt: NOW,
  }
  const instruction = {
    id: newId(),
    kind: 'steering' as const,
    sessionId: work.id,
    owner: work.owner,
    workspaceRoot: '/srv/shop',
    text: 'Tests first',
    source: 'ada via ctl',
    createdAt: NOW,
    deliveredAt: NOW,
  }
  const entries = [{ seq: 1, runId: null, kind: 'fact' as const, data: '{"fact":"opened"}' }]
  await done(store, {
    type: 'import_session',
    session: work,
    runs: [],
    messages: [],
    entries,
    checkpoints: [checkpoint],
    instructions: [instruction],
  })
  const usage = { day: 20_000, sessionId: newId(), owner: 'ann', agent: 'clerk', provider: 'demo', model: 'demo' }
  const used = { runs: 1, modelRuns: 1, input: 10, output: 20, cachedInput: 0, cacheWrite: 0, reasoning: 0 }
  const times = { failed: 0, cancelled: 0, took: 'K' }
  await done(store, {
    type: 'import_records',
    grants: [newGrant(), newGrant({ sessionId: session.id, expiresAt: null })],
    pins: [{ workspaceRoot: '/srv/shop', sha256: 'ab', text: '{}', at: NOW, by: 'ada' }],
    notes: [{ channel: 'kept memories', key: 'ann', session: null, value: '[]', at: NOW }],
    instructions: [{ ...instruction, id: newId(), kind: 'task', sessionId: null, deliveredAt: null }],
    usage: [
      { ...usage, ...used, ...times },
      { ...usage, ...used, ...times, day: 20_001 },
    ],
  })
  await done(store, { type: 'add_audit', audit: [newAudit('ann'), newAudit('bob')] })
}
