import { expect, test } from 'vitest'
import { markedParts } from './FoundList.tsx'

test('a text is split at its marks', () => {
  expect(markedParts('find the word here', [[9, 13]])).toEqual([
    { text: 'find the ', isMarked: false, from: 0 },
    { text: 'word', isMarked: true, from: 9 },
    { text: ' here', isMarked: false, from: 13 },
  ])
})

test('wrong marks never lose text', () => {
  const text = 'abcdef'
  for (const marks of [
    [[4, 2]],
    [[0, 99]],
    [
      [3, 5],
      [1, 2],
    ],
    [[-1, 2]],
    [],
  ] as [number, number][][]) {
    expect(
      markedParts(text, marks)
        .map((part) => part.text)
        .join(''),
    ).toBe(text)
  }
})
