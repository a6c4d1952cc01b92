import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/tier.ts'
import { createByteBudget } from '../domain/byte-budget.ts'
import { ServerError } from '../domain/errors.ts'
import type { RunRecord } from '../domain/session/run.ts'
import {
  accept,
  append,
  fact,
  finish,
  newId,
  newSession,
  remove,
  start,
  text,
} from '../store/contract/samples.contract.ts'
import type { Command } from '../store/ports/command.ts'
import type { AppendEntries } from '../store/ports/runs.ts'
import { createSessionLog, type SessionLog } from './session-log.ts'
import { collect, createHeldStore, createTestClock, openLog, outcomeOf, settled } from './testing/open-log.ts'
import { createLocalWake, type Wake } from './wake.ts'

/** Text in flight: it does not wait for the disk. */
const said = (run: RunRecord, ...words: string[]): AppendEntries =>
  append(
    run,
    words.map((word) => text(word)),
  )
/** A fact: it is on disk before anybody hears of it. */
const noted = (run: RunRecord, name = 'noted'): AppendEntries => append(run, [fact(name)], { sync: true })

describe('group commit', () => {
  test('commits at once while idle, and gathers for 5 ms when busy', async () => {
    const { log, clock, commits, startRun } = openLog()
    const run = await startRun()
    await clock.advance(10)
    const groups = () => commits.slice(1).map((group) => group.length)

    void log.commit(said(run, 'a'))
    await settled()
    expect(groups()).toEqual([1])

    void log.commit(said(run, 'b'))
    await clock.advance(1)
    void log.commit(said(run, 'c'))
    await clock.advance(3.9)
    expect(groups()).toEqual([1])
    await clock.advance(0.1)
    expect(groups()).toEqual([1, 2])

    await clock.advance(5)
    void log.commit(said(run, 'd'))
    await settled()
    expect(groups()).toEqual([1, 2, 1])
  })

  test('commits together what arrived while a commit was under way, in the order in which it came', async () => {
    const { log, clock, store, commits, holdCommits, startRun } = openLog()
    const run = await startRun()
    await clock.advance(10)
    const release = holdCommits()
    const words = ['a', 'b', 'c', 'd']

    const first = outcomeOf(log.commit(said(run, 'a')))
    await settled()
    const others = words.slice(1).map((word) => outcomeOf(log.commit(said(run, word))))
    await clock.advance(100)
    expect({ commits: commits.length, first }).toEqual({ commits: 2, first: {} })
    await release()
    await clock.advance(5)

    expect(commits.slice(1).map((group) => group.length)).toEqual([1, 3])
    expect([first, ...others].map(({ done }) => done?.firstSeq)).toEqual([3, 4, 5, 6])
    const stored = await store.entries(run.sessionId, 2, 100)
    expect(stored.map(({ seq, data }) => [seq, JSON.parse(data).delta])).toEqual(words.map((word, i) => [i + 3, word]))
  })

  test('refuses one command alone: its neighbours are committed and shown', async () => {
    const { log, commit, startRun } = openLog()
    const run = await startRun()
    const reader = collect(log.watch(run.sessionId, 2))
    await settled()

    const fenced = { ...said(run, 'no'), fence: run.fence + 1 }
    const [before, refused, after] = await commit(said(run, 'a'), fenced, said(run, 'b'))

    expect(refused?.error).toBeInstanceOf(ServerError)
    expect(refused?.error).toMatchObject({ code: 'run_fenced' })
    expect([before?.done, refused?.done, after?.done]).toEqual([
      { ok: true, firstSeq: 3 },
      undefined,
      { ok: true, firstSeq: 4 },
    ])
    expect(reader.shown.map(({ seq, data }) => [seq, JSON.parse(data).delta])).toEqual([
      [3, 'a'],
      [4, 'b'],
    ])
  })

  test('when a commit fails, all of its commands fail with its error, nothing is shown, and the next one is tried', async () => {
    const { log, clock, commit, failNext, startRun } = openLog()
    const run = await startRun()
    const reader = collect(log.watch(run.sessionId, 2))
    await settled()
    const full = new ServerError('storage_full', 'The disk is full.')

    failNext(full)
    const failed = await commit(said(run, 'a'), noted(run))
    expect(failed).toEqual([{ error: full }, { error: full }])
    await log.synced(run.sessionId)
    expect(reader.shown).toEqual([])

    failNext(full)
    const first = outcomeOf(log.commit(said(run, 'b')))
    await clock.advance(5)
    const [next] = await commit(said(run, 'c'))
    expect([first, next]).toEqual([{ error: full }, { done: { ok: true, firstSeq: 3 } }])
    expect(reader.seqs()).toEqual([3])
  })

  test('a command without a result is an error, not a success', async () => {
    const { store } = openLog()
    const { commit } = openLog({
      store: { ...store, commit: async () => ({ results: [], synced: Promise.resolve() }) },
    })

    const [outcome] = await commit({ type: 'renew_lease', leaseOwner: 'process', until: 1 })

    expect(outcome).toEqual({ error: new Error('the store gave no result') })
  })

  test('closing waits for what was handed in, also behind a commit that is under way, then refuses more', async () => {
    const { log, clock, commits, holdCommits, startRun } = openLog()
    const run = await startRun()
    await clock.advance(10)
    const release = holdCommits()
    const first = outcomeOf(log.commit(said(run, 'a')))
    await settled()
    const second = outcomeOf(log.commit(said(run, 'b')))

    const closing = outcomeOf(log.close().then(() => 'closed'))
    const late = outcomeOf(log.commit(said(run, 'c')))
    await settled()
    expect(late.error).toMatchObject({ code: 'shutting_down' })
    expect(closing).toEqual({})

    await release()
    expect({ closing, second }).toEqual({ closing: {}, second: {} })
    await clock.advance(5)
    expect([first.done?.firstSeq, second.done?.firstSeq, closing.done]).toEqual([3, 4, 'closed'])
    expect(commits.length).toBe(3)
  })

  test('closing waits also for what has just been handed in', async () => {
    const { log, clock, startRun } = openLog()
    const run = await startRun()
    const order: string[] = []

    void log.commit(said(run, 'a')).then(() => order.push('committed'))
    void log.close().then(() => order.push('closed'))
    await clock.advance(5)

    expect(order).toEqual(['committed', 'closed'])
  })

  test('an idle log closes at once', async () => {
    const { log } = openLog()

    await log.close()

    await expect(log.commit(remove(newId()))).rejects.toMatchObject({ code: 'shutting_down' })
  })
})

