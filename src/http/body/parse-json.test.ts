import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { ServerError } from '../../domain/errors.ts'
import { JsonMeter, MAX_VALUES, parseJson, refuseRepeatedKeys } from './parse-json.ts'

function refusal(text: string): string {
  try {
    return `accepted ${JSON.stringify(parseJson(text))}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe('JSON from strangers', () => {
  test('reads any JSON value as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(!text.includes('proto'))
        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test.each(['"\\ud800"', '"\\uD83D"', '["a",{"b":"\\uDE00x"}]', '{"\\udfff":1}'])(
    'refuses half a character: %s',
    (text) => {
      expect(refusal(text)).toBe('A string in the body contains half a character (a lone surrogate).')
    },
  )

  test('accepts an escaped pair', () => {
    expect(parseJson('"\\ud83d\\ude00"')).toBe('😀')
  })

  test.each([
    ['{"__proto__":{"admin":true}}', '__proto__'],
    ['[{"a":[{"__proto__":1}]}]', '__proto__'],
    ['{"\\u005f_proto__":1}', '__proto__'],
    ['{"constructor":{"prototype":{}}}', 'constructor'],
    ['{"\\u0063onstructor":{"prototyp\\u0065":1}}', 'constructor'],
  ])('refuses the key in %s', (text, key) => {
    expect(refusal(text)).toBe(`The body has the key "${key}", which is not allowed.`)
  })

  test('those words are fine in text, and "constructor" is fine as a key', () => {
    const text = '{"a":"__proto__ constructor prototype","constructor":{"name":"x"},"prototype":1}'

    expect(parseJson(text)).toEqual(JSON.parse(text))
  })

  /** Whether a text is refused because an object in it has a key twice. */
  function hasRepeats(text: string): boolean {
    const meter = new JsonMeter()
    meter.take(Buffer.from(text))
    try {
      refuseRepeatedKeys(parseJson(text), meter.members)
      return false
    } catch {
      return true
    }
  }

  test.each([
    '{"decision":"reject","decision":"approve"}',
    '{"a":{"b":[{"to":1,"to":1}]}}',
    '{"to":1,"t\\u006f":2}',
    '{"__a":"x:y","":{},"":[]}',
  ])('finds a key that is there twice: %s', (text) => {
    expect(hasRepeats(text)).toBe(true)
  })

  test('finds none where each object has its keys once, whatever its strings say', () => {
    expect(hasRepeats('{"a:b":"{\\"a\\":1,\\"a\\":2}","b":[{"a":1},{"a":1}],"c":{"a":{"a":[]}}}')).toBe(false)
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(!text.includes('proto'))
        expect(hasRepeats(text)).toBe(false)
      }),
    )
  })

  test('says where the JSON is wrong without repeating it', () => {
    expect(refusal('{"secret":"x",}')).toBe('The body is not valid JSON (character 14).')
    expect(refusal('hello')).toMatch(/^The body is not valid JSON/)
    expect(refusal('hello')).not.toContain('hello')
  })
})

/** The meter's verdict on a text that arrives in pieces of `size` bytes. */
function meterRefusal(text: string, size = 1_000): string {
  const meter = new JsonMeter()
  const bytes = Buffer.from(text)
  try {
    for (let i = 0; i < bytes.length; i += size) meter.take(bytes.subarray(i, i + size))
    return 'taken'
  } catch (error) {
    return error instanceof ServerError ? `${error.code}: ${error.message}` : String(error)
  }
}

const TOO_MANY = 'body_too_large: The body contains more than 100,000 JSON values. Send less at once.'
const TOO_DEEP = 'malformed_json: The body is nested deeper than 100 levels.'

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, member) => sum + countValues(member), 1)
}

const listOf = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(',')}]`

describe('the JSON meter', () => {
  test.each(['0', '"a"', '[]', '{ }', 'null', '" , "'])('accepts 100,000 values and not one more: %s', (item) => {
    expect(meterRefusal(listOf(MAX_VALUES - 1, item))).toBe('taken')
    expect(meterRefusal(listOf(MAX_VALUES, item))).toBe(TOO_MANY)
  })

  test('counts the members of an object once, and not their names', () => {
    const object = (members: number) => `{${Array.from({ length: members }, (_, i) => `"k${i}": 0`).join(', ')}}`

    expect(meterRefusal(object(MAX_VALUES - 1))).toBe('taken')
    expect(meterRefusal(object(MAX_VALUES))).toBe(TOO_MANY)
  })

  test('counts like a parser, however the text is split', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 1, max: 9 }), (value, size) => {
        const most = MAX_VALUES - 1 - countValues(value)
        const text = (zeros: number) => `[${JSON.stringify(value)},${listOf(zeros, '0').slice(1)}`

        expect(meterRefusal(text(most), size * 100_000 + 1)).toBe('taken')
        expect(meterRefusal(text(most + 1), size * 100_000 + 1)).toBe(TOO_MANY)
      }),
      { numRuns: runs(20) },
    )
  })

  test('the content of strings does not count, however small its pieces are', () => {
    const text = JSON.stringify(['[{,'.repeat(100), '"\\', '\\"[', { '[{"': '\\\\' }])

    for (const size of [1, 2, 3, 7]) expect(meterRefusal(text.repeat(30), size)).toBe('taken')
    expect(meterRefusal(JSON.stringify(',['.repeat(MAX_VALUES)))).toBe('taken')
  })

  test('accepts 100 levels and refuses 101, of either bracket', () => {
    const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels)

    expect(meterRefusal(nested(100, '[', ']'))).toBe('taken')
    expect(meterRefusal(nested(101, '[', ']'))).toBe(TOO_DEEP)
    expect(meterRefusal(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)).toBe('taken')
    expect(meterRefusal(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`)).toBe(TOO_DEEP)
    expect(meterRefusal(listOf(300, '[]'))).toBe('taken')
  })
})
