import { describe, expect, test } from 'vitest'
import type { StoredMessage } from '../../../domain/session/message.ts'
import type { MessagePage } from '../../../store/ports/messages.ts'
import { listMessages } from './list-messages.ts'

const message = (i: number, chars: number, role: StoredMessage['role'] = 'user'): StoredMessage => ({
  id: `m${i}`,
  role,
  content: 'x'.repeat(chars),
  runId: 'r',
  createdAt: i,
})

function storing(all: readonly StoredMessage[]) {
  const seen = { most: 0, reserved: [] as number[] }
  return {
    seen,
    async page(_session: string, limit: number, { before, maxChars = 0 }: MessagePage = {}) {
      const end = before === undefined ? all.length : all.findIndex(({ id }) => id === before)
      let chars = 0
      const start = all.slice(0, end).findLastIndex(({ content }, i) => {
        chars += content.length
        return chars >= maxChars || end - i === limit
      })
      seen.most = Math.max(seen.most, chars)
      return all.slice(Math.max(0, start), end)
    },
    marks: async (_session: string, ids: readonly string[]) => all.filter(({ id }) => ids.includes(id)),
    async reserve(bytes: number) {
      seen.reserved.push(bytes)
      return () => {}
    },
  }
}

/** All pages from the newest on, as the ids in each. */
async function pagesOf(store: ReturnType<typeof storing>, limit: number): Promise<string[][]> {
  const pages: string[][] = []
  for (let before: string | null | undefined; before !== null; ) {
    const page = { limit, ...(before === undefined ? {} : { before }) }
    const { messages, next } = await listMessages(store, 's', page, store)
    pages.push(messages.map(({ id }) => id))
    before = next
  }
  return pages
}

const idsOf = (all: readonly StoredMessage[]) => all.map(({ id }) => id)

describe('the messages of a session', () => {
  test('come in pages by their number, without waiting for memory', async () => {
    const all = Array.from({ length: 7 }, (_, i) => message(i, 10))
    const store = storing(all)

    expect(await pagesOf(store, 3)).toEqual([['m4', 'm5', 'm6'], ['m1', 'm2', 'm3'], ['m0']])
    expect(await pagesOf(store, 7)).toEqual([idsOf(all)])
    expect(store.seen.reserved).toEqual([])
  })

  test('come in pages of 4 MiB where they are long, each when there is memory for it', async () => {
    const all = Array.from({ length: 100 }, (_, i) => message(i, 95_000))
    const store = storing(all)

    const pages = await pagesOf(store, 1_000)

    expect(pages.map(({ length }) => length)).toEqual([45, 45, 10])
    expect(pages.toReversed().flat()).toEqual(idsOf(all))
    expect(store.seen).toEqual({ most: 45 * 95_000, reserved: Array(3).fill(8 * 1024 * 1024) })
  })

  test('one that is larger than a page is a page', async () => {
    const all = [message(0, 10), message(1, 9_000_000), message(2, 10)]

    expect(await pagesOf(storing(all), 1_000)).toEqual([['m1', 'm2'], ['m0']])
  })

  test('reasoning takes no place, however much of it there is', async () => {
    const all = [
      message(0, 10),
      ...Array.from({ length: 60 }, (_, i) => message(i + 1, 95_000, 'reasoning')),
      message(99, 10),
    ]

    expect(await pagesOf(storing(all), 2)).toEqual([['m0', 'm99']])
    expect((await pagesOf(storing(all), 1_000)).flat()).toEqual(['m99', 'm0'])
  })
})
