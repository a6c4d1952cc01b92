import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { LongText } from '../../../http/body/long-text.ts'
import { digestOf } from './start-headers.ts'

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
