// The tables while text is in flight, after a crash, and after a failed transaction.

import { cpSync, fdatasync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { present } from '../../domain/present.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import {
  accept,
  acceptedRun,
  append,
  commit,
  done,
  fact,
  finish,
  newAudit,
  newSession,
  refusal,
  remove,
  text,
} from '../contract/samples.contract.ts'
import type { Store } from '../store.ts'
import type { FileSync } from './disk/wal-sync.ts'
import { createSqliteStore } from './sqlite-store.ts'

const fatal = (error: Error) => {
  throw error
}

/** A store in a file, and a second connection to look at its tables. */
function openFile(disk?: FileSync) {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-entries-'))
  const stores: Store[] = []
  const open = (name: string): Store => {
    const store = createSqliteStore({
      path: join(folder, name, 'test.db'),
      fatal,
      ...present({ disk }),
    })
    stores.push(store)
    return store
  }
  const store = open('first')
  const tables = new DatabaseSync(join(folder, 'first', 'test.db'))
  onTestFinished(async () => {
    tables.close()
    for (const one of stores) await one.close()
    rmSync(folder, { recursive: true })
  })
  return {
    store,
    tables,
    count: (table: 'entries' | 'tail') => Number(tables.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n),
    /** The store after kill -9. */
    crash(): Store {
      cpSync(join(folder, 'first'), join(folder, 'second'), { recursive: true })
      return open('second')
    },
  }
}

const say = (store: Store, run: RunRecord, ...words: string[]) =>
  done(
    store,
    append(
      run,
      words.map((word) => text(word)),
    ),
  )

const log = async (store: Store, { sessionId }: RunRecord) =>
  (await store.entries(sessionId, 0, 10_000)).map(({ seq, runId, data }) => {
    const { type, fact: name, delta } = JSON.parse(data)
    return [seq, runId, delta ?? name ?? type]
  })

describe('text in flight', () => {
  test('survives a crash whole and in order, however many commits it came in', async () => {
    const { store, crash, count } = openFile()
    const run = await acceptedRun(store, accept(newSession()))
    for (const word of ['a', 'b', 'c']) await say(store, run, word, `${word}!`)
    expect([count('entries'), count('tail')]).toEqual([1, 3])
    const before = await log(store, run)

    expect(before.map(([, , word]) => word)).toEqual(['run_accepted', 'RUN_STARTED', 'a', 'a!', 'b', 'b!', 'c', 'c!'])
    expect(await log(crash(), run)).toEqual(before)
  })

  test('is kept apart from what another run writes in between', async () => {
    const { store, crash } = openFile()
    const session = newSession()
    const run = await acceptedRun(store, accept(session))
    await say(store, run, 'a')
    const queued = await acceptedRun(store, accept(session))
    await say(store, run, 'b')
    const expected = [
      [1, run.id, 'run_accepted'],
      [2, run.id, 'RUN_STARTED'],
      [3, run.id, 'a'],
      [4, queued.id, 'run_accepted'],
      [5, run.id, 'b'],
    ]

    expect(await log(store, run)).toEqual(expected)
    expect(await log(crash(), run)).toEqual(expected)
  })

  test('moves to the entries when it becomes long, and leaves nothing in the tail', async () => {
    const { store, tables, count, crash } = openFile()
    const run = await acceptedRun(store, accept(newSession()))
    const long = 'x'.repeat(20_000)

    await say(store, run, long)
    expect(count('entries')).toBe(1)
    await say(store, run, long)
    expect(count('entries')).toBe(2)
    await say(store, run, 'short')

    expect(tables.prepare('SELECT max(length(data)) AS n FROM tail').get()?.n).toBeLessThan(25_000)
    expect(count('tail')).toBe(2)
    expect((await log(crash(), run)).map(([seq]) => seq)).toEqual([1, 2, 3, 4, 5])
  })

  test('stays in the tail while any session needs it, and not longer', async () => {
    const { store, count, crash } = openFile()
    const over = await acceptedRun(store, accept(newSession()))
    await say(store, over, 'over')
    await done(store, finish(over))
    const quiet = await acceptedRun(store, accept(newSession()))
    await say(store, quiet, 'still here')
    const busy = await acceptedRun(store, accept(newSession()))
    for (let i = 0; i < 300; i += 1) await say(store, busy, String(i))
    const before = [await log(store, quiet), await log(store, busy)]
    expect(before.map((entries) => entries.length)).toEqual([3, 302])
    expect(count('tail')).toBe(301)
    const after = crash()
    expect([await log(after, quiet), await log(after, busy)]).toEqual(before)

    await done(store, finish(quiet))
    await done(store, finish(busy))
    const last = await acceptedRun(store, accept(newSession()))
    for (let i = 0; i < 3; i += 1) await say(store, last, String(i))
    expect(count('tail')).toBeLessThan(10)
  })

  test('of a deleted session is not found again after a crash', async () => {
    const { store, crash, count } = openFile()
    const quiet = await acceptedRun(store, accept(newSession()))
    await say(store, quiet, 'still here')
    const run = await acceptedRun(store, accept(newSession()))
    await say(store, run, 'a secret')
    await done(store, finish(run))
    await done(store, remove(run.sessionId))
    // The other session still needs its text in the tail.
    expect(count('tail')).toBe(2)

    const after = crash()

    expect(await after.entries(run.sessionId, 0, 10)).toEqual([])
    expect((await log(after, quiet)).map(([seq]) => seq)).toEqual([1, 2, 3])
  })
})

