import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { parseSearch } from '../../domain/session/search-words.ts'
import { accept, finish, newMessage, newSession } from '../contract/samples.contract.ts'
import type { SearchPage } from '../ports/search.ts'
import { createApplyCommand } from './apply-command.ts'
import { createEntryWriter } from './entry-writer.ts'
import { createLiveState } from './live-sessions.ts'
import { migrate } from './migrations.ts'
import { createReads } from './rows/reads.ts'
import { createSearchIndexRows } from './rows/search-table.ts'
import { createSearchIndexer } from './search-indexer.ts'

function openIndexed({ isBusy = (): boolean => false } = {}) {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const state = createLiveState()
  const reads = createReads(db, state)
  const apply = createApplyCommand(db, state, createEntryWriter(db, state, null))
  const errors: unknown[] = []
  const indexer = createSearchIndexer(db, (error) => errors.push(error), {
    written() {},
    hasSpace: () => true,
    isBusy,
  })
  const say = (content: string) => {
    const session = newSession()
    const { run } = apply(accept(session))
    if (run === undefined) throw new Error('no run')
    apply(finish(run, { messages: [newMessage('m', { content })] }))
    indexer.noticeCommit()
    return session.id
  }
  const { find } = indexer.searched(reads.search)
  const search = async (text: string) => {
    const { found, isComplete } = await find({ terms: parseSearch(text), limit: 10 })
    return { ids: found.map(({ session }) => session.id), isComplete }
  }
  const close = () => {
    indexer.close()
    db.close()
  }
  return { db, reads, errors, say, search, close }
}

test('a search sees what was just committed', async () => {
  const { say, search, close } = openIndexed()
  const first = say('apple')
  expect(await search('apple')).toEqual({ ids: [first], isComplete: true })
  const second = say('apple')
  expect(await search('apple')).toEqual({ ids: [second, first], isComplete: true })
  close()
})

test('the index rests while runs execute, unless much is due, and catches up when the server rests', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let isBusy = true
  const { db, say, close } = openIndexed({ isBusy: () => isBusy })
  const indexed = () => Number(db.prepare('SELECT indexed_to FROM search_state').get()?.indexed_to)
  const all = () => Number(db.prepare('SELECT max(mid) AS mid FROM messages').get()?.mid)
  for (let i = 0; i < 30; i++) say(`pear ${'word '.repeat(300)}`)
  vi.advanceTimersByTime(60_000)
  expect(indexed()).toBe(0)

  const more = db.prepare(
    "INSERT INTO messages (sid, id, role, content, run_id, created_at) VALUES (1, ?, 'user', 'plum', 'r', 1)",
  )
  for (let i = 0; i < 10_000; i++) more.run(`more${i}`)
  vi.advanceTimersByTime(600_000)
  expect(all() - indexed()).toBeLessThan(10_000)
  expect(all() - indexed()).toBeGreaterThan(9_500)

  isBusy = false
  vi.advanceTimersByTime(5_000)
  expect(indexed()).toBe(all())
  close()
  vi.useRealTimers()
})

test('an index that does not fit together is made again, and the store goes on', async () => {
  const { db, errors, say, search, close } = openIndexed()
  const id = say('apple')
  await search('apple')
  // SQLite protects the tables of an index from such statements.
  db.enableDefensive(false)
  db.exec('DELETE FROM search_words_data WHERE id > 10')
  say('pear')
  await search('apple')
  await search('pear')

  expect(await search('apple')).toEqual({ ids: [id], isComplete: true })
  expect(errors).toEqual([])
  close()
})

test('without space for the index, a search finds what was indexed before, and says that this is not all', async () => {
  const { db, errors, say, search, close } = openIndexed()
  const id = say('apple')
  await search('apple')
  say(`apple ${Array.from({ length: 5_000 }, (_, i) => `word${i}`).join(' ')}`)
  const { page_count: pages } = db.prepare('PRAGMA page_count').get() ?? {}
  db.exec(`PRAGMA max_page_count = ${Number(pages)}`)
  const { ids, isComplete } = await search('apple')

  expect(ids).toEqual([id])
  expect([isComplete, errors.length > 0]).toEqual([false, true])
  close()
})

test('an index that fell behind on a full disk catches up with the first search after there is space, and misses nothing', async () => {
  const { db, errors, say, search, close } = openIndexed()
  const first = say('apple')
  await search('apple')
  const second = say(`apple ${Array.from({ length: 5_000 }, (_, i) => `word${i}`).join(' ')}`)
  const { page_count: pages } = db.prepare('PRAGMA page_count').get() ?? {}
  db.exec(`PRAGMA max_page_count = ${Number(pages)}`)
  const behind = { ids: [first], isComplete: false }
  expect([await search('apple'), await search('apple')]).toEqual([behind, behind])
  expect(errors).toHaveLength(2)

  // Nobody commits anything, and by itself the index tries again half a minute later.
  db.exec('PRAGMA max_page_count = 1000000')

  expect(await search('apple')).toEqual({ ids: [second, first], isComplete: true })
  expect(await search('word4999')).toEqual({ ids: [second], isComplete: true })
  close()
})

test('a search goes through all buckets of rows, newest first', async () => {
  const { db, reads, close } = openIndexed()
  const insertSession = db.prepare(
    `INSERT INTO sessions (id, owner, agent, status, created_at, last_activity, metadata, message_count, unlisted, seq_ceiling, compacted)
     VALUES (?, 'ann', 'a', 'active', 1, 1, '{}', 1, 0, 0, 1)`,
  )
  const insertMessage = db.prepare(
    "INSERT INTO messages (mid, sid, id, role, content, run_id, created_at) VALUES (?, ?, 'm', 'user', ?, 'r', ?)",
  )
  const rows = [1, 1_023, 1_024, 5_000, 300_000, 300_001]
  for (const [i, mid] of rows.entries()) insertMessage.run(mid, insertSession.run(`s${i}`).lastInsertRowid, 'same', i)
  const index = createSearchIndexRows(db)
  while (index.step(1_000)) expect(db.isOpen).toBe(true)
  const found: string[] = []
  let before: string | null | undefined
  do {
    const place = before == null ? {} : { before }
    const page: SearchPage = await reads.search.find({ terms: parseSearch('same'), owner: 'ann', limit: 2, ...place })
    found.push(...page.found.map(({ session }) => session.id))
    before = page.next
  } while (before !== null)

  expect(found).toEqual(['s5', 's4', 's3', 's2', 's1', 's0'])
  close()
})
