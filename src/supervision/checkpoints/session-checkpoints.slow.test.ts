import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import { createRecoverState } from '../agent-service/recover-state.ts'
import { createWhileWorking } from '../sessions/while-working.ts'
import { agentIn, ann, callOf, openSupervision } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { type Checkpoints, createCheckpoints } from './create-checkpoints.ts'
import { createSessionCheckpoints } from './session-checkpoints.ts'

const killed = async (): Promise<never> => {
  throw new Error('killed')
}

/** A session whose workspace has changed since its checkpoint. */
async function open() {
  const service = openSupervision()
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-checkpoints-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const root = makeWorkspace({ 'a.txt': 'one\n' })
  const jobs = createCheckpoints({ folder, excluded: [], isProtected: () => false })
  const start = (change: { jobs?: Partial<Checkpoints>; create?: typeof killed } = {}) =>
    createSessionCheckpoints({
      ...service,
      sessions: { ...service.sessions, ...(change.create === undefined ? {} : { create: change.create }) },
      whileWorking: createWhileWorking(service),
      jobs: { ...jobs, ...change.jobs },
      logger: silentLogger,
    })
  const session = await service.sessions.attach(agentIn(root))
  const checkpoint = await start().save(ann, session.id, { label: null, contents: true })
  writeFileSync(join(root, 'a.txt'), 'changed\n')
  const asked = await start().restore(ann, checkpoint.id, null)
  const digest = asked.status === 'changed' ? asked.plan.digest : ''
  const all = async () => (await service.sessions.list({ limit: 10 })).map(({ id, supervision: s }) => [id, s.status])
  return { service, jobs, root, start, session, checkpoint, digest, all }
}

test.each([
  ['the files were written', { jobs: { endRestore: killed } }, true],
  ['the checkpoint for an undo was recorded', { create: killed, jobs: { endRestore: killed } }, false],
])('a restore that was killed after %s gets its new session at the next start, once', async (_, change, isMade) => {
  const { service, jobs, root, start, session, checkpoint, digest, all } = await open()

  await expect(start(change).restore(ann, checkpoint.id, digest)).rejects.toThrow('killed')
  expect((await all()).length).toBe(isMade ? 2 : 1)
  expect(await jobs.openRestores()).toHaveLength(1)
  await start().recover()
  await start().recover()

  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n')
  const [made, ...others] = (await all()).filter(([id]) => id !== session.id)
  expect([made?.[1], others]).toEqual(['created', []])
  expect((await service.sessions.get(String(made?.[0]))).supervision).toMatchObject({
    restoredFrom: checkpoint.id,
    workspaceRoot: root,
  })
  expect((await service.sessions.get(session.id)).supervision.status).toBe('terminated')
  expect(await start().list({ by: ann, limit: 10 })).toHaveLength(2)
  expect(await jobs.openRestores()).toEqual([])
})

test('a restore brings back progress, mode, title and last checkpoint as they were, also in recover_state', async () => {
  const { service, start, session, root } = await open()
  const progressSnapshot = [{ label: 'Find the slow query', status: 'done' as const }]
  const then = { mode: 'hybrid', title: 'Faster search', progressSnapshot } as const
  await service.takeStep(session.id, () => ({ result: null, supervision: then }))
  const { id: checkpointId } = await start().save(ann, session.id, { label: 'good', contents: true })
  const later = { mode: 'local' as const, title: 'Lost', progressSnapshot: [] }
  await service.takeStep(session.id, () => ({ result: null, supervision: later }))
  const asked = await start().restore(ann, checkpointId, null)
  const restored = await start().restore(ann, checkpointId, asked.status === 'changed' ? asked.plan.digest : '')
  if (restored.status !== 'restored') throw new Error('it was not restored')
  const { id } = restored.session

  expect(restored.session.supervision).toMatchObject({ ...then, restoredFrom: checkpointId })
  const { recover_state } = createRecoverState(service.parts)
  const { answer } = await recover_state(callOf(agentIn(root, { connectionId: 'window-2' })), {})
  expect(answer).toMatchObject({
    ...{ status: 'recovered', session_id: id, title: 'Faster search', mode: 'hybrid' },
    progress_snapshot: progressSnapshot,
    last_checkpoint: { checkpoint_id: checkpointId, label: 'good' },
  })
})

test('a restore that was killed while it wrote files ends with the new session too', async () => {
  const { service, jobs, root, start, session, checkpoint, digest, all } = await open()
  const restore: Checkpoints['restore'] = async (request) => {
    await jobs.restore(request)
    // As if the kill had come before this file.
    writeFileSync(join(root, 'a.txt'), 'changed\n')
    return killed()
  }

  await expect(start({ jobs: { restore } }).restore(ann, checkpoint.id, digest)).rejects.toThrow('killed')
  expect(await all()).toEqual([[session.id, 'active']])
  await start().recover()

  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n')
  const made = (await all()).filter(([id]) => id !== session.id)
  expect(made.map(([, status]) => status)).toEqual(['created'])
  expect((await service.audit()).filter(({ by }) => by !== 'ann')).toEqual([])
})

test('a session that cannot be made leaves the files restored, and does not block the next restore', async () => {
  const { jobs, start, checkpoint, digest } = await open()
  await expect(start({ create: killed }).restore(ann, checkpoint.id, digest)).rejects.toThrow('killed')
  expect(await jobs.openRestores()).toEqual([])
})

test('pages show every checkpoint once, also one that took longer than the next', async () => {
  const service = openSupervision()
  const session = await service.sessions.attach(agentIn(makeWorkspace({})))
  const slow = Promise.withResolvers<void>()
  const checkpoints = createSessionCheckpoints({
    ...service,
    whileWorking: createWhileWorking(service),
    jobs: {
      ...createCheckpoints({ folder: '/nowhere', excluded: [], isProtected: () => false }),
      async save({ checkpointId, label, root, createdAt }) {
        if (label === 'first') await slow.promise
        const counts = { files: 0, bytes: 0, files_with_content: 0, skipped: 0, skipped_paths: [] }
        const names = { checkpoint_id: checkpointId, label, workspace_root: root, created_at: createdAt }
        return { ...names, ...counts, manifest: checkpointId }
      },
    },
    logger: silentLogger,
  })
  const first = checkpoints.save(ann, session.id, { label: 'first', contents: false })
  await service.clock.advance(1)
  await checkpoints.save(ann, session.id, { label: 'second', contents: false })
  slow.resolve()
  await first

  const labels: (string | null)[] = []
  for (const query of [{ sessionId: session.id }, {}]) {
    let [last] = await checkpoints.list({ by: ann, ...query, limit: 1 })
    for (; last !== undefined; [last] = await checkpoints.list({ by: ann, ...query, limit: 1, before: last })) {
      labels.push(last.label)
    }
  }
  expect(labels).toEqual(['second', 'first', 'second', 'first'])
})
