import { describe, expect, test } from 'vitest'
import { paragraph, readBody, run, style, styled, stylesPart, textOf } from '../testing/docx-xml.ts'

const basedOn = (id: string): string => `<w:basedOn w:val="${id}"/>`
const outline = (level: number): string => `<w:pPr><w:outlineLvl w:val="${level}"/></w:pPr>`

describe('headings of a Word document', () => {
  test('are recognized by the name of their style, whatever its id is', async () => {
    const styles = stylesPart(
      style('berschrift2', 'heading 2') +
        style('Titel', 'Title') +
        style('Heading1', 'My own text') +
        style('h7', 'heading 7'),
    )

    expect(
      await textOf(styled('T', 'Titel') + styled('H', 'berschrift2') + styled('no', 'Heading1') + styled('7', 'h7'), [
        styles,
      ]),
    ).toBe('# T\n\n## H\n\nno\n\n###### 7')
  })

  test('are recognized by the ancestors of their style, unless the style says it is body text', async () => {
    const styles = stylesPart(
      style('h3', 'heading 3', outline(2)) +
        style('Clause', 'Clause', basedOn('h3')) +
        style('SubClause', 'Sub clause', basedOn('Clause')) +
        style('TOC', 'TOC Heading', basedOn('h3') + outline(9)) +
        style('Chapter', 'Chapter', outline(1)),
    )

    expect(
      await textOf(
        styled('clause', 'SubClause') + styled('contents', 'TOC') + styled('chapter', 'Chapter') + styled('?', 'lost'),
        [styles],
      ),
    ).toBe('### clause\n\ncontents\n\n## chapter\n\n?')
  })

  test('are recognized by the outline level of the paragraph, and by Word’s own styles that the file leaves out', async () => {
    expect(
      await textOf(
        paragraph(run('direct'), '<w:outlineLvl w:val="3"/>') +
          paragraph(run('text'), '<w:pStyle w:val="Heading1"/><w:outlineLvl w:val="9"/>') +
          styled('known', 'Heading2'),
      ),
    ).toBe('#### direct\n\ntext\n\n## known')
  })

  test('become one line without emphasis', async () => {
    expect(
      await textOf(paragraph(`${run('one', '<w:b/>')}<w:r><w:br/></w:r>${run('two')}`, '<w:outlineLvl w:val="0"/>')),
    ).toBe('# one two')
  })

  test('styles that are based on themselves or on each other do not loop', async () => {
    const styles = stylesPart(
      style('self', 'Self', basedOn('self')) +
        style('a', 'A', basedOn('b')) +
        style('b', 'B', basedOn('a') + outline(0)),
    )

    expect(await textOf(styled('one', 'self') + styled('two', 'a'), [styles])).toBe('one\n\n# two')
  })
})

describe('emphasis of a Word document', () => {
  const styles = stylesPart(
    style('Quote', 'Quote', '<w:rPr><w:i/></w:rPr>') +
      style('Ghost', 'Ghost', '<w:rPr><w:vanish/></w:rPr>') +
      '<w:style w:type="character" w:styleId="Strong"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style>' +
      '<w:style w:type="character" w:styleId="Em"><w:name w:val="Emphasis"/><w:rPr><w:i/></w:rPr></w:style>',
  )

  test('comes from the styles of runs and paragraphs; the same emphasis in both cancels itself', async () => {
    const quote = '<w:pStyle w:val="Quote"/>'

    expect(
      await textOf(
        paragraph(run('loud', '<w:rStyle w:val="Strong"/>') + run(' plain', '<w:b w:val="0"/>')) +
          paragraph(
            run('said ') + run('upright', '<w:rStyle w:val="Em"/>') + run(' off', '<w:i w:val="false"/>'),
            quote,
          ),
        [styles],
      ),
    ).toBe('**loud** plain\n\n*said* upright off')
  })

  test('is read as it is after a tracked change', async () => {
    const before = '<w:rPrChange w:id="1"><w:rPr><w:b/><w:vanish/></w:rPr></w:rPrChange>'
    const beforeAll = '<w:pPrChange w:id="2"><w:pPr><w:pStyle w:val="Heading1"/></w:pPr></w:pPrChange>'

    expect(await textOf(paragraph(run('now', before), beforeAll))).toBe('now')
  })

  test('hidden text is left out, by its own mark or by its style', async () => {
    expect(
      await readBody(
        paragraph(run('seen ') + run('secret', '<w:vanish/>') + run('shown', '<w:vanish w:val="0"/>')) +
          styled('all of it', 'Ghost') +
          paragraph(run('the mark at the end alone'), '<w:rPr><w:vanish/></w:rPr>'),
        [styles],
      ),
    ).toEqual({ sections: [{ label: '', text: 'seen shown\n\nthe mark at the end alone' }], notes: [] })
  })
})
