import { describe, expect, test } from 'vitest'
import { digestOf, idempotencyOf, onBusyOf } from './start-headers.ts'

const request = (headers: Record<string, string>) => ({ path: '/x', header: (name: string) => headers[name] })

describe('X-On-Busy', () => {
  test.each(['queue', 'reject', 'interrupt'])('takes %s', (value) => {
    expect(onBusyOf(request({ 'x-on-busy': value }))).toBe(value)
  })

  test('is absent without the header', () => {
    expect(onBusyOf(request({}))).toBeUndefined()
  })

  test.each(['', 'QUEUE', 'wait', 'queue, reject'])('refuses %j', (value) => {
    expect(() => onBusyOf(request({ 'x-on-busy': value }))).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        problems: [{ pointer: 'X-On-Busy', detail: 'Send queue, reject or interrupt, or leave the header out.' }],
      }),
    )
  })
})

describe('Idempotency-Key', () => {
  test('binds the key to the path and the body', () => {
    expect(idempotencyOf(request({ 'idempotency-key': 'k-1' }), { b: 1, a: 2 })).toEqual({
      key: 'k-1',
      digest: digestOf(['/x', { a: 2, b: 1 }]),
    })
  })

  test('is absent without the header', () => {
    expect(idempotencyOf(request({}), {})).toBeUndefined()
  })

  test('takes 255 characters and no more', () => {
    expect(idempotencyOf(request({ 'idempotency-key': 'k'.repeat(255) }), {})?.key).toHaveLength(255)
    expect(() => idempotencyOf(request({ 'idempotency-key': 'k'.repeat(256) }), {})).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })

  test.each(['', ' ', 'a\u0001', 'schlüssel'])('refuses %j', (key) => {
    expect(() => idempotencyOf(request({ 'idempotency-key': key }), {})).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })
})
