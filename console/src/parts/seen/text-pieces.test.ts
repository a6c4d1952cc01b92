import { describe, expect, test } from 'vitest'
import { piecesOf, textRows } from './text-pieces.ts'

const cut = (line: string, longest: number) => piecesOf(line, longest).map(({ from, to }) => line.slice(from, to))

describe('the pieces of a long line', () => {
  test('are the whole line, in order', () => {
    expect(cut('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij'])
    expect(cut('', 4)).toEqual([''])
    expect(cut('abcd', 4)).toEqual(['abcd'])
  })

  test('never cut a mark of a hidden character', () => {
    expect(cut('abcdefghijklmnop<U+202E>xyz', 20)).toEqual(['abcdefghijklmnop', '<U+202E>xyz'])
  })

  test('never cut a character in two', () => {
    expect(cut('abc😀def', 4)).toEqual(['abc', '😀de', 'f'])
  })

  test('end even where a text is nothing but the beginnings of marks', () => {
    const line = '<U+'.repeat(50)
    expect(cut(line, 5).join('')).toBe(line)
  })

  test('of a megabyte are a thousand rows, and only the first has a number', () => {
    const rows = textRows(`one\n${'x'.repeat(1_000_000)}`)
    expect(rows.length).toBe(1_001)
    expect(rows.slice(0, 3).map(({ number }) => number)).toEqual([1, 2, null])
    expect(rows.slice(1).reduce((sum, { text }) => sum + text.length, 0)).toBe(1_000_000)
  })
})
