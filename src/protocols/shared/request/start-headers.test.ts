import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { LongText } from '../../../http/body/long-text.ts'
import { askedBy, digestOf } from './start-headers.ts'

const principal = { owner: 'ada', role: 'user', hasToken: true } as const
const request = (headers: Record<string, string>) => ({
  path: '/x',
  header: (name: string) => headers[name],
  principal,
  correlationId: 'c-1',
})

describe('what is asked', () => {
  test('names who asks and for which request, and nothing that was not sent', () => {
    expect(askedBy(request({}), {})).toEqual({ correlationId: 'c-1', owner: 'ada' })
  })

  test('has the groups of the caller and the only agent of their token', () => {
    const limited = { ...principal, groups: ['crew'], agent: 'cook' }
    expect(askedBy({ ...request({}), principal: limited }, {})).toEqual({
      correlationId: 'c-1',
      owner: 'ada',
      groups: ['crew'],
      onlyAgent: 'cook',
    })
  })
})

describe('X-On-Busy', () => {
  test.each(['queue', 'reject', 'interrupt'])('takes %s', (value) => {
    expect(askedBy(request({ 'x-on-busy': value }), {}).onBusy).toBe(value)
  })

  test.each(['', 'QUEUE', 'wait', 'queue, reject'])('refuses %j', (value) => {
    expect(() => askedBy(request({ 'x-on-busy': value }), {})).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        problems: [{ pointer: 'X-On-Busy', detail: 'Send queue, reject or interrupt, or leave the header out.' }],
      }),
    )
  })
})

describe('Idempotency-Key', () => {
  test('binds the key to the path and the body', () => {
    expect(askedBy(request({ 'idempotency-key': 'k-1' }), { b: 1, a: 2 }).idempotency).toEqual({
      key: 'k-1',
      digest: digestOf(['/x', { a: 2, b: 1 }]),
    })
  })

  test('takes 255 characters and no more', () => {
    expect(askedBy(request({ 'idempotency-key': 'k'.repeat(255) }), {}).idempotency?.key).toHaveLength(255)
    expect(() => askedBy(request({ 'idempotency-key': 'k'.repeat(256) }), {})).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })

  test.each(['', ' ', 'a\u0001', 'schlüssel'])('refuses %j', (key) => {
    expect(() => askedBy(request({ 'idempotency-key': key }), {})).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })
})

describe('digest of a JSON value', () => {
  test('does not depend on the order of keys, at any depth', () => {
    expect(digestOf({ a: 1, b: { c: [1, { d: 2, e: 3 }] } })).toBe(digestOf({ b: { c: [1, { e: 3, d: 2 }] }, a: 1 }))
  })

  test('depends on the order of a list, on types and on every value', () => {
    const digests = [[1, 2], [2, 1], ['1', 2], [1, 2, null], { 0: 1, 1: 2 }].map(digestOf)

    expect(new Set(digests).size).toBe(digests.length)
  })

  test('counts a key called __proto__ like any other', () => {
    expect(digestOf(JSON.parse('{"__proto__":1}'))).not.toBe(digestOf({}))
  })
})

test('tells long texts apart', () => {
  const long = (end: string) => ({ files: [{ content: 'x'.repeat(1_000_000) + end }] })

  expect(digestOf(long('a'))).toBe(digestOf(long('a')))
  expect(digestOf(long('a'))).not.toBe(digestOf(long('b')))
})

test('does not depend on whether a long text is in memory', () => {
  const text = 'A'.repeat(70_000)
  const sha256 = createHash('sha256').update(text).digest('hex')
  const onDisk = new LongText({ chars: text.length, head: '', ending: 'AA', sha256, fill: async () => {} })

  expect(digestOf({ files: [{ content: onDisk }] })).toBe(digestOf({ files: [{ content: text }] }))
})
