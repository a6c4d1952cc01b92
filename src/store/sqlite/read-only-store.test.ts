import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  accept,
  acceptedRun,
  append,
  create,
  done,
  finish,
  newAudit,
  newSession,
  remove,
  text,
} from '../contract/samples.contract.ts'
import type { ReadOnlyStore, Store } from '../store.ts'
import { migrate, SCHEMA_VERSION } from './migrations.ts'
import { openReadOnlyStore } from './read-only-store.ts'
import { createSqliteStore } from './sqlite-store.ts'

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-read-only-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

function openWriter(): { path: string; store: Store } {
  const path = join(emptyFolder(), 'quarterdeck.db')
  const store = createSqliteStore({ path, fatal() {} })
  onTestFinished(() => store.close())
  return { path, store }
}

function openReader(path: string): ReadOnlyStore {
  const stored = openReadOnlyStore(path)
  onTestFinished(() => stored.close())
  return stored
}

const all = (reader: ReadOnlyStore, sessionId: string) => reader.read((store) => store.entries(sessionId, 0, 1000))

describe('the read-only store', () => {
  test('sees what the writer sees, also text in flight and the text of a second session beside it', async () => {
    const { path, store } = openWriter()
    const reader = openReader(path)
    const runs = [
      await acceptedRun(store, accept(newSession())),
      await acceptedRun(store, accept(newSession())),
      await acceptedRun(store, accept(newSession())),
    ]
    const [first, second, third] = runs
    if (first === undefined || second === undefined || third === undefined) throw new Error('there are three runs')
    await done(store, append(first, [text('one ')]))
    await done(store, append(second, [text('eins ')]))
    await done(store, append(first, [text('two '), text('three')]))
    await done(store, append(third, [text('gone')]))
    await done(store, finish(third))
    await done(store, remove(third.sessionId))

    for (const { sessionId } of runs) {
      expect(await all(reader, sessionId)).toEqual(await store.entries(sessionId, 0, 1000))
      expect(await reader.read((reads) => reads.head(sessionId))).toBe(await store.head(sessionId))
    }
    await done(store, finish(first))
    expect(await all(reader, first.sessionId)).toEqual(await store.entries(first.sessionId, 0, 1000))
    expect(await reader.read((reads) => reads.entries(first.sessionId, 2, 1))).toEqual(
      await store.entries(first.sessionId, 2, 1),
    )
  })

  test('all reads of one call see the same moment, the next call sees what came since', async () => {
    const { path, store } = openWriter()
    const reader = openReader(path)
    const run = await acceptedRun(store, accept(newSession()))
    await done(store, append(run, [text('before')]))

    const [before, after] = await reader.read(async (reads) => {
      const look = async () => [
        await reads.entries(run.sessionId, 0, 1000),
        await reads.runs.list(run.sessionId),
        await reads.audit.entries(0, 10),
        await reads.sessions.list({ limit: 10 }),
      ]
      const seen = await look()
      await done(store, append(run, [text('after')], { sync: true, audit: [newAudit('ann')] }))
      await done(store, finish(run))
      await done(store, create(newSession()))
      return [seen, await look()]
    })

    expect(after).toEqual(before)
    expect((await reader.read((reads) => reads.sessions.list({ limit: 10 }))).length).toBe(2)
    expect(await all(reader, run.sessionId)).toEqual(await store.entries(run.sessionId, 0, 1000))
  })

  test('reads what a killed server left behind, and leaves it as it is', async () => {
    const { path, store } = openWriter()
    const run = await acceptedRun(store, accept(newSession()))
    await done(store, append(run, [text('half a sen')]))
    const copy = join(emptyFolder(), 'quarterdeck.db')
    copyFileSync(path, copy)
    copyFileSync(`${path}-wal`, `${copy}-wal`)
    const sizes = () => [copy, `${copy}-wal`].map((file) => [statSync(file).size, statSync(file).mtimeMs])
    const before = sizes()

    expect(await all(openReader(copy), run.sessionId)).toEqual(await store.entries(run.sessionId, 0, 1000))
    expect(sizes()).toEqual(before)
  })

  test.each([
    ['of an older version', SCHEMA_VERSION - 1, 'data_dir_older'],
    ['of a newer version', SCHEMA_VERSION + 1, 'data_dir_newer'],
    ['from before 0.1.0', 15, 'data_dir_older'],
    ['of another program', 0, 'data_dir_older'],
  ])('refuses a database %s and does not change it', (name, version, code) => {
    const path = join(emptyFolder(), 'quarterdeck.db')
    const database = new DatabaseSync(path)
    if (name === 'of another program') database.exec('CREATE TABLE sessions (recipe TEXT)')
    else migrate(database)
    if (name === 'from before 0.1.0') database.exec('PRAGMA application_id = 0')
    database.exec(`PRAGMA user_version = ${version}`)
    database.close()
    const before = statSync(path).mtimeMs

    expect(() => openReadOnlyStore(path)).toThrow(expect.objectContaining({ code }))
    expect(statSync(path).mtimeMs).toBe(before)
  })

  test('refuses what is not a database, and one that only claims to have our tables', () => {
    const path = join(emptyFolder(), 'quarterdeck.db')
    const damaged = expect.objectContaining({ code: 'data_dir_damaged' })
    writeFileSync(path, 'Dear diary, '.repeat(500))
    expect(() => openReadOnlyStore(path)).toThrow(damaged)

    rmSync(path)
    const database = new DatabaseSync(path)
    migrate(database)
    database.exec('DROP TABLE sessions; CREATE TABLE sessions (recipe TEXT)')
    database.close()
    expect(() => openReadOnlyStore(path)).toThrow(damaged)
  })
})
