import { zipOf as zipOfEntries } from '../../formats/office/testing/zip-of.ts'

/** Content by name. Names are written as they are, also hostile ones. */
type Entries = Readonly<Record<string, string>>

export const zipOf = (entries: Entries): Buffer =>
  zipOfEntries(Object.entries(entries).map(([name, content]) => ({ name, content })))

const officeOf =
  (main: string) =>
  (more: Entries = {}) =>
    zipOf({ '[Content_Types].xml': '<Types/>', '_rels/.rels': '<Relationships/>', [main]: '<x/>', ...more })

export const docxOf = officeOf('word/document.xml')
export const xlsxOf = officeOf('xl/workbook.xml')
export const pptxOf = officeOf('ppt/presentation.xml')
