import { describe, expect, test } from 'vitest'
import { item, numberingPart, paragraph, run, style, styled, stylesPart, textOf } from '../testing/docx-xml.ts'
import { formatCount } from './docx-numbering.ts'

const level = (at: number, format: string, text: string, more = ''): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/>${more}</w:lvl>`
const abstract = (id: number, content: string): string =>
  `<w:abstractNum w:abstractNumId="${id}">${content}</w:abstractNum>`
const list = (id: number, of: number, content = ''): string =>
  `<w:num w:numId="${id}"><w:abstractNumId w:val="${of}"/>${content}</w:num>`
const startAt = (at: number, start: number): string =>
  `<w:lvlOverride w:ilvl="${at}"><w:startOverride w:val="${start}"/></w:lvlOverride>`

const legal = abstract(
  0,
  level(0, 'decimal', '%1.') + level(1, 'decimal', '%1.%2') + level(2, 'lowerLetter', '(%3)') + level(3, 'bullet', '•'),
)

describe('lists of a Word document', () => {
  test('show the numbers that Word shows, and each level restarts below the next item', async () => {
    const body =
      item('one', 1, 0) +
      item('sub', 1, 1) +
      item('letter', 1, 2) +
      item('next', 1, 2) +
      item('dot', 1, 3) +
      item('two', 1, 0) +
      item('sub', 1, 1)

    expect(await textOf(body, [numberingPart(legal + list(1, 0))])).toBe(
      [
        '1. one',
        '    - 1.1 sub',
        '        - (a) letter',
        '        - (b) next',
        '            - dot',
        '2. two',
        '    - 2.1 sub',
      ].join('\n'),
    )
  })

  test('continue counting in a list of the same kind, unless it sets a start', async () => {
    const numbering = numberingPart(legal + list(1, 0) + list(2, 0) + list(3, 0, startAt(0, 7)))
    const text = paragraph(run('Text'))

    expect(
      await textOf(
        item('a', 1, 0) + text + item('b', 2, 0) + text + item('c', 3, 0) + item('d', 3, 0) + item('e', 1, 0),
        [numbering],
      ),
    ).toBe('1. a\n\nText\n\n2. b\n\nText\n\n7. c\n8. d\n9. e')
  })

  test('restart where their level says, or never', async () => {
    const levels =
      level(0, 'decimal', '%1.') +
      level(1, 'decimal', '%2.', '<w:lvlRestart w:val="0"/>') +
      level(2, 'decimal', '%3.', '<w:lvlRestart w:val="1"/>')
    const body = [0, 1, 2, 1, 2, 0, 1, 2].map((at) => item('x', 1, at)).join('')

    expect(await textOf(body, [numberingPart(abstract(0, levels) + list(1, 0))])).toBe(
      ['1. x', '    1. x', '        1. x', '    2. x', '        2. x', '2. x', '    3. x', '        1. x'].join('\n'),
    )
  })

  test('may override a level, use digits in legal numbers, and have levels that show nothing', async () => {
    const numbering = numberingPart(
      abstract(
        0,
        level(0, 'upperRoman', 'Article %1') + level(1, 'decimal', '%1.%2', '<w:isLgl/>') + level(2, 'none', ''),
      ) +
        list(1, 0) +
        list(2, 0, `<w:lvlOverride w:ilvl="0">${level(0, 'bullet', '-')}</w:lvlOverride>`),
    )

    expect(
      await textOf(item('scope', 1, 0) + item('digits', 1, 1) + item('bare', 1, 2) + item('dot', 2, 0), [numbering]),
    ).toBe('- Article I scope\n    - 1.1 digits\n\nbare\n\n- dot')
  })

  test('number headings, whose style names the list and whose level names the style', async () => {
    const numPr = '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
    const numbering = numberingPart(
      abstract(
        0,
        level(0, 'decimal', '%1', '<w:pStyle w:val="H1"/>') + level(1, 'decimal', '%1.%2', '<w:pStyle w:val="H2"/>'),
      ) + list(1, 0),
    )
    const styles = stylesPart(
      style('H1', 'heading 1', numPr) +
        style('H2', 'heading 2', numPr) +
        style('Bare', 'Bare', '<w:basedOn w:val="H1"/>'),
    )
    const bare = paragraph(run('Annex'), '<w:pStyle w:val="Bare"/><w:numPr><w:numId w:val="0"/></w:numPr>')

    expect(
      await textOf(
        styled('Scope', 'H1') + styled('Terms', 'H2') + styled('Parties', 'H2') + styled('Law', 'H1') + bare,
        [numbering, styles],
      ),
    ).toBe('# 1 Scope\n\n## 1.1 Terms\n\n## 1.2 Parties\n\n# 2 Law\n\n# Annex')
  })

  test('follow a list style to its levels, once', async () => {
    const numbering = numberingPart(
      '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="Steps"/></w:abstractNum>' +
        abstract(1, level(0, 'upperLetter', '%1)')) +
        '<w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="Loop"/></w:abstractNum>' +
        list(1, 0) +
        list(2, 1) +
        list(3, 2),
    )
    const linked = (id: number) => `<w:pPr><w:numPr><w:numId w:val="${id}"/></w:numPr></w:pPr>`
    const styles = stylesPart(style('Steps', 'Steps', linked(2)) + style('Loop', 'Loop', linked(3)))

    expect(await textOf(item('step', 1, 0) + item('loop', 3, 0), [numbering, styles])).toBe('- A) step\n1. loop')
  })

  test('count empty items, but not items with a tracked deletion', async () => {
    const numPr = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    const deleted = paragraph(`<w:del>${run('gone')}</w:del>`, `${numPr}<w:rPr><w:del w:id="1"/></w:rPr>`)

    expect(
      await textOf(item('one', 1, 0) + paragraph('', numPr) + deleted + item('three', 1, 0), [
        numberingPart(legal + list(1, 0)),
      ]),
    ).toBe('1. one\n3. three')
  })

  test('are bullets when the file does not define them', async () => {
    expect(await textOf(item('one', 1, 0) + item('deep', 1, 99) + item('odd', 2, -5))).toBe(
      `- one\n${' '.repeat(32)}- deep\n- odd`,
    )
  })
})

test.each([
  [3, 'decimalZero', '03'],
  [28, 'lowerLetter', 'bb'],
  [2, 'upperLetter', 'B'],
  [1_000_000, 'upperLetter', '1000000'],
  [1994, 'lowerRoman', 'mcmxciv'],
  [4, 'upperRoman', 'IV'],
  [0, 'upperRoman', '0'],
  [12, 'cardinalText', '12'],
] as const)('%s in %s is %s', (count, format, text) => {
  expect(formatCount(count, format)).toBe(text)
})
