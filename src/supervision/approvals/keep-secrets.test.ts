import { describe, expect, test } from 'vitest'
import { keepSecrets } from './keep-secrets.ts'

const M = '[masked]'

const pointerOf = (edited: Record<string, unknown>, original: unknown): unknown => {
  try {
    return keepSecrets(edited, original)
  } catch (error) {
    return error instanceof Error && 'problems' in error && Array.isArray(error.problems)
      ? error.problems[0]?.pointer
      : error
  }
}

describe('a mask in edited arguments', () => {
  test('stands for the secret that was there, at any depth', () => {
    const original = { to: 'ann', password: 'p1', http: { headers: { Authorization: 'p2', Accept: '*' } } }
    const edited = { to: 'eve', password: M, http: { headers: { Authorization: M, Accept: 'text/html' } } }

    expect(keepSecrets(edited, original)).toEqual({
      to: 'eve',
      password: 'p1',
      http: { headers: { Authorization: 'p2', Accept: 'text/html' } },
    })
  })

  test('may stand for a secret that is not a text', () => {
    expect(keepSecrets({ credentials: M }, { credentials: { user: 'a' } })).toEqual({ credentials: { user: 'a' } })
  })

  test('is a text like any other where no secret can be, and a new secret is kept as it is', () => {
    expect(keepSecrets({ note: M, password: 'new' }, { note: 'x', password: 'old' })).toEqual({
      note: M,
      password: 'new',
    })
  })

  test('is refused where no secret was', () => {
    expect(pointerOf({ password: M }, {})).toBe('/arguments/password')
    expect(pointerOf({ 'a/b': { token: M } }, { 'a/b': 1 })).toBe('/arguments/a~1b/token')
    expect(pointerOf({ list: [{ token: M }] }, { list: [] })).toBe('/arguments/list/0')
  })

  describe('in a list', () => {
    const a = { host: 'a', token: 'A' }
    const b = { host: 'b', token: 'B' }
    const shown = (host: string) => ({ host, token: M })
    const kept = (...edited: unknown[]) => pointerOf({ list: edited }, { list: [a, b] })

    test('follows its item, wherever that moves', () => {
      expect(kept(shown('a'), shown('b'))).toEqual({ list: [a, b] })
      expect(kept(shown('b'), shown('a'))).toEqual({ list: [b, a] })
      expect(kept(shown('b'))).toEqual({ list: [b] })
      expect(kept(shown('a'), 1, shown('b'))).toEqual({ list: [a, 1, b] })
    })

    test('belongs to an item that was edited in its place', () => {
      expect(kept(shown('x'), shown('b'))).toEqual({ list: [{ host: 'x', token: 'A' }, b] })
    })

    test('is refused where the items may have moved', () => {
      expect(kept(shown('x'), shown('a'))).toBe('/arguments/list/0')
      expect(kept(shown('x'))).toBe('/arguments/list/0')
    })

    test('is refused where two items look the same and neither stayed in its place', () => {
      const twins = { list: [{ token: 'A' }, { token: 'B' }, 1] }
      expect(pointerOf({ list: [1, { token: M }, { token: M }] }, twins)).toBe('/arguments/list/2')
      expect(pointerOf({ list: [{ token: M }, { token: M }, 1] }, twins)).toEqual(twins)
    })
  })

  test('keeps names that objects have of their own', () => {
    const original = JSON.parse('{"__proto__": {"token": "A"}}')
    expect(JSON.stringify(keepSecrets(JSON.parse(`{"__proto__": {"token": "${M}"}}`), original))).toBe(
      '{"__proto__":{"token":"A"}}',
    )
  })
})
