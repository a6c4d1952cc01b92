import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { entryAt, formatEventId, parseCursor, parseEventId } from './event-id.ts'

const session = '0192f3a1-7b2c-7def-8abc-0123456789ab'
const other = '0192f3a1-7b2c-7def-8abc-ffffffffffff'

describe('an event id', () => {
  test('is read back as it was written', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat({ max: Number.MAX_SAFE_INTEGER }), (sessionId, seq) => {
        expect(parseEventId(formatEventId({ sessionId, seq }))).toEqual({ sessionId, seq })
      }),
    )
  })

  test('may spell the session as a UUID', () => {
    expect(parseEventId(`${session.toUpperCase()}.7`)).toEqual({ sessionId: session, seq: 7 })
  })

  test.each([
    '',
    '.',
    '7',
    session,
    `${session}.`,
    `${session}.-1`,
    `${session}.01`,
    `${session}.1e3`,
    `${session}.1.5`,
    `${session}.9007199254740992`,
    `${session} .1`,
    `${session}. 1`,
    'thread-1.4',
    '8ZZZZZZZZZZZZZZZZZZZZZZZZZ.1',
  ])('is malformed as %j', (text) => {
    expect(() => parseEventId(text)).toThrow(expect.objectContaining({ code: 'malformed_id' }))
  })

  test('is never anything but read or refused', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        try {
          parseEventId(text)
        } catch (error) {
          expect(error).toBeInstanceOf(ServerError)
        }
      }),
    )
  })
})

describe('a cursor', () => {
  test('may be a bare number of the session', () => {
    expect(parseCursor('42', session)).toEqual({ sessionId: session, seq: 42 })
  })

  test('keeps the session that a whole id names', () => {
    expect(parseCursor(formatEventId({ sessionId: other, seq: 3 }), session)).toEqual({ sessionId: other, seq: 3 })
  })

  test('is malformed otherwise', () => {
    expect(() => parseCursor('-1', session)).toThrow(expect.objectContaining({ code: 'malformed_id' }))
  })
})

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
