import { expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { FileType } from '../../domain/session/file.ts'
import type { ReadJob } from './read-job.ts'
import { createReaderPool, type PoolWork } from './reader-pool.ts'

test('types take turns, so that a short text does not wait for all scans before it', async () => {
  const order: string[] = []
  const pool = createReaderPool({
    startChild: async () => ({
      folder: '/made',
      async run(job: ReadJob) {
        order.push(job.path)
        return { kind: 'done' }
      },
      fit: () => true,
      async kill() {},
    }),
    newName: () => 'result',
    clock: createSystemClock(),
    log: silentLogger,
    limits: { children: 1, queue: 100, idleMs: 1_000, memoryBytes: 1 },
  })
  const work = (path: string, mimeType: FileType): PoolWork<string> => ({
    job: { path, mimeType, timeMs: 1, busyMs: 1, characters: 1, scans: false, languages: [] },
    signal: new AbortController().signal,
    onProgress() {},
    take: async (resultPath) => resultPath,
  })
  const results = await Promise.all([
    pool.run(work('scan 1', 'image/png')),
    pool.run(work('scan 2', 'image/png')),
    pool.run(work('scan 3', 'image/png')),
    pool.run(work('scan 4', 'image/png')),
    pool.run(work('note 1', 'text/plain')),
    pool.run(work('note 2', 'text/plain')),
    pool.run(work('letter', 'application/pdf')),
  ])
  await pool.close()

  expect(order).toEqual(['scan 1', 'scan 2', 'note 1', 'letter', 'scan 3', 'note 2', 'scan 4'])
  expect(results).toEqual(Array(7).fill('/made/result'))
})

test.each([
  ['little memory is not read again', 20, 1],
  ['much memory is read again by a fresh child', 40, 2],
])('a file that needs too much memory in a child that held %s', async (_what, before, children) => {
  let started = 0
  const pool = createReaderPool({
    async startChild() {
      started += 1
      return {
        folder: '/made',
        run: async ({ path }: ReadJob) => (path === 'bomb' ? { kind: 'too-much-memory', before } : { kind: 'done' }),
        fit: () => true,
        async kill() {},
      }
    },
    newName: () => 'result',
    clock: createSystemClock(),
    log: silentLogger,
    limits: { children: 1, queue: 100, idleMs: 1_000, memoryBytes: 100 },
  })
  const read = (path: string) =>
    pool.run({
      job: { path, mimeType: 'application/pdf', timeMs: 1, busyMs: 1, characters: 1, scans: false, languages: [] },
      signal: new AbortController().signal,
      onProgress() {},
      take: async (resultPath) => resultPath,
    })
  await read('letter')

  await expect(read('bomb')).rejects.toMatchObject({ code: 'file_unreadable' })
  await pool.close()
  expect(started).toBe(children)
})
