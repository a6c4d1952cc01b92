import { describe, expect, test } from 'vitest'
import type { StoredMessage } from '../../domain/message.ts'
import type { SessionRecord } from '../../domain/session.ts'
import { sessionSnapshot } from './session-snapshot.ts'

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

function storing(all: StoredMessage[]) {
  let reads = 0
  return {
    messages: async (_session: string, limit: number, before?: string) => {
      reads += 1
      const end = before === undefined ? all.length : all.findIndex(({ id }) => id === before)
      return all.slice(Math.max(0, end - limit), end)
    },
    reads: () => reads,
  }
}

const ids = (event: { messages: { id: string }[] }) => event.messages.map(({ id }) => id)

describe('the snapshot of a session', () => {
  test('has all messages, oldest first, however many pages they take', async () => {
    const all = Array.from({ length: 450 }, (_, i) => message(i, 'x'))

    const event = await sessionSnapshot(storing(all), session(450), 7)

    expect(ids(event)).toEqual(all.map(({ id }) => id))
    expect([event.timestamp, event.metadata]).toEqual([7, undefined])
  })

  test('has the newest that fit, and says how many are older', async () => {
    const all = Array.from({ length: 1_000 }, (_, i) => message(i, 'x'.repeat(20_000)))
    const engine = storing(all)

    const event = await sessionSnapshot(engine, session(1_000), 7)

    const shown = ids(event).length
    expect(ids(event)).toEqual(all.slice(-shown).map(({ id }) => id))
    expect(event.metadata).toEqual({ quarterdeck: { truncated: 1_000 - shown } })
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(4.1 * 1024 * 1024)
    expect(Buffer.byteLength(JSON.stringify(event))).toBeGreaterThan(3.9 * 1024 * 1024)
    expect(engine.reads()).toBeLessThan(4)
  })

  test('leaves out what it is told to', async () => {
    const all = Array.from({ length: 4 }, (_, i) => message(i, 'x'))

    const event = await sessionSnapshot(storing(all), session(4), 7, ({ runId }) => runId === 'odd')

    expect([ids(event), event.metadata]).toEqual([['m0', 'm2'], undefined])
  })

  test('is empty for a session without messages', async () => {
    expect(await sessionSnapshot(storing([]), session(0), 7)).toEqual({
      type: 'MESSAGES_SNAPSHOT',
      messages: [],
      timestamp: 7,
    })
  })
})
