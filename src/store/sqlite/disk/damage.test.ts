// Real files, really damaged.

import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { present } from '../../../domain/present.ts'
import type { Store } from '../../store.ts'
import { createSqliteStore } from '../sqlite-store.ts'

const PAGE = 4096
const fatal = (error: Error) => {
  throw error
}

/** A database with this many sessions, each of which takes two pages. */
async function filledDatabase(sessions: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-damage-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'quarterdeck.db')
  await createSqliteStore({ path, fatal }).close()
  const db = new DatabaseSync(path)
  db.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sessions})
    INSERT INTO sessions (id, owner, agent, status, created_at, last_activity, metadata, message_count, unlisted, seq_ceiling, compacted)
    SELECT 'session ' || i, 'ada', 'parrot', 'active', 1, 1, json_object('text', printf('%.*c', 6000, 'x')), 0, 0, 0, 1 FROM n`)
  db.close()
  return path
}

function overwrite(path: string, position: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, position)
  closeSync(file)
}

function failureOf(work: () => unknown): ServerError {
  try {
    work()
  } catch (error) {
    if (error instanceof ServerError) return error
    throw error
  }
  throw new Error('it did not fail')
}

const open = (path: string, damaged?: (error: unknown) => void): Store => {
  const store = createSqliteStore({ path, fatal, ...present({ damaged }) })
  onTestFinished(() => store.close())
  return store
}

const noise = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, i) => (i * 89 + 13) % 251))

describe('a database that is damaged when it is opened', () => {
  test.each<[string, (path: string) => void, string]>([
    ['zeros for a header', (path) => overwrite(path, 0, Buffer.alloc(100)), ' (file is not a database)'],
    ['text', (path) => writeFileSync(path, 'Dear diary, '.repeat(500)), ' (file is not a database)'],
    [
      'half of it',
      (path) => truncateSync(path, PAGE * Math.floor(statSync(path).size / PAGE / 2)),
      ' (database disk image',
    ],
    ['less than a page', (path) => truncateSync(path, 700), ' (database disk image'],
    ['one byte', (path) => truncateSync(path, 1), ' (it is cut off)'],
    ['no bytes', (path) => truncateSync(path, 0), ' (it is empty)'],
    ['noise for the names of the tables', (path) => overwrite(path, 100, noise(PAGE - 100)), ' (database disk image'],
    ['noise in the middle', (path) => overwrite(path, statSync(path).size / 2, noise(3 * PAGE)), ' ('],
    ['noise for a log', (path) => writeFileSync(`${path}-wal`, noise(50_000)), '-wal (it is not a log of SQLite)'],
  ])('has %s: it is refused, by name, and stays as it is', async (_name, damage, reason) => {
    const path = await filledDatabase(40)
    damage(path)
    const before = readFileSync(path)

    const { code, message } = failureOf(() => open(path))

    expect(code).toBe('data_dir_damaged')
    expect(message).toContain(`The database is damaged: ${path}${reason}`)
    expect(message).toContain('Restore it: move the data directory away and run quarterdeck restore with your backup')
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('is missing while its log is there', async () => {
    const path = await filledDatabase(1)
    writeFileSync(`${path}-wal`, 'x')
    rmSync(path)

    expect(failureOf(() => open(path)).message).toContain(`${path} (it is missing, but its log is there)`)
  })

  test('is a folder', async () => {
    const path = await filledDatabase(1)
    rmSync(path)
    mkdirSync(path)

    expect(failureOf(() => open(path))).toMatchObject({
      code: 'config_invalid',
      message: `The data directory cannot be used: ${path} (it is not a file). Name a folder that you may write to with --data-dir.`,
    })
  })

  test.each([
    ['sessions', 'DROP TABLE sessions'],
    ['entries', 'DROP TABLE entries'],
    ['grants', 'DROP TABLE grants'],
    ['files', 'DROP TABLE files'],
    ['a column of messages', 'ALTER TABLE messages RENAME COLUMN extra TO more'],
  ])('lacks %s', async (_name, sql) => {
    const path = await filledDatabase(1)
    const db = new DatabaseSync(path)
    db.exec(sql)
    db.close()

    expect(failureOf(() => open(path))).toMatchObject({ code: 'data_dir_damaged' })
  })

  test.each([
    ['version', 4],
    ['page size', 8],
    ['salt', 16],
    ['checksum', 31],
  ])('has a log whose %s is wrong, which SQLite would skip', async (_name, position) => {
    const path = await filledDatabase(1)
    const db = new DatabaseSync(path)
    db.exec("PRAGMA wal_autocheckpoint = 0; UPDATE sessions SET agent = 'new'")
    const asKilled = [path, `${path}-wal`].map((file) => [file, readFileSync(file)] as const)
    db.close()
    for (const [file, bytes] of asKilled) writeFileSync(file, bytes)
    const whole = readFileSync(`${path}-wal`)
    overwrite(`${path}-wal`, position, Buffer.from([(whole[position] ?? 0) ^ 1]))

    expect(failureOf(() => open(path)).message).toContain(`${path}-wal (it is not a log of SQLite)`)

    writeFileSync(`${path}-wal`, whole)
    expect(await open(path).sessions.get('session 1')).toMatchObject({ agent: 'new' })
  })

  test('has a log that cannot be read', async () => {
    const path = await filledDatabase(1)
    mkdirSync(`${path}-wal`)

    expect(failureOf(() => open(path))).toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`${path}-wal (EISDIR)`),
    })
  })

  test('a log of zeros counts as empty, because a power cut may leave one', async () => {
    const path = await filledDatabase(1)
    writeFileSync(`${path}-wal`, Buffer.alloc(8_000))

    expect(await open(path).sessions.get('session 1')).toMatchObject({ id: 'session 1' })
  })
})

test('a start that was killed while it created the database creates it again', async () => {
  const path = await filledDatabase(0)
  rmSync(path)
  writeFileSync(`${path}.new`, 'half of')

  expect(await open(path).sessions.count(0)).toBe(0)
})

describe('damage that is found later', () => {
  test('is reported once; intact data can be read, and nothing is stored', async () => {
    const path = await filledDatabase(3_000)
    const size = statSync(path).size
    const damages: unknown[] = []
    const store = open(path, (error) => damages.push(error))
    // At a third of the file, far from both ends of every table.
    for (let page = 0; page < 200; page += 1) overwrite(path, PAGE * (Math.floor(size / PAGE / 3) + page), noise(PAGE))
    await store.check()

    const all = Array.from({ length: 3_000 }, (_, i) => store.sessions.get(`session ${i + 1}`))
    const results = await Promise.allSettled(all)

    const failed = results.filter((result) => result.status === 'rejected')
    expect(failed.length).toBeGreaterThan(0)
    for (const { reason } of failed) expect(reason).toMatchObject({ code: 'storage_failed' })
    expect(results.at(-1)).toMatchObject({ status: 'fulfilled', value: { id: 'session 3000' } })
    expect(damages).toHaveLength(1)
    await expect(store.check()).rejects.toMatchObject({ code: 'storage_failed' })
    const touch = { type: 'renew_lease', leaseOwner: 'me', until: 1 } as const
    await expect(store.commit([touch])).rejects.toMatchObject({ code: 'storage_failed' })
  })
})
