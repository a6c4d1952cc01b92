// Word documents written by hand, for things that no library writes.

import type { Extract } from '../../../../domain/session/file.ts'
import { readDocx } from '../docx/read-docx.ts'
import { docxEntries, relationships, type TestRelationship } from './office-files.ts'
import { withFile } from './with-file.ts'
import { type ZipEntry, zipOf } from './zip-of.ts'

/** `body`: the content of `w:body`. */
export const readBody = (
  body: string,
  others: readonly ZipEntry[] = [],
  rels: readonly TestRelationship[] = [],
): Promise<Extract> =>
  withFile(
    zipOf([...docxEntries(body), { name: 'word/_rels/document.xml.rels', content: relationships(rels) }, ...others]),
    readDocx,
  )

/** The text of the only section. */
export const textOf = async (...document: Parameters<typeof readBody>): Promise<string | undefined> =>
  (await readBody(...document)).sections[0]?.text

export const run = (text: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`

export const paragraph = (content: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`

export const styled = (text: string, style: string): string => paragraph(run(text), `<w:pStyle w:val="${style}"/>`)

export const item = (text: string, list: number, level: number): string =>
  paragraph(run(text), `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`)

export const cell = (text: string, properties = ''): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(run(text))}</w:tc>`

export const row = (...cells: string[]): string => `<w:tr>${cells.join('')}</w:tr>`

export const numberingPart = (content: string): ZipEntry => ({
  name: 'word/numbering.xml',
  content: `<w:numbering xmlns:w="w">${content}</w:numbering>`,
})

export const stylesPart = (content: string): ZipEntry => ({
  name: 'word/styles.xml',
  content: `<w:styles xmlns:w="w">${content}</w:styles>`,
})

export const style = (id: string, name: string, content = ''): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${content}</w:style>`

export const notesPart = (kind: 'footnote' | 'endnote' | 'comment', content: string): ZipEntry => ({
  name: `word/${kind}s.xml`,
  content: `<w:${kind}s xmlns:w="w" xmlns:r="r">${content}</w:${kind}s>`,
})
