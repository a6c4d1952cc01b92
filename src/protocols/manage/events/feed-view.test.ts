import { expect, test } from 'vitest'
import { parseCursor } from './feed-view.ts'

const ulid = '01J9ZQ3V6K8R2T4Y7B5N0M1C3D'
const sessionId = '01927f71-ecd3-4605-a13c-4b2b68030463'

test('a cursor names a place in the feed and one in each session', () => {
  expect(parseCursor('f.0')).toEqual({ feed: 0, sessions: [] })
  expect(parseCursor(`f.12,${ulid}.0`)).toEqual({ feed: 12, sessions: [{ sessionId: expect.any(String), seq: 0 }] })
  expect(parseCursor(`f.12,${sessionId}.7`).sessions).toEqual([{ sessionId, seq: 7 }])
})

test.each([
  ['nothing', ''],
  ['a bare number', '12'],
  ['a number with zeros before it', 'f.012'],
  ['a number that is too large', 'f.1234567890123456'],
  ['an event id alone', `${ulid}.1`],
  ['a session without a number', `f.1,${ulid}`],
  ['too many sessions', ['f.1', ...Array.from({ length: 9 }, () => `${ulid}.1`)].join(',')],
  ['a long text', `f.1,${'x'.repeat(100_000)}`],
])('%s is not a cursor', (_what, text) => {
  expect(() => parseCursor(text)).toThrow(expect.objectContaining({ code: 'malformed_id' }))
})
