import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { type PlacedJson, parsePlacedJson } from './placed-json.ts'

/** The value without its places. */
function plainValue(node: PlacedJson): unknown {
  if (node.kind === 'plain') return node.value
  if (node.kind === 'list') return node.items.map(plainValue)
  return Object.fromEntries(node.members.map(({ name, value }) => [name, plainValue(value)]))
}

const parse = (text: string): unknown => {
  const parsed = parsePlacedJson(text)
  return parsed.ok ? { value: plainValue(parsed.root) } : { at: parsed.at, message: parsed.message }
}

describe('JSON with places', () => {
  test.each([
    ['', 0, 'the file ends here, but a value is missing.'],
    ['{', 1, 'the file ends here, but a key in double quotes is missing.'],
    ['{"a":1,}', 7, 'expected a key in double quotes. Remove the comma before it.'],
    ['[1,]', 3, 'expected a value. Remove the comma before it.'],
    ["{'a':1}", 1, 'JSON needs double quotes.'],
    ['{"a":1} x', 8, 'the file goes on after the end of its value. Remove the rest.'],
    ['// hi\n{}', 0, 'JSON has no comments. Remove it.'],
    ['{"a": /* b */ 1}', 6, 'JSON has no comments. Remove it.'],
    ['{"a":x}', 5, 'this is not valid JSON: expected a value.'],
    ['{"a":01}', 5, 'this is not valid JSON: expected a value.'],
    ['{"a":truex}', 5, 'this is not valid JSON: expected a value.'],
    ['{"a" 1}', 5, 'this is not valid JSON: expected a colon.'],
    ['[1 2]', 3, 'this is not valid JSON: expected a comma or ].'],
    ['["a\nb"]', 1, 'this text is not valid JSON: a quote, a line break or a backslash in it is wrong.'],
    ['["\\x"]', 1, 'this text is not valid JSON: a quote, a line break or a backslash in it is wrong.'],
    ['{"a":1,"\\u0061":2}', 7, 'this key appears twice. Keep one of them.'],
    ['[[[[[[[[[[1]]]]]]]]]]', 9, 'the file is nested too deeply.'],
  ])('%j is wrong at %d', (text, at, message) => {
    expect(parse(text)).toEqual({ at, message })
  })

  test('gives the offset of every key and value', () => {
    expect(parsePlacedJson(' {"a": [1, "b"]}')).toEqual({
      ok: true,
      root: {
        at: 1,
        kind: 'object',
        members: [
          {
            name: 'a',
            at: 2,
            value: {
              at: 7,
              kind: 'list',
              items: [
                { at: 8, kind: 'plain', value: 1 },
                { at: 11, kind: 'plain', value: 'b' },
              ],
            },
          },
        ],
      },
    })
  })

  test('reads what JSON.stringify writes, and refuses what JSON.parse refuses', () => {
    const plain = fc.oneof(
      fc.string(),
      fc.double({ noDefaultInfinity: true, noNaN: true }),
      fc.boolean(),
      fc.constant(null),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(plain, fc.array(plain)), { noNullPrototype: true }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(!/[\u007f-\u009f]/.test(text))
        expect(parse(text)).toEqual({ value: JSON.parse(text) })
      }),
    )
    fc.assert(
      fc.property(fc.stringMatching(/^[{}[\]",:a1 .e-]{0,12}$/), (text) => {
        const found = parsePlacedJson(text)
        if (found.ok) expect(plainValue(found.root)).toEqual(JSON.parse(text))
        else if (!found.message.includes('twice')) expect(() => JSON.parse(text)).toThrow()
      }),
      { numRuns: runs(1_000) },
    )
  })

  test('stops at too many values', () => {
    expect(parse(`[${'1,'.repeat(3_000)}1]`)).toMatchObject({ message: 'the file has more than 2000 values.' })
  })
})
