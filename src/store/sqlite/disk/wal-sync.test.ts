import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { accept, append, fact, newSession, text } from '../../contract/samples.contract.ts'
import { createSqliteStore } from '../sqlite-store.ts'
import { createWalSync, type FileSync } from './wal-sync.ts'

/** A disk on which the test finishes each sync. */
function openSync() {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-sync-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'test.db-wal')
  writeFileSync(path, '')
  const running: ((error: Error | null) => void)[] = []
  const failures: unknown[] = []
  let begun = 0
  let failure: unknown = null
  const disk: FileSync = {
    fdatasync(_fd, done) {
      begun += 1
      running.push(done)
    },
    fdatasyncSync() {
      if (failure !== null) throw failure
    },
  }
  const sync = createWalSync(path, (error) => void failures.push(error), disk)
  const done: string[] = []
  return {
    sync,
    failures,
    begun: () => begun,
    /** The callers whose sync is done, in order. */
    done,
    /** Resolves when its sync may have begun. */
    async ask(name: string) {
      void sync.synced().then(() => done.push(name))
      await Promise.resolve()
    },
    async finish(error: Error | null = null) {
      running.shift()?.(error)
      await new Promise<void>((resolve) => void setImmediate(resolve))
    },
    failNow(error: unknown) {
      failure = error
    },
  }
}

test('a caller during a sync waits for the next one, and all waiting callers share it', async () => {
  const { ask, begun, done, finish } = openSync()

  await ask('first')
  await Promise.all([ask('second'), ask('third')])
  expect(begun()).toBe(1)
  await finish()
  // A running sync may miss what was written after it began.
  expect({ done: [...done], begun: begun() }).toEqual({ done: ['first'], begun: 2 })
  await finish()
  expect({ done: [...done], begun: begun() }).toEqual({ done: ['first', 'second', 'third'], begun: 2 })

  await Promise.all([ask('fourth'), ask('fifth')])
  await finish()
  expect({ done: done.slice(3), begun: begun() }).toEqual({ done: ['fourth', 'fifth'], begun: 3 })
})

test('after a failed sync nothing is promised any more, and no other sync is tried', async () => {
  const { ask, begun, done, failures, finish } = openSync()
  const error = new Error('EIO')
  await ask('first')
  await ask('second')

  await finish(error)
  await ask('third')
  await finish()

  expect({ failures, done, begun: begun() }).toEqual({ failures: [error], done: [], begun: 1 })
})

test('a blocking sync that fails is fatal too', () => {
  const { sync, failures, failNow } = openSync()
  const error = new Error('EIO')

  sync.syncNow()
  failNow(error)
  sync.syncNow()
  failNow('EIO')
  sync.syncNow()

  expect(failures).toEqual([error, new Error('EIO')])
})

test('closing waits for the syncs that are under way', async () => {
  const { sync, ask, done, finish } = openSync()
  await ask('first')
  await ask('second')
  const closed = sync.close().then(() => done.push('closed'))
  await finish()
  expect(done).toEqual(['first'])

  await finish()
  await finish()
  await closed

  expect(done).toEqual(['first', 'second', 'closed'])
})

test('a commit with one command of the synced class waits for the disk, whatever comes after it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-sync-'))
  const running: ((error: Error | null) => void)[] = []
  const disk: FileSync = { fdatasync: (_fd, done) => void running.push(done), fdatasyncSync() {} }
  const fatal = (error: Error) => {
    throw error
  }
  const store = createSqliteStore({ path: join(folder, 'test.db'), fatal, disk })
  const taking = accept(newSession())
  const run = { ...taking.run, fence: 1 }
  const isSynced = async (...commands: Parameters<typeof store.commit>[0]) => {
    let isDone = false
    const { results, synced } = await store.commit(commands)
    expect(results.every(({ ok }) => ok)).toBe(true)
    void synced.then(() => {
      isDone = true
    })
    await new Promise<void>((resolve) => void setImmediate(resolve))
    return isDone
  }

  expect(await isSynced(taking)).toBe(false)
  expect(await isSynced(append(run, [text('a')]))).toBe(true)
  expect(await isSynced(append(run, [fact('noted')], { sync: true }), append(run, [text('b')]))).toBe(false)

  const closed = store.close()
  for (let i = 0; i < 5; i += 1) {
    running.shift()?.(null)
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
  await closed
  rmSync(folder, { recursive: true })
})
