import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../domain/logger.ts'
import { type LogLine, recordingLogger } from '../../../domain/testing/recording-logger.ts'
import { document, file, passage, vector } from '../../contract/knowledge-samples.contract.ts'
import { describeKnowledgeStore } from '../../knowledge.contract.ts'
import type { KnowledgeStore } from '../../ports/knowledge.ts'
import { createSqliteKnowledge } from './sqlite-knowledge.ts'

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-knowledge-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data', 'knowledge.db')
}

function open(path: string, lines: LogLine[] = []): KnowledgeStore {
  const store = createSqliteKnowledge({ path, log: recordingLogger(lines) })
  onTestFinished(async () => store.close().catch(() => {}))
  return store
}

describeKnowledgeStore('SQLite', async () => open(newPath()))
describeKnowledgeStore('SQLite in memory', async () => open(':memory:'))

const remade = (path: string, reason: unknown): LogLine => ({
  level: 'warn',
  message: 'the index of documents is made again, because its file cannot be used',
  fields: { path, reason },
})

describe('the file of the knowledge', () => {
  test('is read by its owner alone, and keeps everything until the next start', async () => {
    const path = newPath()
    const before = open(path)
    await before.put('i', file('a.md', 'd'), document(passage('p', { 1: 2 })))
    await before.putVectors('i', [vector('digest of p', 1)])
    for (const one of [path, `${path}-wal`]) expect(statSync(one).mode & 0o777).toBe(0o600)
    await before.close()

    const lines: LogLine[] = []
    const after = open(path, lines)

    expect(await after.frequencies('i', [1])).toEqual([1])
    expect(await after.figures('i')).toMatchObject({ files: 1, passages: 1, embedded: 1 })
    expect(lines).toEqual([])
  })

  test.each([
    ['of another version', 'PRAGMA user_version = 99', 'it has version 99, and this program writes 1'],
    ['of another program', 'PRAGMA user_version = 0', 'it has version 0, and this program writes 1'],
  ])('%s is made again', async (_, change, reason) => {
    const path = newPath()
    const before = open(path)
    await before.put('i', file('a.md', 'd'), document(passage('p', { 1: 2 })))
    await before.close()
    const db = new DatabaseSync(path)
    db.exec(change)
    db.close()

    const lines: LogLine[] = []
    expect(createSqliteKnowledge({ path, log: silentLogger, readOnly: true })).toBeNull()
    const after = open(path, lines)

    expect(await after.indexes()).toEqual([])
    await after.put('i', file('a.md', 'd'), document(passage('p', { 1: 2 })))
    expect(lines).toEqual([remade(path, reason)])
  })

  test('that is no database is made again', async () => {
    const path = newPath()
    await open(path).close()
    writeFileSync(path, 'nothing that SQLite knows '.repeat(1_000))

    const lines: LogLine[] = []
    expect(createSqliteKnowledge({ path, log: silentLogger, readOnly: true })).toBeNull()
    expect(await open(path, lines).indexes()).toEqual([])
    expect(lines).toEqual([remade(path, 'file is not a database')])
    expect(existsSync(`${path}-shm`)).toBe(true)
  })

  test.each(['a read', 'a write'])(
    'that turns out to be damaged by %s is made again while it is open',
    async (kind) => {
      const path = newPath()
      const before = open(path)
      for (let i = 0; i < 40; i += 1) {
        await before.put('i', file(`${i}.md`, `d${i}`), document(passage(`p${i}`, { 1: 2, [i]: 1 })))
      }
      await before.close()
      const pages = readFileSync(path)
      // The first two pages say which tables there are.
      writeFileSync(path, pages.fill(0xff, 4_096 * 4))

      const lines: LogLine[] = []
      const store = open(path, lines)
      if (kind === 'a read') expect(await store.frequencies('i', [1])).toEqual([0])
      else await store.put('i', file('a.md', 'd'), document(passage('p', { 1: 2 })))

      expect(lines).toEqual([remade(path, expect.any(String))])
      expect(await store.indexes()).toEqual(kind === 'a read' ? [] : ['i'])
      await store.put('i', file('b.md', 'e'), document(passage('q', { 1: 2 })))
      expect((await store.files('i', '', 10)).at(-1)).toEqual(file('b.md', 'e'))
    },
  )

  test('gives its space back when an index is cleared', async () => {
    const path = newPath()
    const store = open(path)
    const text = 'x'.repeat(50_000)
    await store.put('small', file('a.md', 'd'), document(passage('p', { 1: 1 })))
    for (let i = 0; i < 100; i += 1) {
      await store.put('i', file(`${i}`, `${i}`), document(passage(`p${i}`, { 1: 1 }, { text })))
    }

    await store.clear('i')

    expect(statSync(path).size).toBeLessThan(400_000)
    expect(statSync(`${path}-wal`).size).toBe(0)
    expect(await store.frequencies('small', [1])).toEqual([1])
    await store.clear('small')
    expect([statSync(path).size < 50_000, statSync(path).mode & 0o777]).toEqual([true, 0o600])
    await store.put('i', file('a.md', 'd'), document(passage('p', { 1: 1 })))
    expect(await store.frequencies('i', [1])).toEqual([1])
  })

  test('does not grow when files change again and again', async () => {
    const store = open(newPath())
    const path = newPath()
    const changing = open(path)
    await store.close()
    const sizes: number[] = []
    for (let i = 0; i < 60; i += 1) {
      const text = `${i}`.repeat(10_000)
      await changing.put('i', file('a.md', `${i}`), document(passage(`p${i}`, { 1: 1 }, { text })))
      sizes.push(statSync(path).size)
    }
    expect(sizes.at(-1)).toBeLessThan(1_000_000)
    expect(await changing.figures('i')).toMatchObject({ files: 1, passages: 1 })
  })

  test('a full disk is told as such, and what was there stays', async () => {
    let limit = (_pages: number) => {}
    const store = createSqliteKnowledge({
      path: newPath(),
      log: silentLogger,
      connect(path) {
        const db = new DatabaseSync(path)
        limit = (pages) => db.exec(`PRAGMA max_page_count = ${pages}`)
        return db
      },
    })
    onTestFinished(() => store.close())
    await store.put('i', file('a.md', 'd'), document(passage('p', { 1: 1 })))
    const large = document(passage('q', { 1: 1, 2: 1 }, { text: 'x'.repeat(1_000_000) }))
    limit(60)

    for (const index of ['i', 'j']) {
      const full = {
        code: 'storage_full',
        message: 'The disk is full: nothing was stored. Free some space and try again.',
      }
      await expect(store.put(index, file('b.md', 'e'), large)).rejects.toMatchObject(full)
    }
    expect([await store.frequencies('i', [1, 2]), await store.indexes()]).toEqual([[1, 0], ['i']])
    limit(10_000)
    await store.put('j', file('b.md', 'e'), large)
    await store.put('i', file('b.md', 'e'), large)
    expect([await store.frequencies('i', [1, 2]), await store.frequencies('j', [1, 2])]).toEqual([
      [2, 1],
      [1, 1],
    ])
  })
})

