import { describe, expect, test } from 'vitest'
import { ALL_SEEN, NOTHING_SEEN } from '../seen/seen.ts'
import { lockReason, needsDialog, whyNotYours } from './approve-lock.ts'
import { lookedAt, notSeenText } from './looked-at.ts'

describe('a yes', () => {
  const free = { risk: 'low', seen: ALL_SEEN, isSettled: true, isLive: true, hasSaidYes: false } as const

  test('is possible once everything is in order', () => {
    expect(lockReason(free)).toBe(null)
    expect(lockReason({ ...free, risk: 'critical' })).toBe(null)
  })

  test('waits for the end of what is dangerous', () => {
    expect(lockReason({ ...free, seen: NOTHING_SEEN })).toBe(null)
    expect(lockReason({ ...free, risk: 'high', seen: NOTHING_SEEN })).toMatch('Scroll to the end')
    expect(lockReason({ ...free, risk: 'critical', seen: { hasEnd: false, fraction: 0.9 } })).toMatch('Scroll')
  })

  test('waits for the connection, for the eye and for other people', () => {
    expect(lockReason({ ...free, isLive: false })).toMatch('Not connected')
    expect(lockReason({ ...free, isSettled: false })).toMatch('One moment')
    expect(lockReason({ ...free, hasSaidYes: true })).toMatch('Somebody else')
  })

  test('is an operator’s, or of the owner who has shown a token where the agent allows it', () => {
    const [owners, operators] = [{ answerable_by: 'owner' }, { answerable_by: 'operator' }] as const
    expect(whyNotYours(operators, { role: 'operator' })).toBe(null)
    expect(whyNotYours(owners, { role: 'user' })).toBe(null)
    expect(whyNotYours(operators, { role: 'user' })).toMatch('An operator')
    expect(whyNotYours(owners, { role: 'anyone' })).toMatch('sign in')
    expect(whyNotYours(operators, { role: 'anyone' })).toMatch('An operator')
  })

  test('is asked for once more if it is critical, or if something of a high risk was not looked at', () => {
    const [whole, part] = [{ whole: true }, { whole: false }]
    expect((['low', 'high', 'critical'] as const).map((risk) => needsDialog({ risk }, whole))).toEqual([
      ...[false, false, true],
    ])
    expect((['low', 'high', 'critical'] as const).map((risk) => needsDialog({ risk }, part))).toEqual([
      ...[false, true, true],
    ])
  })
})

describe('what was looked at', () => {
  const part = { name: 'body', bytes: 1_000_000, loadedBytes: 200_000, seen: ALL_SEEN }

  test('is everything, or names what was not', () => {
    expect(lookedAt([{ ...part, loadedBytes: 1_000_000 }])).toEqual({ whole: true })
    expect(lookedAt([part])).toEqual({ whole: false, not_seen: [{ name: 'body', shown: 200_000, total: 1_000_000 }] })
    expect(lookedAt([{ ...part, loadedBytes: 1_000_000, seen: { hasEnd: true, fraction: 0.5 } }])).toEqual({
      whole: false,
      not_seen: [{ name: 'body', shown: 500_000, total: 1_000_000 }],
    })
  })

  test('is never rounded up to all of it', () => {
    const almost = { name: 'a', bytes: 10, loadedBytes: 10, seen: { hasEnd: true, fraction: 0.999 } }
    expect(lookedAt([almost]).not_seen).toEqual([{ name: 'a', shown: 9, total: 10 }])
  })

  test('is said before the yes', () => {
    expect(notSeenText({ whole: true })).toBe(null)
    expect(notSeenText(lookedAt([part]))).toBe('You have not looked at 800 kB of body. The audit trail will say so.')
  })
})
