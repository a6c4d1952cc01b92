import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonMeter, parseJson, refuseRepeatedKeys } from './parse-json.ts'

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
