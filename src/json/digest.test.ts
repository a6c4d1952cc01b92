import { describe, expect, test } from 'vitest'
import { callDigest, canonicalJson, sha256 } from './digest.ts'

describe('canonical JSON', () => {
  test('is the same text for the same value, whatever the order of the keys', () => {
    const one = canonicalJson({ b: [1, { d: null, c: 'x' }], a: true })
    expect(one).toBe('{"a":true,"b":[1,{"c":"x","d":null}]}')
    expect(canonicalJson({ a: true, b: [1, { c: 'x', d: null }] })).toBe(one)
  })

  test('leaves out what JSON leaves out, and keeps the order of lists', () => {
    expect(canonicalJson({ a: undefined, b: [2, undefined, 1] })).toBe('{"b":[2,null,1]}')
    expect(canonicalJson(undefined)).toBe('null')
  })

  test('is JSON that reads back as the same value, whatever the names are', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":"\\u2028\\"","":[{}]}')
    expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value))
    expect(canonicalJson(value)).toContain('"__proto__":{"a":1}')
  })
})

test('the hash is SHA-256 in hex', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

describe('the digest of a call', () => {
  const call = { callId: 'c1', tool: 'send', arguments: { to: 'ann', text: 'hi' }, policyVersion: 'v1' }

  test('does not depend on the order of the arguments', () => {
    expect(callDigest({ ...call, arguments: { text: 'hi', to: 'ann' } })).toBe(callDigest(call))
  })

  test('differs for another call, tool, argument or policy', () => {
    const others = [
      { ...call, callId: 'c2' },
      { ...call, tool: 'send_all' },
      { ...call, arguments: { to: 'ann', text: 'hi!' } },
      { ...call, arguments: { to: 'ann' } },
      { ...call, arguments: '{"text":"hi","to":"ann"}' },
      { ...call, policyVersion: 'v2' },
      // Moving text from one field to the next must change the digest.
      { ...call, callId: 'c1","send', tool: '' },
    ]
    expect(new Set([call, ...others].map(callDigest)).size).toBe(others.length + 1)
  })
})
