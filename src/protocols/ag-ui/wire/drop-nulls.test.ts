import { describe, expect, test } from 'vitest'
import { dropNulls, dropNullsEach } from './decode-part.ts'

describe('dropping nulls', () => {
  test('drops those of the object itself and keeps those inside its data', () => {
    expect(dropNulls({ a: null, b: 0, metadata: { c: null }, d: [null] })).toEqual({
      b: 0,
      metadata: { c: null },
      d: [null],
    })
  })

  test('gives the same object back when there are none', () => {
    const object = { a: 1, b: undefined }

    expect(dropNulls(object)).toBe(object)
  })

  test('keeps list items that are not objects', () => {
    expect(dropNullsEach([{ a: null }, null, 7, [null]])).toEqual([{}, null, 7, [null]])
    expect(dropNullsEach('text')).toBe('text')
  })
})
