import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../domain/logger.ts'
import type { FeedItem } from '../../../domain/session/feed.ts'
import type { Feed } from '../../../engine/feed.ts'
import type { ByteStream } from '../../../http/route.ts'
import { streamFeed } from './stream-feed.ts'

const item = (n: number): FeedItem => ({
  n,
  at: 0,
  kind: 'session',
  id: 's',
  sessionId: 's',
  owner: 'ada',
  agent: 'tester',
  status: 'active',
})

/** A feed that gives these batches and then ends as it does when the server stops. */
const feedOf = (batches: readonly FeedItem[][]): Feed => ({
  oldest: async () => 1,
  head: async () => 0,
  assertKept: async () => {},
  items: async () => [],
  close() {},
  async *follow() {
    yield* batches
  },
})

const engine = {
  runs: { async *follow() {} },
  sessions: { readLog: () => expect.fail('no session is read') },
}

async function streamed(feed: Feed, stream: ByteStream, wants: (item: FeedItem) => boolean = () => true) {
  const reader = { stream, signal: new AbortController().signal, log: silentLogger }
  await streamFeed({ feed, engine }, { after: 0, sessions: [], wants, looks: null, owner: 'ada' }, reader)
}

describe('a stream of the feed', () => {
  test('waits for a reader that is slow', async () => {
    let isBlocked = false
    let writes = 0
    const stream: ByteStream = {
      write() {
        expect(isBlocked).toBe(false)
        isBlocked = true
        writes += 1
        return new Promise((resolve) => {
          setImmediate(() => {
            isBlocked = false
            resolve()
          })
        })
      },
      end() {},
      drop() {},
    }
    await streamed(feedOf([[item(1)], [item(2), item(3)], [item(4)]]), stream)

    expect(writes).toBe(5)
  })

  test('gives a reader that wants little a new cursor now and then', async () => {
    const sent: string[] = []
    const stream: ByteStream = {
      write(chunk) {
        sent.push(...String(chunk).split('\n\n').filter(Boolean))
        return undefined
      },
      end() {},
      drop() {},
    }
    const many = Array.from({ length: 2_500 }, (_, i) => item(i + 1))
    await streamed(feedOf([many]), stream, ({ n }) => n === 1_500)

    expect(sent.map((frame) => frame.split('\n')[0])).toEqual([
      'id: f.0',
      'id: f.1000',
      'id: f.1500',
      'id: f.2500',
      expect.stringContaining('shutting_down'),
    ])
  })
})
