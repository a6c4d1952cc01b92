import { describe, expect, test } from 'vitest'
import { parseInline, parseMarkdown } from './markdown.js'

/** A short form of a tree. */
// biome-ignore lint/suspicious/noExplicitAny: a tree of any depth.
const told = (node: any): unknown => {
  if (Array.isArray(node)) return node.map(told)
  if (node.type === 'text') return node.text
  if (node.type === 'link') return [`link ${node.href}`, ...node.children.map(told)]
  if (node.children !== undefined)
    return [node.level === undefined ? node.type : `h${node.level}`, ...(told(node.children) as unknown[])]
  if (node.type === 'code') return [node.language ? `code ${node.language}` : 'code', node.text]
  if (node.type === 'quote') return ['quote', ...node.blocks.map(told)]
  if (node.type === 'list') return [node.start === null ? 'ul' : `ol ${node.start}`, ...node.items.map(told)]
  if (node.type === 'table') return ['table', node.align, ...node.rows.map(told)]
  return node.type
}
const blocks = (text: string) => parseMarkdown(text).map(told)
const inline = (text: string) => parseInline(text).map(told)

describe('blocks', () => {
  test('headings, paragraphs, rules and quotes', () => {
    expect(blocks('# One ##\n### C#\ntext\nmore\n\n---\n> said\n> - a\n\nend')).toEqual([
      ['h1', 'One'],
      ['h3', 'C#'],
      ['paragraph', 'text\nmore'],
      'rule',
      ['quote', ['paragraph', 'said'], ['ul', [['paragraph', 'a']]]],
      ['paragraph', 'end'],
    ])
  })

  test('code keeps everything, also before its end has arrived', () => {
    expect(blocks('```js\nif (a < b) {\n\tx`\n\n  # no heading\n```\nafter')).toEqual([
      ['code js', 'if (a < b) {\n\tx`\n\n  # no heading'],
      ['paragraph', 'after'],
    ])
    expect(blocks('~~~~\n~~~\nstill')).toEqual([['code', '~~~\nstill']])
  })

  test('lists, as people and models write them', () => {
    expect(blocks('Do:\n- a\n  - b\n\n    more b\n- c\ngoes on\n\n3. three\n  - two spaces\n4. four\n\nend')).toEqual([
      ['paragraph', 'Do:'],
      [
        'ul',
        [
          ['paragraph', 'a'],
          [
            'ul',
            [
              ['paragraph', 'b'],
              ['paragraph', 'more b'],
            ],
          ],
        ],
        [['paragraph', 'c\ngoes on']],
      ],
      [
        'ol 3',
        [
          ['paragraph', 'three'],
          ['ul', [['paragraph', 'two spaces']]],
        ],
        [['paragraph', 'four']],
      ],
      ['paragraph', 'end'],
    ])
    expect(blocks('It was\n1986. A year.')).toEqual([['paragraph', 'It was\n1986. A year.']])
    expect(blocks('1. a\n   ```\n   code\n   ```\n2. b')).toEqual([
      [
        'ol 1',
        [
          ['paragraph', 'a'],
          ['code', 'code'],
        ],
        [['paragraph', 'b']],
      ],
    ])
  })

  test('tables', () => {
    expect(blocks('| a | b |\n| :-: | --: |\n| 1 | `x` |\n| \\| |\nafter')).toEqual([
      ['table', ['center', 'right'], [['a'], ['b']], [['1'], [['code', 'x']]], [['|']]],
      ['paragraph', 'after'],
    ])
  })

  test('earlier blocks stay the same while a text grows', () => {
    const text = '# One\n\n- a\n- b\n\n```\ncode\n```\n\nThe end of it.'
    const whole = parseMarkdown(text).map(({ source }) => source)

    for (let length = 1; length < text.length; length += 1) {
      const soFar = parseMarkdown(text.slice(0, length)).map(({ source }) => source)
      expect(soFar.slice(0, -1)).toEqual(whole.slice(0, soFar.length - 1))
    }
  })
})

