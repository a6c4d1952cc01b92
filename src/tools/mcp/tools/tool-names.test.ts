import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toolNames } from './tool-names.ts'

describe('toolNames', () => {
  test('uses only letters, digits and underscores, and no digit first', () => {
    expect(toolNames(['echo', 'get-sum', 'files/read file', '2fa', 'prüfen', ''], '')).toEqual([
      'echo',
      'get_sum',
      'files_read_file',
      '_2fa',
      'pr_fen',
      '_',
    ])
    expect(toolNames(['get-sum'], 'everything_')).toEqual(['everything_get_sum'])
  })

  test('names that would become equal get a digest as an ending, except one that needed no change', () => {
    expect(toolNames(['get.sum', 'get_sum', 'get-sum'], '')).toEqual(['get_sum_bc2dff', 'get_sum', 'get_sum_2fb224'])
  })

  test('a reserved name gets a digest as an ending too', () => {
    expect(toolNames(['x_list', 'y'], '', ['x_list'])).toEqual(['x_list_78ebad', 'y'])
  })

  test('a name that is listed twice counts once', () => {
    expect(toolNames(['a', 'a', 'b'], '')).toEqual(['a', null, 'b'])
  })

  test('long names keep their beginning and stay distinct', () => {
    const names = toolNames([`${'x'.repeat(100)}1`, `${'x'.repeat(100)}2`], '')

    expect(names.map((name) => name?.slice(0, 58))).toEqual([`${'x'.repeat(57)}_`, `${'x'.repeat(57)}_`])
    expect(names.map((name) => name?.length)).toEqual([64, 64])
    expect(new Set(names).size).toBe(2)
  })

  test('whatever the server says, names are valid, unique, and do not depend on the order', () => {
    const originals = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', '-', '_', '.', '1', 'é'), maxLength: 70 }))
    fc.assert(
      fc.property(originals, fc.constantFrom('', 'p_', '9'), (list, prefix) => {
        const names = toolNames(list, prefix)
        const byOriginal = new Map(list.map((original, i) => [original, names[i]]))
        const reversed = list.toReversed()

        expect(names.filter((name) => name === null || !/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/.test(name))).toEqual([])
        expect(new Set(names).size).toBe(names.length)
        expect(toolNames(reversed, prefix)).toEqual(reversed.map((original) => byOriginal.get(original)))
      }),
    )
  })
})
