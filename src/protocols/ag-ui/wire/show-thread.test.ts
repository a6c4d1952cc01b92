import { describe, expect, test } from 'vitest'
import type { StoredMessage } from '../../../domain/session/message.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { MessagePage } from '../../../store/ports/messages.ts'
import { sessionSnapshot } from './show-thread.ts'

const session = (messageCount: number): SessionRecord => ({
  id: 's',
  owner: 'ada',
  agent: 'a',
  activeAgent: null,
  status: 'active',
  createdAt: 0,
  lastActivity: 0,
  terminatedAt: null,
  lastTool: null,
  metadata: {},
  alias: null,
  messageCount,
  state: undefined,
  unlisted: false,
})

const message = (i: number, content: string): StoredMessage => ({
  id: `m${i}`,
  role: 'user',
  content,
  runId: i % 2 === 0 ? 'even' : 'odd',
  createdAt: i,
})

/** What was read, in characters, and the memory that was asked for. */
function storing(all: StoredMessage[]) {
  const seen = { chars: 0, reserved: [] as number[], left: 0 }
  return {
    seen,
    page: async (_session: string, limit: number, { before, maxChars = 0 }: MessagePage = {}) => {
      const end = before === undefined ? all.length : all.findIndex(({ id }) => id === before)
      let chars = 0
      const start = all.slice(0, end).findLastIndex(({ content, toolCalls = [] }, i) => {
        chars += content.length + JSON.stringify(toolCalls).length
        return chars >= maxChars || end - i === limit
      })
      seen.chars += chars
      return all.slice(Math.max(0, start), end)
    },
    async reserve(bytes: number) {
      expect(seen.chars).toBeLessThan(200_000)
      seen.reserved.push(bytes)
      return () => {
        seen.left += 1
      }
    },
  }
}

async function snapshot(
  engine: ReturnType<typeof storing>,
  count: number,
  omit: (message: StoredMessage) => boolean = () => false,
) {
  const { reserve } = engine
  return sessionSnapshot(engine, session(count), {
    timestamp: 7,
    reserve,
    fileUrls: async () => String,
    omit,
  })
}

const ids = (event: { messages: { id: string }[] }) => event.messages.map(({ id }) => id)

describe('the snapshot of a session', () => {
  test('has all messages, oldest first, however many pages they take', async () => {
    const all = Array.from({ length: 450 }, (_, i) => message(i, 'x'))

    const engine = storing(all)
    const { event } = await snapshot(engine, 450)

    expect(ids(event)).toEqual(all.map(({ id }) => id))
    expect([event.timestamp, event.metadata]).toEqual([7, undefined])
    expect(engine.seen.reserved).toEqual([])
  })

  test('has the newest that fit, and says how many are older', async () => {
    const all = Array.from({ length: 1_000 }, (_, i) => message(i, 'x'.repeat(20_000)))
    const engine = storing(all)

    const { event, release } = await snapshot(engine, 1_000)

    const shown = ids(event).length
    expect(ids(event)).toEqual(all.slice(-shown).map(({ id }) => id))
    expect(event.metadata).toEqual({ quarterdeck: { truncated: 1_000 - shown } })
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(4.1 * 1024 * 1024)
    expect(Buffer.byteLength(JSON.stringify(event))).toBeGreaterThan(3.9 * 1024 * 1024)
    // Nothing is read that is not shown, and little before there is memory for it.
    expect(engine.seen.chars).toBeLessThan(4.4 * 1024 * 1024)
    expect(engine.seen.reserved).toEqual([8 * 1024 * 1024])
    release()
    expect(engine.seen.left).toBe(1)
  })

  test('reads no more where the length is in the calls', async () => {
    const call = { id: 'c', type: 'function' as const, function: { name: 'write', arguments: 'x'.repeat(20_000) } }
    const all = Array.from({ length: 1_000 }, (_, i) => ({
      ...message(i, ''),
      role: 'assistant' as const,
      toolCalls: [call],
    }))
    const engine = storing(all)

    const { event } = await snapshot(engine, 1_000)

    expect(event.metadata).toEqual({ quarterdeck: { truncated: 1_000 - ids(event).length } })
    expect(engine.seen.chars).toBeLessThan(4.4 * 1024 * 1024)
    expect(engine.seen.reserved).toEqual([8 * 1024 * 1024])
  })

  test('leaves out what it is told to', async () => {
    const all = Array.from({ length: 4 }, (_, i) => message(i, 'x'))

    const { event } = await snapshot(storing(all), 4, ({ runId }) => runId === 'odd')

    expect([ids(event), event.metadata]).toEqual([['m0', 'm2'], undefined])
  })

  test('is empty for a session without messages', async () => {
    expect((await snapshot(storing([]), 0)).event).toEqual({
      type: 'MESSAGES_SNAPSHOT',
      messages: [],
      timestamp: 7,
    })
  })
})
