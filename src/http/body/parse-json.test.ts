import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from './parse-json.ts'

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

  test('says where the JSON is wrong without repeating it', () => {
    expect(refusal('{"secret":"x",}')).toBe('The body is not valid JSON (character 14).')
    expect(refusal('hello')).toMatch(/^The body is not valid JSON/)
    expect(refusal('hello')).not.toContain('hello')
  })
})
