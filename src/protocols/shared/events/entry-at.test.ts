import { describe, expect, test } from 'vitest'
import { entryAt } from './event-id.ts'

interface LoggedEntry {
  seq: number
  runId: string
  kind: 'event'
  data: string
  spans?: [number, number][]
}

const entry = (seq: number, spans?: [number, number][]): LoggedEntry => ({
  seq,
  runId: 'r',
  kind: 'event',
  data: '{}',
  ...(spans === undefined ? {} : { spans }),
})

const log = (...entries: LoggedEntry[]) => ({
  entries: async (_session: string, seq: number, limit: number) =>
    entries.filter((one) => one.seq > seq).slice(0, limit),
})

describe('the entry that an event id names', () => {
  test('is found by its seq', async () => {
    expect(await entryAt(log(entry(1), entry(2), entry(5)), 's', 5)).toEqual(entry(5))
  })

  test('is the compacted one that stands for it, also behind others', async () => {
    const compacted = entry(9, [
      [3, 1],
      [5, 2],
      [9, 1],
    ])

    expect(await entryAt(log(entry(2), entry(4), compacted), 's', 3)).toEqual(compacted)
  })

  test.each([0, 3, 6, 1_000])('is gone when the log has no %d', async (seq) => {
    await expect(entryAt(log(entry(1), entry(2), entry(5)), 's', seq)).rejects.toMatchObject({
      code: 'events_gone',
      details: { session_id: 's', snapshot: '/sessions/s/events?after=0' },
    })
  })
})
