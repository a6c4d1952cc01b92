import type { Session } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { createSessionList } from './session-list.ts'

const row = (id: string, minute: number): Session => {
  const at = new Date(Date.UTC(2026, 10, 16, 6, minute)).toISOString()
  return {
    ...{ session_id: id, owner: 'ada', agent: 'assistant', title: id, kind: 'chat', status: 'open' },
    ...{ updated_at: at, last_activity: at, created_at: at, user_id: 'ada', message_count: 1, pending: 0, tokens: 0 },
  }
}

const PAGE = 2
const settled = () => new Promise((resolve) => setTimeout(resolve))

/** A server with sessions, newest first, in pages of two. */
function open(sessions: Session[], isNewestFirst = true) {
  const server = { sessions, isAway: false }
  const list = createSessionList(isNewestFirst, async (before) => {
    if (server.isAway) throw new Error('away')
    const from = before === null ? 0 : server.sessions.findIndex(({ session_id }) => session_id === before) + 1
    const page = server.sessions.slice(from, from + PAGE)
    const last = page.at(-1)?.session_id ?? null
    const total = before === null ? server.sessions.length : null
    return { sessions: page, total, next: from + PAGE < server.sessions.length ? last : null }
  })
  list.refetch()
  const ids = () => list.current().rows.map(({ session_id }) => session_id)
  return { server, list, ids }
}

test('pages follow one another until there are no more', async () => {
  const { list, ids } = open([row('a', 5), row('b', 4), row('c', 3)])
  await settled()
  expect(list.current().hasMore).toBe(true)
  list.loadMore()
  list.loadMore()
  await settled()

  expect(ids()).toEqual(['a', 'b', 'c'])
  expect(list.current()).toMatchObject({ hasMore: false, isLoadingMore: false })
})

test('a new session comes first, and what was loaded stays', async () => {
  const { server, list, ids } = open([row('a', 5), row('b', 4), row('c', 3), row('d', 2), row('e', 1)])
  await settled()
  list.loadMore()
  await settled()
  server.sessions = [row('new', 9), ...server.sessions]
  list.refresh(new Set(['new']))
  await settled()

  expect(ids()).toEqual(['new', 'a', 'b', 'c', 'd'])
  list.loadMore()
  await settled()
  expect(ids()).toEqual(['new', 'a', 'b', 'c', 'd', 'e'])
})

test('a session that no longer fits or is gone leaves the list', async () => {
  const { server, list, ids } = open([row('a', 5), row('b', 4), row('c', 3), row('d', 2), row('e', 1)])
  await settled()
  list.loadMore()
  await settled()
  server.sessions = server.sessions.filter(({ session_id }) => session_id !== 'a' && session_id !== 'd')
  list.refresh(new Set(['d']))
  await settled()

  expect(ids()).toEqual(['b', 'c'])
})

test('without the server the last rows stay', async () => {
  const { server, list, ids } = open([row('a', 5)])
  await settled()
  server.isAway = true
  list.refresh(new Set())
  await settled()

  expect(ids()).toEqual(['a'])
  expect(list.current()).toMatchObject({ status: 'ready', error: new Error('away') })
})

test('in another order rows stay where they are, with what is new about them', async () => {
  const { server, list, ids } = open([row('a', 1), row('b', 2), row('c', 3)], false)
  await settled()
  list.loadMore()
  await settled()
  server.sessions = [row('b', 9), { ...row('a', 1), title: 'A' }, row('d', 2), row('e', 2)]
  list.refresh(new Set(['c']))
  await settled()

  expect(ids()).toEqual(['a', 'b'])
  expect(list.current()).toMatchObject({ total: 4, rows: [{ title: 'A' }, {}] })
})

test('what a person does here is seen at once', async () => {
  const { list, ids } = open([row('a', 5), row('b', 4), row('c', 3)])
  await settled()
  list.change('b', { title: 'Named' })
  list.remove('a')

  expect(ids()).toEqual(['b'])
  expect(list.current()).toMatchObject({ total: 2, rows: [{ title: 'Named' }] })
})