describe('knowledge that is read beside a server', () => {
  test('is null if there is no file, and no file is made', () => {
    const path = newPath()
    expect(createSqliteKnowledge({ path, log: silentLogger, readOnly: true })).toBeNull()
    expect(existsSync(path)).toBe(false)
  })

  test('shows what the server writes meanwhile, and writes nothing', async () => {
    const path = newPath()
    const server = open(path)
    await server.put('i', file('a.md', 'd'), document(passage('p', { 1: 1 }, { digest: 'p' })))
    await server.putVectors('i', [vector('p', 1)])
    const reader = createSqliteKnowledge({ path, log: silentLogger, readOnly: true })
    onTestFinished(async () => reader?.close())
    const near = async () => reader?.nearest('i', vector('p', 1).code, 10)
    expect([await reader?.frequencies('i', [1]), await near()]).toEqual([[1], ['p']])

    await server.put('i', file('b.md', 'e'), document(passage('q', { 1: 1 }, { digest: 'q' })))
    await server.sweepVectors('i', true)
    await server.putVectors('i', [vector('q', 1)])
    expect([await reader?.frequencies('i', [1]), await near()]).toEqual([[2], ['q']])
    expect(await reader?.figures('i')).toMatchObject({ files: 2, passages: 2, embedded: 1 })
    await expect(reader?.remove('i', ['a.md'])).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(reader?.clear('i')).rejects.toMatchObject({ code: 'storage_failed' })
    await server.put('j', file('b.md', 'e'), document(passage('q')))
    await server.clear('i')
    expect([await reader?.indexes(), await reader?.frequencies('i', [1])]).toEqual([['j'], [0]])
    await server.put('i', file('c.md', 'e'), document(passage('r', { 1: 1 })))
    expect(await reader?.files('i', '', 10)).toEqual([file('c.md', 'e')])
  })
})
