import { describe, expect, onTestFinished, test } from 'vitest'
import type { FeedItem } from '../domain/session/feed.ts'
import { createTestClock, openLog, settled } from '../log/testing/open-log.ts'
import { createLocalWake, type Wake } from '../log/wake.ts'
import { create, newSession } from '../store/contract/samples.contract.ts'
import { FEED_MS, type FeedReads } from '../store/ports/feed.ts'
import { createFeed, type Feed } from './feed.ts'

function openFeed({ wake }: { wake?: Wake } = {}) {
  const clock = createTestClock()
  const shared = wake ?? createLocalWake({ clock, pollMs: null })
  const opened = openLog({ clock, wake: shared })
  let reads = 0
  const store: FeedReads = {
    ...opened.store.feed,
    items(...args) {
      reads += 1
      return opened.store.feed.items(...args)
    },
  }
  const feed = createFeed({ store, wake: shared })
  onTestFinished(() => feed.close())
  const grow = async (count = 1) => {
    const sessions = Array.from({ length: count }, () => create(newSession()))
    const committed = sessions.map((command) => opened.log.commit(command))
    await clock.advance(5)
    await settled()
    return committed
  }
  return { ...opened, clock, feed, grow, reads: () => reads }
}

function collect(feed: Feed, after: number) {
  const leaving = new AbortController()
  const shown: FeedItem[] = []
  let end: unknown = null
  const done = (async () => {
    for await (const batch of feed.follow(after, leaving.signal)) shown.push(...batch)
  })().then(
    () => (end = 'ended'),
    (error: { code?: string }) => (end = error.code),
  )
  return {
    numbers: () => shown.map(({ n }) => n),
    leave: async () => {
      leaving.abort()
      await done
    },
    end: () => end,
  }
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

describe('a reader of the feed', () => {
  test('sees every item after its cursor once, in order, then live', async () => {
    const { feed, grow } = openFeed()
    await grow(3)
    const readers = [0, 2, 3].map((after) => collect(feed, after))
    await settled()
    await grow(2)

    expect(readers.map((reader) => reader.numbers())).toEqual([
      [1, 2, 3, 4, 5],
      [3, 4, 5],
      [4, 5],
    ])
  })

  test('shares its reads with others at the same place', async () => {
    const { feed, grow, reads } = openFeed()
    const readers = Array.from({ length: 100 }, () => collect(feed, 0))
    await settled()
    const before = reads()
    await grow()

    expect(readers.map((reader) => reader.numbers())).toEqual(readers.map(() => [1]))
    expect(reads() - before).toBeLessThanOrEqual(4)
  })

  test('does not share a read that began before the news', async () => {
    const slow: PromiseWithResolvers<FeedItem[]>[] = []
    const item = { n: 1 } as FeedItem
    let news = () => {}
    const feed = createFeed({
      store: {
        head: async () => 0,
        oldest: async () => 1,
        items(after) {
          if (after > 0) return new Promise(() => {})
          slow.push(Promise.withResolvers())
          return slow.at(-1)?.promise ?? expect.fail()
        },
      },
      wake: {
        join(_topic, look) {
          news = () => look(null)
          return { notify() {}, leave() {} }
        },
      },
    })
    const first = collect(feed, 0)
    await settled()
    news()
    const second = collect(feed, 0)
    await settled()
    slow[1]?.resolve([item])
    slow[0]?.resolve([])
    await settled()
    slow[2]?.resolve([item])
    await settled()

    expect([first.numbers(), second.numbers()]).toEqual([[1], [1]])
  })

  test('reads nothing while nothing happens', async () => {
    const { feed, grow, reads, clock } = openFeed()
    await grow()
    const reader = collect(feed, 0)
    await settled()
    const before = reads()
    await clock.advance(60_000)

    expect(reads()).toBe(before)
    await grow()
    expect(reader.numbers()).toEqual([1, 2])
  })

  test('is not woken before the items are on disk', async () => {
    const { feed, grow, holdSyncs, sync, reads } = openFeed()
    const reader = collect(feed, 0)
    await settled()
    holdSyncs()
    const before = reads()
    await grow()
    expect([reads(), reader.numbers()]).toEqual([before, []])
    await sync()
    await settled()

    expect(reader.numbers()).toEqual([1])
  })

  test('that is far behind gets all items, a bounded batch at a time', async () => {
    const { feed, grow } = openFeed()
    await grow(2_000)
    const sizes: number[] = []
    let last = 0
    for await (const batch of feed.follow(0, AbortSignal.timeout(600_000))) {
      for (const { n } of batch) expect(n).toBe(++last)
      sizes.push(batch.length)
      if (last === 2_000) break
    }

    expect(Math.max(...sizes)).toBe(256)
  })

  test('goes on after a restart where the last process died before it woke anybody', async () => {
    const clock = createTestClock()
    const lost: Wake = { join: () => ({ notify() {}, leave() {} }) }
    const { feed, grow, store } = openFeed({ wake: lost })
    const reader = collect(feed, 0)
    await settled()
    await grow(2)
    expect(reader.numbers()).toEqual([])
    const next = createFeed({ store: store.feed, wake: createLocalWake({ clock, pollMs: null }) })
    const again = collect(next, 0)
    await settled()

    expect(again.numbers()).toEqual([1, 2])
    next.close()
  })

  test('finds by polling what a lost wake did not tell', async () => {
    const clock = createTestClock()
    const heard = createLocalWake({ clock, pollMs: 1_000 })
    const lossy: Wake = { join: (topic, look) => ({ ...heard.join(topic, look), notify() {} }) }
    const { log, store } = openLog({ clock, wake: lossy })
    const feed = createFeed({ store: store.feed, wake: lossy })
    const reader = collect(feed, 0)
    await settled()
    void log.commit(create(newSession()))
    await clock.advance(10)
    expect(reader.numbers()).toEqual([])
    await clock.advance(1_000)

    expect(reader.numbers()).toEqual([1])
    feed.close()
  })

  test('is told when items after its cursor were removed, or when its cursor was never given out', async () => {
    const { feed, store, log, clock } = openFeed()
    for (const createdAt of [0, 1, FEED_MS]) {
      void log.commit(create(newSession({ createdAt })))
      await clock.advance(5)
    }
    const slow = feed.follow(0, AbortSignal.timeout(600_000))[Symbol.asyncIterator]()
    const early = feed.follow(0, AbortSignal.timeout(600_000))[Symbol.asyncIterator]()
    await early.next()
    const purge = { type: 'purge_sessions', before: null, unlistedBefore: 0, unsentBefore: 0, limit: 10 } as const
    void log.commit({ ...purge, now: 2 * FEED_MS })
    await clock.advance(5)

    expect([await store.feed.oldest(), await store.feed.head()]).toEqual([3, 3])
    await expect(slow.next()).rejects.toMatchObject({ code: 'events_gone', details: { snapshot: '/inbox' } })
    for (const gone of [0, 1, 4]) await expect(feed.assertKept(gone)).rejects.toMatchObject({ code: 'events_gone' })
    for (const kept of [2, 3]) await feed.assertKept(kept)
    await expect(feed.items(1, 10)).rejects.toMatchObject({ code: 'events_gone' })
  })

  test('leaves nothing behind, and ends when the feed is closed', async () => {
    const { feed, grow, reads } = openFeed()
    const [leaver, other] = [collect(feed, 0), collect(feed, 0)]
    await settled()
    await leaver.leave()
    const before = reads()
    await grow()
    expect([leaver.numbers(), other.numbers(), reads() - before]).toEqual([[], upTo(1), 2])
    feed.close()
    await settled()

    expect([leaver.end(), other.end()]).toEqual(['ended', 'ended'])
  })
})
