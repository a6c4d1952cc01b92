import { readFile } from 'node:fs/promises'
import type { OfficeContentNode } from 'officeparser'
import { ServerError } from '../../domain/errors.ts'
import type { Extract } from '../../domain/file.ts'
import { archiveLimits } from '../safe-archive.ts'
import { renderDocx } from './docx-markdown.ts'
import { limitExtract } from './extract-limit.ts'
import { type OfficePackage, openOfficePackage } from './office-package.ts'
import { readChart } from './read-chart.ts'
import { damaged, unreadable } from './unreadable.ts'

/**
 * The parser holds a tree: 150,000 elements (120,000 words in plain paragraphs) were measured at 430 MB, 400,000 at 700 MB, which
 * is all that a reading process may have. 250,000 are some 800 pages as Word writes them.
 */
const maxXmlElements = 250_000

/**
 * One section: headings, nested and numbered lists, tables, links, bold and italic, footnotes below the text, the numbers
 * behind charts, descriptions of pictures. Headers, footers, comments and deleted text are left out.
 */
export async function readDocx(path: string): Promise<Extract> {
  const pack = await openOfficePackage(path, 'docx')
  try {
    await countElements(pack)
    const content = await parse(path)
    const charts = await chartsOf(pack, content)
    const { text, pictures } = renderDocx(content, charts)
    const notes: string[] = []
    if (pictures > 0) {
      notes.push(`${pictures === 1 ? 'One picture' : `${pictures} pictures`} without a description could not be read.`)
    }
    return limitExtract({ sections: [{ label: '', text }], notes })
  } finally {
    pack.close()
  }
}

/** Before the tree is built: finds too many elements, and nesting so deep that the parser's recursion would not end well. */
async function countElements(pack: OfficePackage): Promise<void> {
  let elements = 0
  for (const part of pack.parts) {
    if (part !== pack.main && !/^word\/[^/]+\.xml$/.test(part)) continue
    await pack.scan(part, {
      open() {
        elements += 1
        if (elements > maxXmlElements) throw tooMuch()
      },
    })
  }
}

async function parse(path: string): Promise<OfficeContentNode[]> {
  const { OfficeParser } = await import('officeparser')
  try {
    const parsed = await OfficeParser.parseOffice(await readFile(path), {
      fileType: 'docx',
      ignoreHeadersAndFooters: true,
      ignoreComments: true,
      decompressionLimits: {
        maxUncompressedBytes: archiveLimits.bytes,
        maxZipEntries: archiveLimits.entries,
        maxTableCells: 200_000,
        maxXmlElements,
      },
    })
    return parsed.content
  } catch (error) {
    if (error instanceof ServerError) throw error
    throw String(error).includes('LIMIT_EXCEEDED') ? tooMuch() : damaged(error)
  }
}

async function chartsOf(pack: OfficePackage, content: readonly OfficeContentNode[]): Promise<Map<string, string>> {
  const charts = new Map<string, string>()
  const collect = (nodes: readonly OfficeContentNode[]): void => {
    for (const node of nodes) {
      if (node.type === 'chart' && node.metadata !== undefined) charts.set(node.metadata.attachmentName, '')
      if (node.children !== undefined) collect(node.children)
    }
  }
  collect(content)
  for (const name of charts.keys()) {
    const part = `word/charts/${name}`
    if (pack.has(part)) charts.set(name, await readChart(pack, part))
  }
  return charts
}

const tooMuch = () => unreadable('The document holds more than is read: split it into several, or attach it as a PDF.')
