import { describe, expect, test } from 'vitest'
import { createBlockReader } from './read-blocks.ts'

const sample = [
  '# Title\n\nSome *text* with `code` and [a link](https://example.com).\n\n',
  '- one\n- two\n\n  more of two\n\n- three\n\n',
  '| a | b |\n| - | - |\n| 1 | 2 |\n\n',
  '```ts\nconst a = 1\n\nconst b = 2\n```\n\n> quoted\n> text\n\n1. first\n2. second\n\n',
  'Heading by line\n===\n\nThe end with <b>html</b>.\n',
].join('')

describe('the reader of blocks', () => {
  test('reads a growing text as if it had come at once, wherever it was cut', () => {
    const read = createBlockReader()
    for (let length = 1; length <= sample.length; length += 1) {
      const text = sample.slice(0, length)
      expect(read(text)).toEqual(createBlockReader()(text))
    }
  })

  test('keeps the blocks that are finished, so that only the last ones are drawn again', () => {
    const read = createBlockReader()
    const paragraphs = Array.from({ length: 200 }, (_, i) => `Paragraph ${i} has **words**.\n\n`)
    let drawn = 0
    let before: readonly unknown[] = []
    for (let count = 1; count <= paragraphs.length; count += 1) {
      const blocks = read(paragraphs.slice(0, count).join(''))
      drawn += blocks.filter((block, i) => block !== before[i]).length
      before = blocks
    }
    // The texts have up to 400 blocks. Of each, the new paragraph and the two before it are read, with the gaps between them.
    expect(drawn).toBeLessThanOrEqual(200 * 6)
  })

  test('links a word whose address is defined later', () => {
    const read = createBlockReader()
    read('See [the docs] first.\n\nThen go on.\n\nAnd on.\n\n')
    const blocks = read('See [the docs] first.\n\nThen go on.\n\nAnd on.\n\n[the docs]: https://example.com/docs\n')
    expect(blocks[0]).toMatchObject({ tokens: [{}, { type: 'link', href: 'https://example.com/docs' }, {}] })
  })

  test('shows a text as it is if reading it would take too long or go too deep', () => {
    const deep = '> '.repeat(500)
    expect(createBlockReader()(deep)).toEqual([{ type: 'text', raw: deep, text: deep }])
    const long = 'a'.repeat(200_000)
    expect(createBlockReader()(long)).toEqual([{ type: 'text', raw: long, text: long }])
    const stars = '_a_'.repeat(5_000)
    expect(createBlockReader()(stars)).toMatchObject([{ type: 'paragraph', tokens: [{ type: 'text', text: stars }] }])
  })

  test('stops looking for formats when its time is up', () => {
    let time = 0
    const blocks = createBlockReader(() => {
      time += 100
      return time
    })('*one*\n\n*two*\n\n*three*')
    const inside = blocks.flatMap((block) => (block.type === 'paragraph' ? [block.tokens[0]?.type] : []))
    expect(inside).toEqual(['em', 'text', 'text'])
  })
})
