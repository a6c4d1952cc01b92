import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineSplitter } from './stdio-transport.ts'

function split(maxBytes: number, chunks: readonly Buffer[]): [string, boolean][] {
  const lines: [string, boolean][] = []
  const push = createLineSplitter(maxBytes, (line, cut) => lines.push([line, cut]))
  for (const chunk of chunks) push(chunk)
  return lines
}

test('gives the same lines, however the bytes are cut into chunks', () => {
  const bytes = Buffer.from('one\r\n\nzwölf 😀\nlast without end')
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const chunks = at.slice(1).map((end, i) => bytes.subarray(at[i], end))
      expect(split(100, chunks)).toEqual([
        ['one', false],
        ['', false],
        ['zwölf 😀', false],
      ])
    }),
  )
})

test('reports the beginning of a line that is too long at once, and skips the rest', () => {
  const chunks = ['abc', 'defgh', 'ijkl', 'mno\nnext\n'].map((text) => Buffer.from(text))

  expect(split(5, chunks.slice(0, 2))).toEqual([['abcde', true]])
  expect(split(5, chunks)).toEqual([
    ['abcde', true],
    ['next', false],
  ])
  expect(split(5, [Buffer.from('abcdefgh\nabcde\n')])).toEqual([
    ['abcde', true],
    ['abcde', false],
  ])
})
