import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/tier.ts'
import { editJson } from './edit-json.ts'

const value = { command: 'x', args: ['a'] }
const set = (text: string, path = ['servers', 'ours']) => editJson(text, 'f', (json) => json.set(path, value))
const take = (text: string, path = ['servers', 'ours']) => editJson(text, 'f', (json) => json.remove(path))

test.each([
  [
    '{}',
    '{\n  "servers": {\n    "ours": {\n      "command": "x",\n      "args": [\n        "a"\n      ]\n    }\n  }\n}',
  ],
  ['{"a":1}\n', '{"a":1, "servers": {"ours":{"command":"x","args":["a"]}}}\n'],
  ['{\n\t"servers": { "b": 1 }\n}', '{\n\t"servers": { "b": 1, "ours": {"command":"x","args":["a"]} }\n}'],
  [
    '{\n  "a": 1 // one\n}\n',
    '{\n  "a": 1, // one\n  "servers": {\n    "ours": {\n      "command": "x",\n      "args": [\n        "a"\n      ]\n    }\n  }\n}\n',
  ],
  [
    '{\n  "a": 1, // one\n}\n',
    '{\n  "a": 1, // one\n  "servers": {\n    "ours": {\n      "command": "x",\n      "args": [\n        "a"\n      ]\n    }\n  }\n}\n',
  ],
])('%j gets a value and gives it back', (before, after) => {
  expect(set(before)).toBe(after)
  expect(set(after)).toBe(after)
  expect(parse(take(after))).toEqual(parse(before))
})

test.each([
  '{}\n',
  '{"a":1}\n',
  '{\n  "a": 1 // one\n}\n',
  '{\n  // nothing yet\n  "servers": {\n    // mine\n    "b": 1 /* two */\n  }\n}\n',
  '{\r\n  "servers": {\r\n    "b": [1, 2],\r\n    "c": {}\r\n  }\r\n}\r\n',
])('%j is the same after a value came and went', (before) => {
  expect(take(set(before))).toBe(before)
})

test('values before and after others can go', () => {
  const text = '{\n  "servers": {\n    "ours": 1,\n    "b": 2, // two\n    "c": 3\n  }\n}\n'

  expect(take(text)).toBe('{\n  "servers": {\n    "b": 2, // two\n    "c": 3\n  }\n}\n')
  expect(take(text, ['servers', 'c'])).toBe('{\n  "servers": {\n    "ours": 1,\n    "b": 2 // two\n  }\n}\n')
  expect(take(text, ['servers', 'b'])).toBe('{\n  "servers": {\n    "ours": 1, // two\n    "c": 3\n  }\n}\n')
  expect(take('{ "servers": { "ours": 1 }, "z": 1 }')).toBe('{ "z": 1 }')
  expect(take('{ "a": [], "z": 1 }')).toBe('{ "a": [], "z": 1 }')
})

test('any JSON stays what it was, whatever comes and goes', () => {
  const json = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  const indent = fc.constantFrom(undefined, 1, 2, '\t')
  fc.assert(
    fc.property(json, indent, fc.string({ minLength: 1 }), (before, space, key) => {
      fc.pre(!Object.hasOwn(before, key) && key !== '__proto__' && !Object.hasOwn(before, '__proto__'))
      const text = JSON.stringify(before, null, space)
      const after = set(text, [key, 'ours'])

      expect(JSON.parse(after)).toEqual({ ...JSON.parse(text), [key]: { ours: value } })
      expect(take(after, [key, 'ours'])).toBe(text)
    }),
    { numRuns: runs(200) },
  )
})

test.each(['[]', '1', '{', '{"servers": 1}', '{"servers": []}'])('%s is refused', (text) => {
  expect(() => set(text)).toThrow('f is not a config file that can be changed')
})