describe('reserved seqs', () => {
  /** A disk that counts blocking syncs. The other syncs wait while it is slow. */
  function countedDisk() {
    let stops = 0
    let isSlow = false
    let waiting: (() => void)[] = []
    const disk: FileSync = {
      fdatasync(fd, then) {
        if (isSlow) waiting.push(() => fdatasync(fd, then))
        else fdatasync(fd, then)
      },
      fdatasyncSync() {
        stops += 1
      },
    }
    return {
      disk,
      stops: () => stops,
      slow(on: boolean) {
        isSlow = on
        for (const go of waiting) go()
        waiting = []
      },
    }
  }

  test('are on disk long before they are needed, so a long answer never stops the server', async () => {
    const { disk, stops } = countedDisk()
    const { store } = openFile(disk)
    const run = await acceptedRun(store, accept(newSession()))

    for (let i = 0; i < 12; i += 1) {
      await say(store, run, ...Array.from({ length: 1_000 }, () => 'x'))
      // Enough time for the sync that the text asked for.
      await commit(store, append(run, [fact('noted')], { sync: true }))
    }

    expect(stops()).toBe(0)
  })

  test('stop everything if the disk is too slow, before a seq is used that is not reserved on disk', async () => {
    const { disk, stops, slow } = countedDisk()
    const { store } = openFile(disk)
    const run = await acceptedRun(store, accept(newSession()))
    slow(true)

    // The first block ends at 10,000, and the run's start took two seqs of it.
    const stopsAfter = []
    for (const count of [6_000, 3_998, 1, 1, 9_000, 1_000, 1]) {
      await say(store, run, ...Array.from({ length: count }, () => 'x'))
      stopsAfter.push(stops())
    }

    // The block that was reserved at 6,002 ends at 16,002 and is on disk with the first stop. The next block ends at 29,002.
    expect(stopsAfter).toEqual([0, 0, 1, 1, 2, 2, 2])
    slow(false)
  })
})

