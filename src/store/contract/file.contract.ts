import { describe, expect, test } from 'vitest'
import type { FileRecord } from '../../domain/session/file.ts'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  addFile,
  approve,
  beforeAndAfter,
  commit,
  done,
  finish,
  finishedSession,
  NOW,
  newApproval,
  newFile,
  newId,
  newSession,
  type OpenStore,
  openForTest,
  readSession,
  refusal,
  remove,
  snapshot,
  waitingSession,
} from './samples.contract.ts'

const filesIn = (store: Store, files: readonly FileRecord[]) => Promise.all(files.map(({ id }) => store.files.get(id)))

export function describeFiles(open: OpenStore): void {
  describe('files', () => {
    test('are found by id, and survive a restart and a power cut', async () => {
      const { store, reopen, powerCut } = await openForTest(open)
      const file = newFile({ name: 'naïve “plan” 😀.md', mimeType: 'text/markdown', bytes: 1 })
      await done(store, addFile(file))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.files.get(file.id)).toEqual(file)
        expect(await current.files.get(newId())).toBe(null)
      }
      if (powerCut !== undefined) expect(await (await powerCut()).files.get(file.id)).toEqual(file)
    })

    test('are added once', async () => {
      const { store } = await openForTest(open)
      const file = newFile()
      await done(store, addFile(file))

      expect(await refusal(store, addFile({ ...file, name: 'other' }))).toBe('conflict')
      expect(await store.files.get(file.id)).toEqual(file)
    })

    test('can belong to a session from the start, if their owner has it', async () => {
      const { store } = await openForTest(open)
      const { session } = await finishedSession(store)
      const file = newFile({ sessionId: session.id })
      const foreign = newFile({ sessionId: session.id, owner: 'bob' })
      const lost = newFile({ sessionId: newId() })

      await done(store, addFile(file))

      expect(await refusal(store, addFile(foreign))).toBe('session_not_found')
      expect(await refusal(store, addFile(lost))).toBe('session_not_found')
      expect(await store.files.ofSession(session.id)).toEqual([file])
      expect(await filesIn(store, [foreign, lost])).toEqual([null, null])
    })

    test('belong to the session that they are sent to, in the order of their upload', async () => {
      const { store, reopen } = await openForTest(open)
      const session = newSession()
      const [first, second, third, kept] = [newFile(), newFile(), newFile(), newFile()]
      await commit(store, addFile(first), addFile(second), addFile(third), addFile(kept))

      await done(store, accept(session, { files: [second.id, first.id, second.id] }))
      // This run is queued, but its files belong to the session at once.
      await done(store, accept(session, { files: [third.id, first.id] }))

      for await (const current of beforeAndAfter(store, reopen)) {
        const sent = [first, second, third].map((file) => ({ ...file, sessionId: session.id }))
        expect(await current.files.ofSession(session.id)).toEqual(sent)
        expect(await filesIn(current, [first, kept])).toEqual([sent[0], kept])
        expect(await current.files.ofSession(newId())).toEqual([])
      }
    })

    test.each<[string, (mine: FileRecord) => Partial<FileRecord> | null]>([
      ['is not there', () => null],
      ['is somebody else’s', () => ({ owner: 'bob' })],
      ['belongs to another session', (mine) => ({ sessionId: mine.sessionId })],
    ])('that one %s refuses the run, and nothing of it stays', async (_what, of) => {
      const { store } = await openForTest(open)
      const other = await finishedSession(store)
      const file = newFile()
      const values = of({ ...file, sessionId: other.session.id })
      const wrong = newFile(values ?? {})
      await done(store, addFile(file))
      if (values !== null) await done(store, addFile(wrong))
      const begun = await finishedSession(store)
      const fresh = newSession()

      for (const session of [begun.session, fresh]) {
        const before = await readSession(store, session)
        expect(await refusal(store, accept(session, { files: [file.id, wrong.id] }))).toBe('file_not_found')
        expect(await readSession(store, session)).toEqual(before)
        expect(await store.files.ofSession(session.id)).toEqual([])
      }
      expect(await store.files.get(file.id)).toEqual(file)
    })

    test('that cannot be sent stop the answers that came with them', async () => {
      const { store } = await openForTest(open)
      const { session, waits } = await waitingSession(store, (run) => [newApproval(run)])
      const before = await snapshot(store, session.id)
      const answers = [approve(waits[0]?.id ?? '')]

      expect(await refusal(store, accept(session, { answers, files: [newId()] }))).toBe('file_not_found')

      expect(await snapshot(store, session.id)).toEqual(before)
    })

    test('are not checked again for a repeated request', async () => {
      const { store } = await openForTest(open)
      const file = newFile()
      await done(store, addFile(file))
      const command = accept(newSession(), {
        files: [file.id],
        idempotency: { key: 'k', digest: 'd', expiresAt: NOW * 2 },
      })
      await done(store, command)

      const again = await done(store, { ...command, session: newSession(), files: [newId()] })

      expect(again).toMatchObject({ existing: true, run: { id: command.run.id } })
    })

    test('keep their hash known as long as one of them exists', async () => {
      const { store, reopen } = await openForTest(open)
      const [a, b, c] = ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)]
      const { session } = await finishedSession(store)
      const twins = [newFile({ sha256: a, sessionId: session.id }), newFile({ sha256: a })]
      const single = newFile({ sha256: b, sessionId: session.id })
      await commit(store, ...[...twins, single].map(addFile))
      const known = async (current: Store) => (await current.files.knownHashes([a, b, c, a])).toSorted()

      expect(await known(store)).toEqual([a, b])
      await done(store, remove(session.id))
      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await known(current)).toEqual([a])
        expect(await current.files.knownHashes([])).toEqual([])
      }
    })

    test('that were not sent are counted per owner, and the same content counts its bytes once', async () => {
      const { store, reopen } = await openForTest(open)
      const [a, b, c] = ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)]
      const sent = newFile({ sha256: c, bytes: 1_000, createdAt: 3 })
      await commit(
        store,
        addFile(newFile({ sha256: a, bytes: 10, createdAt: 7 })),
        addFile(newFile({ sha256: a, bytes: 10, createdAt: 5 })),
        addFile(newFile({ sha256: b, bytes: 100, createdAt: 6 })),
        addFile(sent),
        addFile(newFile({ owner: 'bob', sha256: b, bytes: 100, createdAt: 4 })),
      )
      expect(await store.files.unsent(sent.owner)).toEqual({ files: 4, bytes: 1_110, oldest: 3 })

      await acceptedRun(store, accept(newSession(), { files: [sent.id] }))

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await current.files.unsent(sent.owner)).toEqual({ files: 3, bytes: 110, oldest: 5 })
        expect(await current.files.unsent('bob')).toEqual({ files: 1, bytes: 100, oldest: 4 })
        expect(await current.files.unsent('eve')).toEqual({ files: 0, bytes: 0, oldest: null })
      }
    })

    test('are removed with their session, when it is deleted and when it is purged', async () => {
      const { store, reopen } = await openForTest(open)
      const sessions = [newSession(), newSession({ lastActivity: 1 }), newSession()]
      const files = sessions.map(() => newFile())
      await commit(store, ...files.map(addFile))
      for (const [i, session] of sessions.entries()) {
        const values = { files: [files[i]?.id ?? ''], run: { createdAt: session.lastActivity } }
        const run = await acceptedRun(store, accept(session, values))
        await done(store, finish(run, { now: session.lastActivity }))
      }
      const [deleted, , left] = sessions

      await done(store, remove(deleted?.id ?? ''))
      await done(store, { type: 'purge_sessions', before: 2, unlistedBefore: 0, unsentBefore: 0, now: NOW, limit: 10 })

      for await (const current of beforeAndAfter(store, reopen)) {
        expect(await filesIn(current, files)).toEqual([null, null, { ...files[2], sessionId: left?.id }])
      }
    })

    test('that were never sent are removed by any purge', async () => {
      const { store } = await openForTest(open)
      const [old, young] = [newFile({ createdAt: 9 }), newFile({ createdAt: 10 })]
      const sent = newFile({ createdAt: 9 })
      await commit(store, addFile(old), addFile(young), addFile(sent))
      const { id } = await acceptedRun(store, accept(newSession(), { files: [sent.id] }))

      const { count } = await done(store, {
        type: 'purge_sessions',
        agent: 'nobody',
        before: null,
        unlistedBefore: 0,
        unsentBefore: 10,
        now: NOW,
        limit: 10,
      })

      expect(count).toBe(0)
      const sessionId = (await store.runs.get(id))?.sessionId
      expect(await filesIn(store, [old, young, sent])).toEqual([null, young, { ...sent, sessionId }])
    })
  })
}