describe('inside a line', () => {
  test.each([
    ['a **b _c_** `d *e*` ~~f~~', ['a ', ['strong', 'b ', ['em', 'c']], ' ', ['code', 'd *e*'], ' ', ['del', 'f']]],
    ['***both***', [['em', ['strong', 'both']]]],
    ['snake_case_name and 2 * 3 * 4', ['snake_case_name and 2 * 3 * 4']],
    ['**open and `open', ['**open and `open']],
    ['a \\*b\\* ``x ` y``', ['a *b* ', ['code', 'x ` y']]],
    ['**a*b*', ['**a', ['em', 'b']]],
  ])('%s', (text, expected) => {
    expect(inline(text)).toEqual(expected)
  })

  test.each([
    ['[a *b*](https://x.example/?q=(1) "t")', [['link https://x.example/?q=(1)', 'a ', ['em', 'b']]]],
    [
      'See https://x.example/a_b_c. (http://y.example)',
      [
        'See ',
        ['link https://x.example/a_b_c', 'https://x.example/a_b_c'],
        '. (',
        ['link http://y.example/', 'http://y.example'],
        ')',
      ],
    ],
    ['<mailto:a@b.example>', [['link mailto:a@b.example', 'mailto:a@b.example']]],
    ['![pic](https://x.example/p.png)', [['link https://x.example/p.png', 'Picture: pic']]],
    ['[![pic](https://x.example/p.png)](https://y.example)', [['link https://y.example/', 'Picture: pic']]],
  ])('links: %s', (text, expected) => {
    expect(inline(text)).toEqual(expected)
  })

  test.each([
    '[a](javascript:alert(1))',
    '[a](JAVASCRIPT:alert)',
    '[a](<java\tscript:alert>)',
    '[a](data:text/html,x)',
    '[a](vbscript:x)',
    '[a](file:///etc/passwd)',
    '[a](//x.example)',
    '[a](/sessions)',
    '[a](#token=x)',
    '![a](data:image/svg+xml,x)',
    '<javascript:alert>',
    '<b onclick=alert(1)>x</b>',
    '[[[a](b',
  ])('nothing else becomes a link: %s', (text) => {
    expect(inline(text)).toEqual([text])
  })
})

describe('a text that tries to block the page', () => {
  const stars = '*'.repeat(20_000)

  test.each([
    ['marks around a word', `${stars}a${stars}`],
    ['many columns and many rows', `|${'-|'.repeat(500)}\n|${'-|'.repeat(500)}\n${'|\n'.repeat(500)}`],
  ])('%s makes a tree of bounded depth that is not larger than the text', (_, text) => {
    const tree = parseMarkdown(text)

    expect(depthOf(tree)).toBeLessThan(200)
    expect(sizeOf(tree)).toBeLessThan(text.length * 2 + 10)
  })
})

type Tree = { type: string; children?: Tree[]; blocks?: Tree[]; items?: Tree[][]; rows?: Tree[][][] }
const within = ({ children, blocks, items, rows }: Tree): Tree[] =>
  [children ?? [], blocks ?? [], items?.flat() ?? [], rows?.flat(2) ?? []].flat()

function sizeOf(tree: readonly Tree[]): number {
  let size = 0
  for (let level = [...tree]; level.length > 0; level = level.flatMap(within)) {
    for (const { rows = [] } of level) size += 1 + rows.flat().length
  }
  return size
}

function depthOf(tree: readonly Tree[]): number {
  let depth = 0
  for (let level = [...tree]; level.length > 0; level = level.flatMap(within)) depth += 1
  return depth
}

test.each([
  '*',
  '_',
  '**a ',
  '[',
  '![',
  '](',
  '`',
  '> ',
  '- ',
  '  - ',
  '|',
  '|-|\n',
  '<',
  '\\',
  '#',
  '~~',
  'http://',
  '1. a\n  ',
  '[a](b',
  '*a _b ',
])(
  'much of %j takes little time',
  (piece) => {
    // Time must not grow with the square of the length. If it did, this would take seconds.
    const text = piece.repeat(40_000 / piece.length)
    expect(parseMarkdown(text).length).toBeGreaterThanOrEqual(0)
  },
  5_000,
)