describe('what readers are shown', () => {
  test('text as soon as it is committed', async () => {
    const { log, commit, holdSyncs, startRun } = openLog()
    const run = await startRun()
    holdSyncs()
    const reader = collect(log.watch(run.sessionId, 2))

    const [done] = await commit(said(run, 'a', 'b'))

    expect(done).toEqual({ done: { ok: true, firstSeq: 3 } })
    expect(reader.shown).toEqual([
      { seq: 3, runId: run.id, ...text('a') },
      { seq: 4, runId: run.id, ...text('b') },
    ])
  })

  test('a fact only when it is on disk, and whoever wrote it hears of it only then', async () => {
    const { log, commit, sync, holdSyncs, startRun } = openLog()
    const run = await startRun()
    holdSyncs()
    const reader = collect(log.watch(run.sessionId, 2))
    await settled()

    const [noting] = await commit(noted(run))
    expect({ noting, shown: reader.shown }).toEqual({ noting: {}, shown: [] })

    await sync()
    expect({ noting, shown: reader.shown }).toEqual({
      noting: { done: { ok: true, firstSeq: 3 } },
      shown: [{ seq: 3, runId: run.id, ...fact('noted') }],
    })
  })

  test('nothing behind what is not on disk yet: afterwards all of it, in order and once', async () => {
    const { log, commit, sync, holdSyncs, startRun } = openLog()
    const run = await startRun()
    holdSyncs()
    const live = collect(log.watch(run.sessionId, 2))
    await settled()

    await commit(said(run, 'before'))
    await commit(noted(run), said(run, 'same group'))
    const [behind] = await commit(said(run, 'next group', 'and more'))
    const late = collect(log.watch(run.sessionId, 0))
    await settled()
    // Text is acknowledged: it waits for nothing but its commit.
    expect(behind?.done?.firstSeq).toBe(6)
    expect([live.seqs(), late.seqs()]).toEqual([[3], [1, 2, 3]])

    await sync()
    expect([live.seqs(), late.seqs()]).toEqual([
      [3, 4, 5, 6, 7],
      [1, 2, 3, 4, 5, 6, 7],
    ])
    await commit(said(run, 'after'))
    expect([live.seqs().at(-1), late.seqs().at(-1)]).toEqual([8, 8])
  })

  test('with two syncs under way, what lies before the second when the first is done', async () => {
    const { log, commit, sync, holdSyncs, startRun } = openLog()
    const run = await startRun()
    holdSyncs()
    const reader = collect(log.watch(run.sessionId, 2))
    await settled()
    await commit(noted(run), said(run, 'a'))
    await commit(noted(run), said(run, 'b'))
    const early = collect(log.watch(run.sessionId, 2))
    await settled()
    expect([reader.seqs(), early.seqs()]).toEqual([[], []])

    await sync()
    const late = collect(log.watch(run.sessionId, 2))
    await settled()
    expect([reader.seqs(), late.seqs()]).toEqual([
      [3, 4],
      [3, 4],
    ])

    await sync()
    expect([reader.seqs(), late.seqs()]).toEqual([
      [3, 4, 5, 6],
      [3, 4, 5, 6],
    ])
  })

  test('nothing when the second sync is done first, then all of it', async () => {
    const { log, commit, sync, holdSyncs, startRun } = openLog()
    const run = await startRun()
    holdSyncs()
    const reader = collect(log.watch(run.sessionId, 2))
    await settled()
    const [first] = await commit(noted(run))
    const [second] = await commit(noted(run), said(run, 'b'))

    await sync(1)
    expect({ first, second: second?.done?.firstSeq, shown: reader.seqs() }).toEqual({
      first: {},
      second: 4,
      shown: [],
    })

    await sync()
    expect(reader.seqs()).toEqual([3, 4, 5])
  })

  test('nothing that a commit has written and not yet reported, even if the store shows it already', async () => {
    const { log, store, clock, sync, holdSyncs, holdCommits, startRun } = openLog()
    const run = await startRun()
    await clock.advance(10)
    holdSyncs()
    const release = holdCommits()
    void log.commit(noted(run))
    await settled()
    expect((await store.entries(run.sessionId, 2, 10)).length).toBe(1)

    const reader = collect(log.watch(run.sessionId, 0))
    await settled()
    await release()
    expect(reader.seqs()).toEqual([1, 2])

    await sync()
    expect(reader.seqs()).toEqual([1, 2, 3])
  })

  test('a session does not wait for the syncs of another', async () => {
    const { log, commit, holdSyncs, startRun } = openLog()
    const [run, other] = [await startRun(), await startRun()]
    holdSyncs()
    const reader = collect(log.watch(other.sessionId, 2))
    await settled()

    await commit(noted(run), said(other, 'a'))

    expect(reader.seqs()).toEqual([3])
  })

  test('no reader is shown what happens in another session', async () => {
    const { log, commit, startRun } = openLog()
    const [run, other] = [await startRun(), await startRun()]
    const reader = collect(log.watch(other.sessionId, 2))
    await settled()

    await commit(said(run, 'a'), said(run, 'b'), said(run, 'c'))

    expect(reader.shown).toEqual([])
  })

  test('who keeps up is pushed what was committed: the store is not read again', async () => {
    const { log, commit, reads, sync, holdSyncs, startRun } = openLog()
    const run = await startRun()
    holdSyncs()
    const reader = collect(log.watch(run.sessionId, 0))
    await settled()
    await commit(noted(run), said(run, 'hidden behind the fact'))
    await sync()
    const readsBefore = reads()

    for (const word of ['a', 'b', 'c']) await commit(said(run, word))
    await commit(noted(run))
    await sync()

    expect(reader.seqs()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(reads()).toBe(readsBefore)
  })

  test('every command that writes entries pushes them as they are stored', async () => {
    const { log, store, commit, reads, startRun } = openLog()
    const run = await startRun()
    const { sessionId } = run
    const [session, next] = [(await store.sessions.get(sessionId)) ?? expect.fail(), newId()]
    const reader = collect(log.watch(sessionId, 0))
    await settled()
    const readsBefore = reads()
    const claimed = { ...run, fence: run.fence + 1 }
    const commands: Command[] = [
      accept(session, { run: { id: next } }),
      { type: 'claim_run', runId: run.id, fence: run.fence, leaseOwner: 'process', entries: [fact('run_recovered')] },
      { type: 'request_cancel', runId: run.id, entries: [fact('cancel_requested')] },
      said(claimed, 'a', 'b'),
      noted(claimed),
      finish(claimed),
      start(next),
      { type: 'update_session', sessionId, lastRead: 1 },
    ]

    for (const command of commands) {
      await commit(command)
      expect(reads()).toBe(readsBefore)
    }

    expect(reader.shown).toEqual(await store.entries(sessionId, 0, 100))
    expect(reader.shown.map(({ data }) => JSON.parse(data).fact ?? JSON.parse(data).type)).toEqual([
      'run_accepted',
      'RUN_STARTED',
      'run_accepted',
      'run_recovered',
      'cancel_requested',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
      'noted',
      'RUN_FINISHED',
      'RUN_STARTED',
    ])
  })

  test('a deleted session has no more readers, once its deletion is on disk', async () => {
    const { log, commit, sync, holdSyncs, startRun } = openLog()
    const [run, other] = [await startRun(), await startRun()]
    await commit(finish(run))
    const readers = [collect(log.watch(run.sessionId, 0)), collect(log.watch(run.sessionId, 3))]
    const stranger = collect(log.watch(other.sessionId, 0))
    holdSyncs()

    const [removing] = await commit(remove(run.sessionId))
    expect([removing, ...readers.map((reader) => reader.hasEnded())]).toEqual([{}, false, false])
    await sync()

    expect(removing?.done?.ok).toBe(true)
    expect([...readers, stranger].map((reader) => reader.hasEnded())).toEqual([true, true, false])
    expect(log.watchers).toBe(1)
  })
})

describe('readers', () => {
  test('begin behind the entry that they name, wherever it is', async () => {
    const { log, commit, startRun } = openLog()
    const run = await startRun()
    await commit(said(run, 'a', 'b', 'c'))
    const readers = [0, 1, 3, 5].map((after) => collect(log.watch(run.sessionId, after)))
    await settled()

    expect(readers.map((reader) => reader.seqs())).toEqual([[1, 2, 3, 4, 5], [2, 3, 4, 5], [4, 5], []])

    await commit(said(run, 'd'))
    expect(readers.map((reader) => reader.seqs())).toEqual([[1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6], [4, 5, 6], [6]])
  })

  test('are counted until they close, and closing one leaves the others', async () => {
    const { log, commit, startRun } = openLog()
    const run = await startRun()
    const [gone, staying] = [log.watch(run.sessionId, 2), log.watch(run.sessionId, 2)]
    const collected = [collect(gone), collect(staying)]
    expect(log.watchers).toBe(2)

    gone.close()
    gone.close()
    await commit(said(run, 'a'))

    expect(log.watchers).toBe(1)
    expect(collected.map((reader) => [reader.seqs(), reader.hasEnded()])).toEqual([
      [[], true],
      [[3], false],
    ])
    staying.close()
    expect(log.watchers).toBe(0)
  })

  test('that have gone cost nothing: a commit does as little as in a session that nobody has read', async () => {
    const { log, commit, startRun } = openLog()
    const [run, unread] = [await startRun(), await startRun()]
    for (const after of [0, 2]) {
      const reader = log.watch(run.sessionId, after)
      await settled()
      reader.close()
    }
    let looks = 0
    const watched = {
      kind: 'event' as const,
      get data() {
        looks += 1
        return '{}'
      },
    }

    await commit(append(unread, [watched]))
    const least = looks
    await commit(append(run, [watched]))

    expect(looks).toBe(2 * least)
  })

  test('of a run that was taken in this turn of the loop need no read of the store', async () => {
    const { log, commit, reads } = openLog()
    const { run } = await log.commit(accept(newSession()))
    if (run === undefined) throw new Error('the run was not taken')
    const readers = [0, 1].map((after) => log.watch(run.sessionId, after))
    const all = readers.map(collect)
    await commit(said(run, 'a'))

    expect(readers.map(({ isFresh }) => isFresh)).toEqual([true, true])
    expect(all.map((reader) => reader.seqs())).toEqual([
      [1, 2, 3],
      [2, 3],
    ])
    expect(reads()).toBe(0)
  })

  test('of a run that was just taken read the store if anything can have happened since', async () => {
    let look = (_sessionId: string | null) => {}
    const wake: Wake = {
      join(topic, told) {
        if (topic === 'entries') look = told
        return { notify() {}, leave() {} }
      },
    }
    const { log, clock, commit } = openLog({ wake })
    const take = async () => {
      await clock.advance(10)
      const { run } = await log.commit(accept(newSession()))
      if (run === undefined) throw new Error('the run was not taken')
      return run
    }
    const isFresh = ({ sessionId }: RunRecord, after = 0) => log.watch(sessionId, after).isFresh
    const whatHappens: ((run: RunRecord) => unknown)[] = [
      () => {},
      () => settled(),
      () => look(null),
      ({ sessionId }) => look(sessionId),
      ({ sessionId }) => commit(remove(sessionId)),
    ]

    const found: boolean[] = []
    for (const happens of whatHappens) {
      const run = await take()
      await happens(run)
      found.push(isFresh(run))
    }
    expect(found).toEqual([true, false, false, false, false])
    expect(isFresh(await take(), 2)).toBe(false)
  })

  test('of large entries are told when they keep others waiting for memory', async () => {
    const clock = createTestClock()
    const budget = createByteBudget(1, clock)
    const { log, commit, startRun } = openLog({ budget })
    const run = await startRun()
    await commit(said(run, 'x'.repeat(200_000)))
    const overdue: string[] = []
    const watch = (owner: string) =>
      log.watch(run.sessionId, 2, { holder: { owner, onOverdue: () => void overdue.push(owner) } }).next()
    expect((await watch('ada')).value?.length).toBe(1)
    void watch('bob')
    await settled()

    await clock.advance(31_000)

    expect(overdue[0]).toBe('ada')
  })

  test('that lag read the store instead: each entry once, in order, and nobody waits for them', async () => {
    const { log, commit, startRun } = openLog()
    const run = await startRun()
    const slow = log.watch(run.sessionId, 2)
    const fast = collect(log.watch(run.sessionId, 2))
    const first = slow.next()
    await commit(said(run, 'first'))
    expect((await first).value?.length).toBe(1)

    const long = 'x'.repeat(20_000)
    for (let i = 0; i < 20; i += 1) await commit(said(run, long))
    expect(fast.seqs().length).toBe(21)
    const seqs: number[] = []
    while (seqs.at(-1) !== 23) for (const { seq } of (await slow.next()).value ?? []) seqs.push(seq)

    expect(seqs).toEqual(Array.from({ length: 20 }, (_, i) => i + 4))
  })

  test('see each entry once, in order, and never one that is not on disk, whatever happens when', async () => {
    const { log, clock, store, holdSyncs, sync, startRun } = openLog()
    const act = fc.constantFrom('say', 'note', 'sync', 'sync second', 'time', 'watch', 'read', 'leave')

    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40, size: 'max' }), async (acts) => {
        holdSyncs(false)
        const run = await startRun()
        holdSyncs()
        /** Numbers of the syncs that are under way, and what each keeps back. */
        const unsynced: number[] = []
        const readers: { after: number; shown: number[]; read(): void; close(): void }[] = []
        const watch = () => {
          const after = readers.at(-1)?.shown.at(-1) ?? 2
          const reader = log.watch(run.sessionId, after)
          const shown: number[] = []
          let isReading = false
          const read = () => {
            if (isReading) return
            isReading = true
            void reader.next().then(({ value: batch }) => {
              isReading = false
              shown.push(...(batch ?? []).map(({ seq }) => seq))
            })
          }
          readers.push({ after, shown, read, close: reader.close })
        }
        const finishSync = async (which: number) => {
          unsynced.splice(which, 1)
          await sync(which)
        }
        watch()
        for (const one of acts) {
          if (one === 'say') void log.commit(said(run, 'word'))
          if (one === 'note') {
            void log.commit(noted(run))
            await clock.advance(5)
            unsynced.push(await store.entries(run.sessionId, 0, 1_000).then((all) => all.at(-1)?.seq ?? 0))
          }
          if (one === 'sync' && unsynced.length > 0) await finishSync(0)
          if (one === 'sync second' && unsynced.length > 1) await finishSync(1)
          if (one === 'time') await clock.advance(1)
          if (one === 'watch') watch()
          if (one === 'read') for (const reader of readers) reader.read()
          if (one === 'leave' && readers.length > 1) readers.shift()?.close()
          await settled()
          for (const { after, shown } of readers) {
            expect(shown).toEqual(shown.map((_, i) => after + 1 + i))
            expect(shown.at(-1) ?? 0).toBeLessThan(Math.min(...unsynced, Number.POSITIVE_INFINITY))
          }
        }
        await clock.advance(5)
        while (unsynced.length > 0) await finishSync(0)
        const head = await store.head(run.sessionId)
        for (const reader of readers) {
          while ((reader.shown.at(-1) ?? reader.after) < head) {
            const before = reader.shown.length
            reader.read()
            await settled()
            if (reader.shown.length === before) break
          }
          expect(reader.shown).toEqual(Array.from({ length: head - reader.after }, (_, i) => reader.after + 1 + i))
          reader.close()
        }
      }),
      { numRuns: runs(40) },
    )
  })
})

