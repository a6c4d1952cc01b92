import { describe, expect, test } from 'vitest'
import { pptxEntries, relationships, shape, slideText, type TestSlide } from '../testing/office-files.ts'
import { withFile } from '../testing/with-file.ts'
import { type ZipEntry, zipOf } from '../testing/zip-of.ts'
import { readPptx } from './read-pptx.ts'

const read = (slides: readonly TestSlide[], others: readonly ZipEntry[] = []) =>
  withFile(zipOf(pptxEntries(slides, others)), readPptx)

const title = (text: string) => shape(slideText(text), '<p:ph type="title"/>')

describe('readPptx', () => {
  test('gives the slides in the order of the presentation, not of the file names', async () => {
    const { sections } = await read([
      { part: 'slide9', shapes: title('First') },
      { part: 'slide1', shapes: title('Second') },
      { part: 'slide10', shapes: '' },
    ])

    expect(sections).toEqual([
      { label: 'slide 1', text: '# First' },
      { label: 'slide 2', text: '# Second' },
      { label: 'slide 3', text: '' },
    ])
  })

  test('leaves out a link that is too long, however often it is used', async () => {
    const target = `https://example.com/${'a'.repeat(200_000)}`
    const run = '<a:r><a:rPr><a:hlinkClick r:id="l1"/></a:rPr><a:t>x</a:t></a:r>'
    const { sections } = await read([
      {
        part: 'slide1',
        relationships: [{ id: 'l1', type: 'hyperlink', target, external: true }],
        shapes: shape(`<a:p>${run.repeat(20_000)}</a:p>`),
      },
    ])

    expect(sections).toEqual([{ label: 'slide 1', text: 'x'.repeat(20_000) }])
  })

  test('puts the title first, then lists as they are nested and numbered, tables and links', async () => {
    const { sections } = await read([
      {
        part: 'slide1',
        relationships: [{ id: 'l1', type: 'hyperlink', target: 'https://example.com/a', external: true }],
        shapes:
          shape(slideText('Point') + slideText('Below it', 'lvl="1"') + slideText('Next'), '<p:ph idx="1"/>') +
          shape(
            '<a:p><a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr><a:r><a:t>One</a:t></a:r></a:p>' +
              '<a:p><a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr><a:r><a:t>Two</a:t></a:r></a:p>',
          ) +
          '<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>H|1</a:t></a:r></a:p></a:txBody></a:tc><a:tc/></a:tr>' +
          '<a:tr><a:tc><a:txBody><a:p><a:r><a:t>a</a:t></a:r><a:br/><a:r><a:t>b</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>c</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>' +
          shape(
            '<a:p><a:r><a:rPr><a:hlinkClick r:id="l1"/></a:rPr><a:t>site</a:t></a:r><a:r><a:t> &amp; more</a:t></a:r></a:p>',
          ) +
          title('The title'),
      },
    ])

    expect(sections).toEqual([
      {
        label: 'slide 1',
        text: [
          '# The title',
          '',
          '- Point',
          '    - Below it',
          '- Next',
          '1. One',
          '2. Two',
          '',
          '| H\\|1 |  |',
          '| --- | --- |',
          '| a<br>b | c |',
          '',
          '[site](https://example.com/a) & more',
        ].join('\n'),
      },
    ])
  })

  test('adds the speaker notes, without page numbers and headers', async () => {
    const field = '<a:p><a:fld type="slidenum"><a:t>7</a:t></a:fld></a:p>'
    const { sections } = await read(
      [
        {
          part: 'slide1',
          relationships: [{ id: 'n1', type: 'notesSlide', target: '../notesSlides/notesSlide3.xml' }],
          shapes:
            shape(slideText('42')) +
            shape(field, '<p:ph type="sldNum"/>') +
            shape(`<a:p><a:r><a:t>Page </a:t></a:r><a:fld type="slidenum"><a:t>7</a:t></a:fld></a:p>`) +
            shape(slideText('Confidential'), '<p:ph type="ftr"/>') +
            shape('<a:p><a:fld type="datetime1"><a:t>1/2/2026</a:t></a:fld></a:p>', '<p:ph type="dt"/>'),
        },
      ],
      [
        {
          name: 'ppt/notesSlides/notesSlide3.xml',
          content: `<p:notes>${shape(slideText('Speak slowly.') + slideText('Then stop.'), '<p:ph type="body"/>')}${shape(field, '<p:ph type="sldNum"/>')}</p:notes>`,
        },
      ],
    )

    expect(sections).toEqual([{ label: 'slide 1', text: '42\n\nPage\n\nNotes: Speak slowly.\nThen stop.' }])
  })

  test('reads charts, diagrams, groups and descriptions, and alternative content only once', async () => {
    const extract = await read(
      [
        {
          part: 'slide1',
          hidden: true,
          relationships: [
            { id: 'c1', type: 'chart', target: '../charts/chart1.xml' },
            { id: 'd1', type: 'diagramData', target: '/ppt/diagrams/data1.xml' },
          ],
          shapes:
            `<p:grpSp><p:grpSp>${shape(slideText('In a group'))}</p:grpSp></p:grpSp>` +
            `<mc:AlternateContent><mc:Choice>${shape(slideText('New'))}</mc:Choice><mc:Fallback>${shape(slideText('Old'))}</mc:Fallback></mc:AlternateContent>` +
            '<p:graphicFrame><c:chart r:id="c1"/></p:graphicFrame><p:graphicFrame><dgm:relIds r:dm="d1"/></p:graphicFrame>' +
            '<p:pic><p:nvPicPr><p:cNvPr descr="A red boat"/></p:nvPicPr></p:pic><p:pic><p:nvPicPr><p:cNvPr/></p:nvPicPr></p:pic>',
        },
      ],
      [
        {
          name: 'ppt/charts/chart1.xml',
          content:
            '<c:chartSpace><c:title><a:t>Sales</a:t></c:title><c:ser><c:tx><c:v>Boats</c:v></c:tx><c:cat><c:pt idx="0"><c:v>Q1</c:v></c:pt><c:pt idx="1"><c:v>Q2</c:v></c:pt></c:cat><c:val><c:pt idx="1"><c:v>20</c:v></c:pt></c:val></c:ser></c:chartSpace>',
        },
        {
          name: 'ppt/diagrams/data1.xml',
          content: '<dgm:m><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:m>',
        },
        { name: 'ppt/_rels/unused.xml.rels', content: relationships([]) },
      ],
    )

    expect(extract).toEqual({
      sections: [
        {
          label: 'slide 1',
          text: [
            'In a group',
            'New',
            'Chart: Sales',
            '|  | Boats |\n| --- | --- |\n| Q1 |  |\n| Q2 | 20 |',
            '- Plan',
            'Picture: A red boat',
          ].join('\n\n'),
        },
      ],
      notes: ['Hidden in the presentation: slide 1.', 'One picture without a description could not be read.'],
    })
  })

  test('stops when one large slide is shown too often', async () => {
    const slide = { part: 'slide1', shapes: shape(slideText('lorem '.repeat(100_000))) }
    const { sections, notes } = await read(Array.from({ length: 50 }, () => slide))

    expect(sections.length).toBe(7)
    expect(notes).toEqual([
      'The presentation has 50 slides; only the first 7 were read.',
      'The file has 4,199,993 characters; everything after the first 4,000,000 is left out.',
    ])
  })
})
