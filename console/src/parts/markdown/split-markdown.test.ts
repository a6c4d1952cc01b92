import { describe, expect, test } from 'vitest'
import { createMarkdownSplitter } from './split-markdown.ts'

const split = (text: string) => createMarkdownSplitter()(text)
const paragraphs = (count: number) =>
  Array.from({ length: count }, (_, i) => `## Part ${i}\n\nSome **words** of part ${i}, ${'and more '.repeat(20)}\n\n`)

describe('a long answer in pieces', () => {
  test('is whole, and its pieces end between blocks', () => {
    const text = paragraphs(1_000).join('')
    const pieces = split(text)

    expect(pieces.join('')).toBe(text)
    expect(pieces.length).toBeGreaterThan(20)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(8_000)
    expect(pieces.slice(0, -1).every((piece) => piece.endsWith('\n\n'))).toBe(true)
  })

  test('keeps its finished pieces while it grows, wherever it was cut', () => {
    const text = `${paragraphs(80).join('')}\`\`\`ts\n${'const a = 1\n\n'.repeat(1_000)}\`\`\`\n\n${'- item\n\n'.repeat(2_000)}`
    const grow = createMarkdownSplitter()
    for (let length = 19_000; length <= text.length; length += 131) {
      const whole = split(text.slice(0, length))
      expect(grow(text.slice(0, length))).toEqual(whole)
    }
  })

  test('goes on with a block of code in the next piece as code', () => {
    const code = 'line of code\n\n'.repeat(3_000)
    const pieces = split(`Intro\n\n~~~~py\n${code}~~~~\n\nThe end.\n`)

    expect(pieces.slice(2).every((piece) => piece.startsWith('~~~~py\n'))).toBe(true)
    const lines = pieces.join('').split('\n')
    expect(lines.filter((line) => line === 'line of code').length).toBe(3_000)
    expect(pieces.at(-1)).toMatch(/~~~~\n\nThe end\.\n$/)
  })

  test('does not break a list at a gap, if there is another place', () => {
    const list = `${'- one\n\n  more of it\n\n'.repeat(150)}`
    const pieces = split(`${`${list}After the list.\n\n`.repeat(10)}`)
    expect(pieces.slice(1).every((piece) => piece.startsWith('After the list.'))).toBe(true)
  })

  test('has pieces even of one endless line, and no character is cut', () => {
    const line = '😀'.repeat(50_001)
    const pieces = split(`a${line}`)
    expect(pieces.join('')).toBe(`a${line}`)
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
    const words = split('word '.repeat(20_000))
    expect(words.every((piece) => piece.endsWith(' ') || piece.endsWith('word'))).toBe(true)
  })

  test.each(['`', '\n', '```\n', '- '])('is whole after a megabyte of %j', (text) => {
    const pieces = split(text.repeat(1_000_000 / text.length))
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(8_004)
  })
})