describe('a run that ends or is given back', () => {
  test('leaves all of its text, even if it ends without another entry', async () => {
    const { store, crash } = openFile()
    const [ended, released] = [
      await acceptedRun(store, accept(newSession())),
      await acceptedRun(store, accept(newSession())),
    ]
    for (const run of [ended, released]) await say(store, run, 'a')

    await done(store, finish(ended, { entries: [] }))
    await done(store, { type: 'release_run', runId: released.id, fence: released.fence })

    const after = crash()
    for (const from of [store, after]) {
      for (const run of [ended, released]) {
        expect((await log(from, run)).map(([, , word]) => word)).toEqual(['run_accepted', 'RUN_STARTED', 'a'])
      }
    }
  })

  test('skips no further numbers when it is asked to stop before anybody claims it', async () => {
    const { store } = openFile()
    const { id: runId, fence } = await acceptedRun(store, accept(newSession()))
    await done(store, { type: 'release_run', runId, fence })
    const cancel = () => done(store, { type: 'request_cancel', runId, entries: [fact('cancel_requested')] })

    const first = await cancel()
    const second = await cancel()
    const claimed = await done(store, {
      type: 'claim_run',
      runId,
      fence: fence + 1,
      leaseOwner: 'another',
      entries: [fact('run_recovered')],
    })

    expect([second.firstSeq, claimed.firstSeq]).toEqual([first.firstSeq + 1, first.firstSeq + 2])
  })
})

describe('a transaction that fails', () => {
  /** Makes every audit record fail, with everything in the same commit. */
  function openBroken() {
    const { tables, ...opened } = openFile()
    const breakIt = () =>
      tables.exec("CREATE TRIGGER broken BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'broken'); END")
    const mend = () => tables.exec('DROP TRIGGER broken')
    async function failTogether(...commands: Parameters<Store['commit']>[0]) {
      breakIt()
      const audit = { type: 'add_audit' as const, audit: [newAudit('ann')] }
      await expect(opened.store.commit([...commands, audit])).rejects.toMatchObject({ code: 'storage_failed' })
      mend()
    }
    return { ...opened, failTogether }
  }

  test('leaves text in flight as it was, and its seqs are used by the next one', async () => {
    const { store, failTogether, crash } = openBroken()
    const run = await acceptedRun(store, accept(newSession()))
    await say(store, run, 'a')
    await say(store, run, 'b')
    const words = async (from: Store) => (await log(from, run)).map(([seq, , word]) => [seq, word]).slice(2)

    await failTogether(append(run, [text('lost')]), append(run, [text('lost too')]))
    expect(await words(store)).toEqual([
      [3, 'a'],
      [4, 'b'],
    ])
    await failTogether(append(run, [text('lost')]), append(run, [fact('lost')], { sync: true }))
    expect((await say(store, run, 'c')).firstSeq).toBe(5)
    await done(store, append(run, [fact('noted')], { sync: true }))

    const expected = [
      [3, 'a'],
      [4, 'b'],
      [5, 'c'],
      [6, 'noted'],
    ]
    expect([await words(store), await words(crash())]).toEqual([expected, expected])
  })

  test('leaves nothing of a run that it should have accepted, or accepted and ended', async () => {
    for (const isEnded of [false, true]) {
      const { store, failTogether } = openBroken()
      const taking = accept(newSession())
      const run = { ...taking.run, fence: 1 }

      await failTogether(taking, ...(isEnded ? [finish(run)] : []))
      const other = await acceptedRun(store, accept(newSession()))

      expect(await store.sessions.get(run.sessionId)).toBeNull()
      expect(await refusal(store, append(run, [text('a')]))).toBe('run_fenced')
      expect((await done(store, taking)).firstSeq).toBe(1)
      expect((await say(store, run, 'a')).firstSeq).toBe(3)
      expect((await log(store, other)).map(([seq]) => seq)).toEqual([1, 2])
      expect((await log(store, run)).map(([seq]) => seq)).toEqual([1, 2, 3])
    }
  })

  test('leaves a run that it should have ended as it is, and the run can go on', async () => {
    const { store, failTogether } = openBroken()
    const run = await acceptedRun(store, accept(newSession()))
    await say(store, run, 'a')

    await failTogether(finish(run))
    expect((await say(store, run, 'b')).firstSeq).toBe(4)
    await failTogether({ type: 'release_run', runId: run.id, fence: run.fence })
    await done(store, finish(run))

    expect((await log(store, run)).map(([seq, , word]) => [seq, word]).slice(2)).toEqual([
      [3, 'a'],
      [4, 'b'],
      [5, 'RUN_FINISHED'],
    ])
  })
})
