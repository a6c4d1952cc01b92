import { expect, test } from 'vitest'
import { patchState } from './patch-state.ts'

test.each([
  [{ a: 1 }, { op: 'add', path: '/b', value: 2 }, { a: 1, b: 2 }],
  [{ a: 1 }, { op: 'replace', path: '/a', value: [] }, { a: [] }],
  [{ a: 1 }, { op: 'remove', path: '/a' }, {}],
  [{ a: [1, 2] }, { op: 'remove', path: '/a/0' }, { a: [2] }],
  [{ a: [1, 2] }, { op: 'add', path: '/a/1', value: 3 }, { a: [1, 3, 2] }],
  [{ a: [1] }, { op: 'add', path: '/a/-', value: 2 }, { a: [1, 2] }],
  [{ a: [1] }, { op: 'replace', path: '/a/0', value: 2 }, { a: [2] }],
  [{ 'x/y': { '~': 1 } }, { op: 'replace', path: '/x~1y/~0', value: 2 }, { 'x/y': { '~': 2 } }],
  [{ a: 1 }, { op: 'replace', path: '', value: 'all' }, 'all'],
  // What does not fit changes nothing.
  [{ a: [1] }, { op: 'add', path: '/a/x', value: 2 }, { a: [1] }],
  [{ a: 1 }, { op: 'add', path: '/b/c', value: 2 }, { a: 1 }],
  [undefined, { op: 'add', path: '/b', value: 2 }, undefined],
] as const)('%j with %j is %j', (before, operation, after) => {
  expect(patchState(before, [operation])).toEqual(after)
})

test('leaves the value before as it is, and prototypes alone', () => {
  const before = { a: { b: 1 } }

  const after = patchState(before, [
    { op: 'replace', path: '/a/b', value: 2 },
    { op: 'add', path: '/__proto__', value: { polluted: true } },
    { op: 'add', path: '/constructor/prototype/polluted', value: true },
  ])

  expect(before).toEqual({ a: { b: 1 } })
  expect(JSON.stringify(after)).toBe('{"a":{"b":2},"__proto__":{"polluted":true}}')
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})