describe('waiting for the disk', () => {
  test('ends at once where nothing is on its way to it', async () => {
    const { log, commit, holdSyncs, startRun } = openLog()
    const [run, other] = [await startRun(), await startRun()]
    holdSyncs()
    await commit(noted(other), said(run, 'a'))

    await log.synced(run.sessionId)
  })

  test('ends when all that was committed by then is on it, also by a commit that is under way', async () => {
    const { log, clock, sync, holdSyncs, holdCommits, startRun } = openLog()
    const run = await startRun()
    await clock.advance(10)
    holdSyncs()
    const release = holdCommits()
    void log.commit(noted(run))
    await settled()

    const waits = [outcomeOf(log.synced(run.sessionId).then(() => 'synced'))]
    await release()
    waits.push(outcomeOf(log.synced(run.sessionId).then(() => 'synced')))
    void log.commit(noted(run))
    await clock.advance(5)
    await sync()
    expect(waits).toEqual([{}, {}])
    await sync()

    expect(waits).toEqual([{ done: 'synced' }, { done: 'synced' }])
  })
})

describe('two logs of one store', () => {
  /** As two processes would have them. `isLossy`: what one says to the other does not arrive. */
  function openTwo(isLossy = false) {
    const held = createHeldStore()
    const clock = createTestClock()
    const heard = createLocalWake({ clock, pollMs: 1_000 })
    const wake: Wake = isLossy ? { join: (topic, look) => ({ ...heard.join(topic, look), notify() {} }) } : heard
    const logs = [
      createSessionLog({ store: held.store, clock, wake }),
      createSessionLog({ store: held.store, clock, wake }),
    ]
    const [here, there] = logs
    if (here === undefined || there === undefined) expect.fail()
    const commit = async (log: SessionLog, command: Command) => {
      const outcome = outcomeOf(log.commit(command))
      await clock.advance(5)
      return outcome
    }
    const startRun = async (): Promise<RunRecord> =>
      (await commit(here, accept(newSession()))).done?.run ?? expect.fail('the run was not taken')
    return { ...held, clock, here, there, commit, startRun }
  }

  test('a reader of one sees what the other commits, once it may be shown', async () => {
    const { here, there, commit, sync, holdSyncs, startRun } = openTwo()
    const run = await startRun()
    const readers = [collect(here.watch(run.sessionId, 2)), collect(there.watch(run.sessionId, 2))]
    await settled()

    await commit(here, said(run, 'a'))
    await commit(there, said(run, 'b'))
    await commit(here, said(run, 'c', 'd'))
    expect(readers.map((reader) => reader.seqs())).toEqual([
      [3, 4, 5, 6],
      [3, 4, 5, 6],
    ])

    holdSyncs()
    await commit(here, noted(run))
    await commit(here, said(run, 'e'))
    expect(readers.map((reader) => reader.seqs().length)).toEqual([4, 4])
    await sync()
    expect(readers.map((reader) => reader.seqs().length)).toEqual([6, 6])
  })

  test('a lost wake is found by polling, within a second', async () => {
    const { clock, here, there, commit, startRun } = openTwo(true)
    const run = await startRun()
    const reader = collect(there.watch(run.sessionId, 2))
    await settled()

    await commit(here, said(run, 'a', 'b'))
    expect(reader.seqs()).toEqual([])
    await clock.advance(1_000)

    expect(reader.seqs()).toEqual([3, 4])
  })

  test('a session that one deletes has no readers at the other either, even if the wake is lost', async () => {
    for (const isLossy of [false, true]) {
      const { clock, here, there, commit, startRun } = openTwo(isLossy)
      const [run, other] = [await startRun(), await startRun()]
      await commit(here, finish(run))
      const readers = [collect(there.watch(run.sessionId, 0)), collect(there.watch(other.sessionId, 0))]

      await commit(here, remove(run.sessionId))
      await clock.advance(isLossy ? 1_000 : 0)

      expect(readers.map((reader) => reader.hasEnded())).toEqual([true, false])
      expect(there.watchers).toBe(1)
    }
  })

  test('who looks while the store is in trouble looks again later', async () => {
    const { clock, store, here, there, commit, startRun } = openTwo()
    const run = await startRun()
    const reader = collect(there.watch(run.sessionId, 2))
    await settled()
    const { news } = store
    store.news = () => Promise.reject(new ServerError('storage_failed', 'The disk does not answer.'))
    await commit(here, said(run, 'a'))
    expect(reader.seqs()).toEqual([])

    store.news = news
    await clock.advance(1_000)

    expect(reader.seqs()).toEqual([3])
  })

  test('nobody looks into sessions that it has no readers of, nor after it is closed', async () => {
    const { clock, reads, here, there, commit, startRun } = openTwo()
    const [run, other] = [await startRun(), await startRun()]
    const reader = collect(there.watch(other.sessionId, 2))
    await settled()
    const before = reads()

    await commit(here, said(run, 'a'))
    expect(reads()).toBe(before)
    await there.close()
    await commit(here, said(other, 'a'))
    await clock.advance(5_000)

    expect({ reads: reads(), shown: reader.shown }).toEqual({ reads: before, shown: [] })
  })
})
