// The smallest files that Word, Excel and PowerPoint would open, with content from a test.

import type { ZipEntry } from './zip-of.ts'

const types = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

export interface TestRelationship {
  id: string
  type: string
  target: string
  external?: boolean
}

export const relationships = (of: readonly TestRelationship[]): string =>
  `<Relationships>${of
    .map(
      ({ id, type, target, external }) =>
        `<Relationship Id="${id}" Type="${types}/${type}" Target="${target}"${external ? ' TargetMode="External"' : ''}/>`,
    )
    .join('')}</Relationships>`

/** This list of parts marks an archive as an Office document. */
export const contentTypes: ZipEntry = { name: '[Content_Types].xml', content: '<Types/>' }

const root = (main: string): ZipEntry[] => [
  contentTypes,
  { name: '_rels/.rels', content: relationships([{ id: 'rId1', type: 'officeDocument', target: main }]) },
]

/** `body`: the content of `w:body`. */
export const docxEntries = (body: string): ZipEntry[] => [
  ...root('word/document.xml'),
  { name: 'word/document.xml', content: `<w:document xmlns:w="w" xmlns:r="r"><w:body>${body}</w:body></w:document>` },
]

interface TestSheet {
  name: string
  /** Content of `sheetData`. */
  rows: string
  state?: string
  merged?: string
  /** Content of `hyperlinks`. */
  links?: string
  relationships?: readonly TestRelationship[]
}

export interface TestWorkbook {
  sheets: readonly TestSheet[]
  strings?: string
  /** Content of `styleSheet`. */
  styles?: string
  from1904?: boolean
}

export const xlsxEntries = ({ sheets, strings, styles, from1904 }: TestWorkbook): ZipEntry[] => [
  ...root('xl/workbook.xml'),
  {
    name: 'xl/workbook.xml',
    content: `<workbook><workbookPr${from1904 ? ' date1904="1"' : ''}/><sheets>${sheets
      .map(
        ({ name, state }, at) =>
          `<sheet name="${name}" sheetId="${at}" r:id="s${at}"${state ? ` state="${state}"` : ''}/>`,
      )
      .join('')}</sheets></workbook>`,
  },
  {
    name: 'xl/_rels/workbook.xml.rels',
    content: relationships([
      ...sheets.map((_, at) => ({ id: `s${at}`, type: 'worksheet', target: `worksheets/sheet${at}.xml` })),
      { id: 'strings', type: 'sharedStrings', target: 'sharedStrings.xml' },
      { id: 'styles', type: 'styles', target: '/xl/styles.xml' },
    ]),
  },
  { name: 'xl/sharedStrings.xml', content: `<sst>${strings ?? ''}</sst>` },
  { name: 'xl/styles.xml', content: `<styleSheet>${styles ?? ''}</styleSheet>` },
  ...sheets.flatMap(({ rows, merged, links, relationships: others = [] }, at) => [
    {
      name: `xl/worksheets/sheet${at}.xml`,
      content: `<worksheet><sheetData>${rows}</sheetData>${merged ? `<mergeCells>${merged}</mergeCells>` : ''}${links ? `<hyperlinks>${links}</hyperlinks>` : ''}</worksheet>`,
    },
    { name: `xl/worksheets/_rels/sheet${at}.xml.rels`, content: relationships(others) },
  ]),
]

export interface TestSlide {
  /** File name without its ending. */
  part: string
  /** Content of `p:spTree`. */
  shapes: string
  hidden?: boolean
  relationships?: readonly TestRelationship[]
}

/** The slides in the order of the presentation, and other parts that they need. */
export const pptxEntries = (slides: readonly TestSlide[], others: readonly ZipEntry[] = []): ZipEntry[] => [
  ...root('ppt/presentation.xml'),
  {
    name: 'ppt/presentation.xml',
    content: `<p:presentation><p:sldIdLst>${slides
      .map((_, at) => `<p:sldId id="${256 + at}" r:id="rId${at}"/>`)
      .join('')}</p:sldIdLst></p:presentation>`,
  },
  {
    name: 'ppt/_rels/presentation.xml.rels',
    content: relationships(
      slides.map(({ part }, at) => ({ id: `rId${at}`, type: 'slide', target: `slides/${part}.xml` })),
    ),
  },
  ...[...new Map(slides.map((slide) => [slide.part, slide])).values()].flatMap((slide) => [
    {
      name: `ppt/slides/${slide.part}.xml`,
      content: `<p:sld${slide.hidden ? ' show="0"' : ''}><p:cSld><p:spTree>${slide.shapes}</p:spTree></p:cSld></p:sld>`,
    },
    { name: `ppt/slides/_rels/${slide.part}.xml.rels`, content: relationships(slide.relationships ?? []) },
  ]),
  ...others,
]

/** `paragraphs`: XML in `p:txBody`. */
export const shape = (paragraphs: string, placeholder = ''): string =>
  `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs}</p:txBody></p:sp>`

export const slideText = (text: string, properties = ''): string =>
  `<a:p><a:pPr ${properties}/><a:r><a:t>${text}</a:t></a:r></a:p>`
