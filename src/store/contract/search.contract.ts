import { describe, expect, test } from 'vitest'
import type { StoredMessage } from '../../domain/session/message.ts'
import { parseSearch } from '../../domain/session/search-words.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { SearchQuery } from '../ports/search.ts'
import type { Store } from '../store.ts'
import {
  accept,
  acceptedRun,
  beforeAndAfter,
  create,
  done,
  finish,
  NOW,
  newMessage,
  newSession,
  type OpenStore,
  openForTest,
  remove,
  searchAll,
  supervisionSample,
} from './samples.contract.ts'

/** Messages of a finished run, each a second after the one before. */
async function said(
  store: Store,
  contents: readonly (string | Partial<StoredMessage>)[],
  values: Partial<SessionRecord> & { at?: number } = {},
): Promise<SessionRecord> {
  const { at = NOW, ...more } = values
  const session = newSession(more)
  const run = await acceptedRun(store, accept(session))
  const messages = contents.map((content, i) =>
    newMessage(`m${i}`, { createdAt: at + i * 1_000, ...(typeof content === 'string' ? { content } : content) }),
  )
  await done(store, finish(run, { messages }))
  return session
}

const queryOf = (text: string, values: Partial<SearchQuery> = {}): SearchQuery => ({
  terms: parseSearch(text),
  limit: 10,
  ...values,
})
const search = (store: Store, text: string, values: Partial<SearchQuery> = {}) =>
  store.search.find(queryOf(text, values))

/** Ids of the sessions and messages that were found. */
async function foundBy(store: Store, text: string, values: Partial<SearchQuery> = {}) {
  const found = await searchAll(store, queryOf(text, values))
  return found.map(({ session, hits }) => [session.id, ...hits.map(({ messageId }) => messageId)])
}

