// One server per data directory, and none on a directory that a newer version wrote.
//
//   RESTARTS=200 vitest run test/crash/lock.slow.test.ts      the long variant

import { hash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SCHEMA_VERSION } from '../../src/store/sqlite/migrations.ts'
import { fromEnvironment, ms, print, quantile } from './support/figures.ts'
import { createPersistentClient } from './support/persistent-client.ts'
import { record } from './support/sse-recorder.ts'
import { DidNotStart, type Exit, openYard, type StartOptions, type Yard } from './support/start-server.ts'

const RESTARTS = fromEnvironment('RESTARTS', 4)
const LANES = 2
const quiet = { flags: ['--log-level', 'error'] }

/** How a start ended that must not succeed. */
async function refusedStart(yard: Yard, options: StartOptions = quiet): Promise<Exit> {
  const failure: unknown = await yard.start(options).catch((error: unknown) => error)
  if (failure instanceof DidNotStart) return failure.exit
  throw new Error('the server started although it must not')
}

/** Hashes of the data files. The lock and the index of the log belong to the process that has the directory open. */
async function hashes(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).filter((name) => !/^server\.lock|-shm$/.test(name)).sort()
  const files = await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const))
  const filled = files.filter(([, bytes]) => bytes.length > 0)
  return Object.fromEntries(filled.map(([name, bytes]) => [name, hash('sha256', bytes)]))
}

describe('a data directory', () => {
  test('is used by one server; a second one is refused and disturbs nobody', async () => {
    const yard = await openYard(onTestFinished)
    const first = await yard.start(quiet)
    const exits = await Promise.all([refusedStart(yard), refusedStart(yard)])

    for (const exit of exits) {
      expect([exit.code, exit.signal, exit.log]).toEqual([
        73,
        null,
        expect.stringMatching(
          new RegExp(
            `^quarterdeck: Another Quarterdeck uses the data directory ${yard.dataDir}\\. Stop it, or give this one its own directory with --data-dir\\.\n {2}More: .+ explain data_dir_locked\n$`,
          ),
        ),
      ])
    }
    const client = createPersistentClient({ kind: 'background', threadId: 'first', name: 'first' })
    await client.go(first.url)
    expect(await client.faults(first.url)).toEqual([])
    // The time of a start that succeeds is printed for comparison.
    print(
      `P20: a second server refused with exit 73, ${ms(Math.max(...exits.map((exit) => exit.afterMs)))} after the start of its process (a server is ready after ${ms(first.readyMs)})`,
    )
    expect(Math.max(...exits.map((exit) => exit.afterMs))).toBeLessThan(REFUSAL_LIMIT_MS)
  })

  test('is never left locked by a server that was killed', { timeout: 600_000 }, async () => {
    const readyMs: number[] = []
    async function restartAgainAndAgain(times: number): Promise<void> {
      const yard = await openYard(onTestFinished)
      for (let i = 0; i < times; i += 1) {
        const server = await yard.start(quiet)
        readyMs.push(server.readyMs)
        expect(await server.kill()).toMatchObject({ signal: 'SIGKILL' })
      }
    }
    await Promise.all(Array.from({ length: LANES }, () => restartAgainAndAgain(Math.ceil(RESTARTS / LANES))))
    print(
      `P20: ${readyMs.length}/${readyMs.length} restarts right after kill -9, ready p50 ${ms(quantile(readyMs, 0.5))}, max ${ms(Math.max(...readyMs))}`,
    )
  })

  test.each([
    ['that was closed', false],
    ['whose server was killed', true],
  ])('of a newer version %s is refused before anything is written', async (_name, killed) => {
    const yard = await openYard(onTestFinished)
    const server = await yard.start(quiet)
    const client = createPersistentClient({ kind: 'stream', threadId: 'old', name: 'old' })
    await client.go(server.url)
    if (killed) await server.kill()
    else {
      server.signal('SIGTERM')
      await server.exited
    }
    await setVersion(join(yard.dataDir, 'quarterdeck.db'), SCHEMA_VERSION + 1, killed)
    const before = await hashes(yard.dataDir)
    const log = killed ? ['quarterdeck.db-wal'] : []
    expect(Object.keys(before)).toEqual(['quarterdeck.db', ...log])

    const exit = await refusedStart(yard)

    const after = await hashes(yard.dataDir)
    expect([exit.code, exit.log]).toEqual([
      73,
      expect.stringMatching(
        new RegExp(
          `^quarterdeck: The data directory was written by a newer Quarterdeck \\(format ${SCHEMA_VERSION + 1}, this one reads up to ${SCHEMA_VERSION}\\)\\. Start the newer version, or use another --data-dir\\.\n {2}More: .+ explain data_dir_newer\n$`,
        ),
      ),
    ])
    expect(after).toEqual(before)

    await setVersion(join(yard.dataDir, 'quarterdeck.db'), SCHEMA_VERSION, false)
    const again = await yard.start(quiet)
    expect(await client.faults(again.url)).toEqual([])
    expect((await record({ url: `${again.url}/ready` }).done).status).toBe(200)
    print(
      `P31: a newer data directory (${killed ? 'killed' : 'closed'}) refused with exit 73, ${Object.keys(before).length} files unchanged`,
    )
  })
})

/** The promise is 1 s. Here other tests share the machine. */
const REFUSAL_LIMIT_MS = 120_000

/** Writes a newer version number as that version would: into the file, or, if it was killed, only into the write-ahead log. */
async function setVersion(path: string, version: number, inLog: boolean): Promise<void> {
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = ${version}`)
  const asKilled = await Promise.all([path, `${path}-wal`].map(async (file) => [file, await readFile(file)] as const))
  // Closing moves the log into the file.
  db.close()
  if (inLog) for (const [file, bytes] of asKilled) await writeFile(file, bytes)
}
