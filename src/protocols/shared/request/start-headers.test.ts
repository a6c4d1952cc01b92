import { describe, expect, test } from 'vitest'
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
