import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createJsonMask } from './masked-json.ts'
import { maskSecrets } from './secret-name.ts'

const masked = (text: string): string => createJsonMask()(text)

/** Names of both kinds, so that most values have some secrets in them. */
const names = fc.constantFrom('to', 'api_key', 'password', 'a"b', 'tok\u0065n', 'max_tokens', 'accessToken', '')
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(names, tie('json'), { maxKeys: 4 }),
  ),
}))
const argumentsJson = fc.dictionary(names, json, { maxKeys: 6 })

test('masks the same values as the card of a call, however the text is cut into pieces', () => {
  fc.assert(
    fc.property(argumentsJson, fc.integer({ min: 1, max: 9 }), fc.constantFrom(0, 2), (value, length, indent) => {
      const text = JSON.stringify(value, null, indent)
      const mask = createJsonMask()
      let all = ''
      for (let at = 0; at < text.length; at += length) all += mask(text.slice(at, at + length))

      expect(JSON.parse(all)).toEqual(maskSecrets(JSON.parse(text)))
    }),
  )
})

test('masks what has only begun', () => {
  expect(masked('{"path":"/a","token":"hal')).toBe('{"path":"/a","token":"[masked]"')
  expect(masked('{"token":{"a":["half\\')).toBe('{"token":"[masked]"')
  expect(masked('{"to":"bob","tok')).toBe('{"to":"bob","tok')
})

test('reads names as JSON means them', () => {
  expect(masked('{"tok\\u0065n":"x","to":1}')).toBe('{"tok\\u0065n":"[masked]","to":1}')
  expect(masked('{"to\\u00ZZ":"x"}')).toBe('{"to\\u00ZZ":"[masked]"}')
})

test('shows nothing of what is not JSON', () => {
  const noComma = ['{"a":"b" "password":"x"}', '{"a":{}"password":"x"}', '[1,"password":"x"]', '{"a":1"password":"x"}']
  const noColon = [
    '{"password" "x"}',
    '{"password"="x"}',
    '{"password","x"}',
    '{"password"{"a":"x"}}',
    '{"password" x}',
  ]
  for (const text of [
    ...noComma,
    ...noColon,
    'password=x',
    '"password: x"',
    "{password: 'x'}",
    '{"a":1} password=x',
    '12',
  ]) {
    expect(masked(text).includes('x') || masked(text).includes('12'), text).toBe(false)
  }
})