export function describeSearch(open: OpenStore): void {
  describe('search', () => {
    test('finds words, phrases and beginnings, whatever their case and accents, also after a restart', async () => {
      const { store: first, reopen } = await openForTest(open)
      const { id } = await said(first, ['Der Zug nach Zürich fährt um acht', 'The train to Zug'])

      for await (const store of beforeAndAfter(first, reopen)) {
        expect(await foundBy(store, 'zurich')).toEqual([[id, 'm0']])
        expect(await foundBy(store, 'ZÜRICH zug ')).toEqual([[id, 'm0']])
        expect(await foundBy(store, '"zug nach"')).toEqual([[id, 'm0']])
        expect(await foundBy(store, '"nach zug"')).toEqual([])
        expect(await foundBy(store, 'zür* acht')).toEqual([[id, 'm0']])
        expect(await foundBy(store, 'trai')).toEqual([[id, 'm1']])
        expect(await foundBy(store, 'trai ')).toEqual([])
        expect(await foundBy(store, 'zug')).toEqual([[id, 'm1', 'm0']])
        expect(await foundBy(store, 'zug missing')).toEqual([])
      }
    })

    test('finds text of scripts without blanks', async () => {
      const { store } = await openForTest(open)
      const { id } = await said(store, ['明日は東京で会議です', '서울에서 만나요', 'พบกันที่กรุงเทพ'])

      expect(await foundBy(store, '東京')).toEqual([[id, 'm0']])
      expect(await foundBy(store, '京東')).toEqual([])
      expect(await foundBy(store, '会')).toEqual([[id, 'm0']])
      expect(await foundBy(store, '서울')).toEqual([[id, 'm1']])
      expect(await foundBy(store, 'กรุงเทพ')).toEqual([[id, 'm2']])
    })

    test('finds tools by their names and the beginning of their results, and nothing that only models see', async () => {
      const { store } = await openForTest(open)
      const call = { id: 'c', type: 'function' as const, function: { name: 'send_mail', arguments: '{"to":"hidden"}' } }
      const { id } = await said(store, [
        { role: 'assistant', content: '', toolCalls: [call] },
        { role: 'tool', toolCallId: 'c', content: `delivered ${'x '.repeat(5_000)}late` },
        { role: 'reasoning', content: 'pondering' },
        { role: 'system', content: 'secretly' },
        { role: 'user', content: [{ type: 'text', text: 'structured' }] },
      ])

      expect(await foundBy(store, 'send_mail ')).toEqual([[id, 'm0']])
      expect(await foundBy(store, 'delivered ')).toEqual([[id, 'm1']])
      expect(await foundBy(store, 'structured ')).toEqual([[id, 'm4']])
      for (const word of ['hidden', 'late', 'pondering', 'secretly']) expect(await foundBy(store, word)).toEqual([])
    })

    test('shows a part of the text with what was found in it', async () => {
      const { store } = await openForTest(open)
      const session = await said(store, [`${'before '.repeat(40)}a\u202E needle ${'after '.repeat(80)}needle`])
      const [one, ...others] = await searchAll(store, queryOf('needle'))

      expect(others).toEqual([])
      const { id, ...record } = (await store.sessions.get(session.id)) ?? expect.fail('there is no session')
      expect(one?.session).toEqual({ id, ...record, state: undefined })
      const [hit] = one?.hits ?? []
      expect(hit).toMatchObject({ messageId: 'm0', role: 'user', at: NOW })
      expect(hit?.marks.map(([from, to]) => hit.text.slice(from, to))).toEqual(['needle'])
      expect(hit?.text).toMatch(/^…before .*a<U\+202E> needle after.*after…$/)
      expect(hit?.text.length).toBeLessThan(300)
    })

    test('shows the newest three hits of a session', async () => {
      const { store } = await openForTest(open)
      const { id } = await said(store, ['same', 'same', 'same', 'same'])

      expect(await foundBy(store, 'same')).toEqual([[id, 'm3', 'm2', 'm1']])
    })

    test('finds agents elsewhere by title and prompt, before everything that was said, and follows a change', async () => {
      const { store } = await openForTest(open)
      const supervision = { ...supervisionSample, title: 'Checkout rework', prompt: 'Make the cart faster' }
      const elsewhere = newSession({ supervision })
      await done(store, create(elsewhere))
      const chat = await said(store, ['Is the checkout done?'])

      expect(await foundBy(store, 'checkout')).toEqual([
        [elsewhere.id, null],
        [chat.id, 'm0'],
      ])
      expect(await foundBy(store, 'cart faster')).toEqual([[elsewhere.id, null]])
      await done(store, {
        type: 'supervise',
        sessionId: elsewhere.id,
        now: NOW,
        version: 0,
        supervision: { title: 'Basket' },
        owner: 'bob',
      })
      expect(await foundBy(store, 'checkout', { owner: 'bob' })).toEqual([])
      expect(await foundBy(store, 'basket', { owner: 'bob' })).toEqual([[elsewhere.id, null]])
      expect(await foundBy(store, 'basket', { owner: 'ann' })).toEqual([])
    })

    test('is narrowed by owner, agent and time', async () => {
      const { store } = await openForTest(open)
      const ann = await said(store, ['plan'], { at: NOW })
      const bob = await said(store, ['plan'], { owner: 'bob', agent: 'other', at: NOW + 60_000 })

      expect(await foundBy(store, 'plan')).toEqual([
        [bob.id, 'm0'],
        [ann.id, 'm0'],
      ])
      expect(await foundBy(store, 'plan', { owner: 'ann' })).toEqual([[ann.id, 'm0']])
      expect(await foundBy(store, 'plan', { owner: 'eve' })).toEqual([])
      expect(await foundBy(store, 'plan', { agent: 'other' })).toEqual([[bob.id, 'm0']])
      expect(await foundBy(store, 'plan', { since: NOW + 60_000 })).toEqual([[bob.id, 'm0']])
      expect(await foundBy(store, 'plan', { until: NOW + 59_999 })).toEqual([[ann.id, 'm0']])
    })

    test('gives every session once, page by page', async () => {
      const { store } = await openForTest(open)
      const title = newSession({ supervision: { ...supervisionSample, title: 'apple' } })
      await done(store, create(title))
      const ids = [title.id]
      for (let i = 0; i < 7; i += 1) {
        ids.splice(1, 0, (await said(store, ['apple', 'pear', 'apple'], { at: NOW + i * 10_000 })).id)
      }
      const paged: string[] = []
      let before: string | null = null
      let pages = 0
      do {
        const page: Awaited<ReturnType<typeof search>> = await search(store, 'apple', {
          limit: 3,
          before: before ?? undefined,
        })
        paged.push(...page.found.map(({ session }) => session.id))
        before = page.next
        pages += 1
      } while (before !== null && pages < 20)

      expect(paged).toEqual(ids)
    })

    test('leaves out what was deleted, superseded or is not listed', async () => {
      const { store, reopen } = await openForTest(open)
      const gone = await said(store, ['walnut'])
      await said(store, ['walnut'], { unlisted: true })
      const kept = await said(store, ['walnut'])
      expect(await foundBy(store, 'walnut')).toEqual([
        [kept.id, 'm0'],
        [gone.id, 'm0'],
      ])
      await done(store, remove(gone.id))
      expect(await foundBy(store, 'walnut')).toEqual([[kept.id, 'm0']])
      // The newest messages went, and others take their place.
      await done(store, remove(kept.id))
      const again = await said(store, ['hazel'])
      for await (const one of beforeAndAfter(store, reopen)) {
        expect(await foundBy(one, 'walnut')).toEqual([])
        expect(await foundBy(one, 'hazel')).toEqual([[again.id, 'm0']])
      }
    })

    test('takes any text for a query, and finds nothing where there is no word', async () => {
      const { store } = await openForTest(open)
      const { id } = await said(store, ['a AND b OR near c'])

      for (const text of [
        '',
        '"',
        '*',
        '^',
        '{}',
        '- + :',
        "'; DROP TABLE",
        'body : x',
        '((',
        '\u0000',
        '"""',
        'NOT',
      ]) {
        await search(store, text)
      }
      expect(await foundBy(store, '"')).toEqual([])
      expect(await foundBy(store, 'AND OR NEAR( "c')).toEqual([[id, 'm0']])
      expect(await foundBy(store, 'near', { before: 'nonsense' })).toEqual([])
    })
  })
}
