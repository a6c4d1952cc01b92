import { describe, expect, test } from 'vitest'
import { citedNumbers, citedPlaces, joinedCitations, type Source, shownIn, shownSource } from './source.ts'

const source = (number: number, more: Partial<Source> = {}): Source => ({
  ...{ number, tool: 'handbook', id: `p${number}`, file: 'leave.md', headings: [], text: 'Text.', isChanged: false },
  place: { page: null, sheet: null, slide: null, line: null },
  ...more,
})

describe('a citation', () => {
  test.each([
    ['Fourteen [1], or [2, 3]; both [2][4].', [1, 2, 3, 4]],
    ['`a[1]` and `[2]`, list[3], [^4], [5](x), [6]: x', []],
    ['```\n[1]\n```\n~~~\n[2]\n~~~\n[3] ```\n[4]', [3]],
  ])('in %j is read outside of code and links', (text, numbers) => {
    expect(citedNumbers(text)).toEqual(numbers)
  })

  test('has the place of its bracket', () => {
    const text = '`x` Both [12, 3][4].'
    expect(citedPlaces(text).map(({ number, index }) => [number, text.slice(index, index + 2)])).toEqual([
      [12, '[1'],
      [3, '[1'],
      [4, '[4'],
    ])
  })

  test('is read in linear time, also in hostile text', () => {
    const began = process.threadCpuUsage()
    for (const piece of ['[1', '[1,', '[1]', '`', '[1](', '[ ', '~~~', '[1 ,']) citedNumbers(piece.repeat(100_000))
    citedNumbers(`[1${' '.repeat(1_000_000)}`)
    expect(process.threadCpuUsage(began).user).toBeLessThan(3_000_000)
  })
})

test('the sources of several messages are joined, each number once', () => {
  const [one, two] = [source(1), source(2)]
  expect(
    joinedCitations([{ sources: [two], notFound: [9] }, null, undefined, { sources: [one, two], notFound: [9] }]),
  ).toEqual({ sources: [two, one], notFound: [9] })
  expect(joinedCitations([null])).toBeNull()
})

test('a source is shown with the places that its file has', () => {
  const place = { page: 4, sheet: null, slide: null, line: null }
  expect(shownSource(source(1, { place, headings: ['Leave', 'Pay'], text: '', isChanged: true }))).toEqual({
    ...{ id: 'p1', number: 1, file: 'leave.md', page: 4, heading: 'Leave > Pay', text: '', changed: true },
  })
})

test('what a result has shown counts only if it is whole', () => {
  const { text: _text, isChanged: _isChanged, ...good } = source(1)
  const bad = [
    7,
    { ...good, number: 0 },
    { ...good, number: 100_000 },
    { ...good, headings: [1] },
    { ...good, file: {} },
  ]
  expect(shownIn({ quarterdeck: { shown: [...bad, { ...good, place: { ...good.place, sheet: 1 } }, good] } })).toEqual([
    good,
  ])
})
