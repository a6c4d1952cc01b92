// What Word, Excel and PowerPoint files have in common: a zip whose parts refer to each other by relationships.

import { posix } from 'node:path'
import { damaged, unreadable } from '../unreadable.ts'
import { openSafeArchive, type SafeArchive } from './safe-archive.ts'
import { attribute, scanXml, type XmlHandler } from './xml-scanner.ts'

type OfficeKind = 'docx' | 'xlsx' | 'pptx'

export interface Relationship {
  /** The last word of the type: `slide`, `hyperlink`, `worksheet`. */
  type: string
  /** The name of a part, or an address if `external` is true. */
  target: string
  external: boolean
}

const rootOf: Record<OfficeKind, string> = { docx: 'document', xlsx: 'workbook', pptx: 'presentation' }
const wordFor = new Map([
  ['document', 'a Word document'],
  ['workbook', 'an Excel workbook'],
  ['presentation', 'a PowerPoint presentation'],
])

/** Throws `file_unreadable`, also when the file is an Office file of another kind. */
export async function openOfficePackage(path: string, kind: OfficeKind): Promise<OfficePackage> {
  const archive = await openSafeArchive(path)
  try {
    const opened = packageOf(archive, '')
    const named = [...(await opened.relationshipsOf('')).values()].find((one) => one.type === 'officeDocument')?.target
    // Some programs leave out the first relationships, but all of them use these names.
    const main = [named, 'word/document.xml', 'xl/workbook.xml', 'ppt/presentation.xml'].find(
      (part) => part !== undefined && archive.names.has(part),
    )
    if (main === undefined) throw unreadable('The file is not an Office document.')
    const root = await rootElementOf(archive, main)
    if (root !== rootOf[kind]) {
      throw unreadable(`The file is ${wordFor.get(root) ?? 'something else'}, not ${wordFor.get(rootOf[kind])}.`)
    }
    return packageOf(archive, main)
  } catch (error) {
    archive.close()
    throw error
  }
}

/**
 * For all scans of a file together: a part that is used a thousand times, such as a chart on every slide, is read a thousand
 * times. A sheet of 100,000 rows and 10 columns has 25 MB and 2,100,000 elements.
 */
const scanLimits = { bytes: 75_000_000, elements: 4_000_000 } as const

const tooMuch = () => unreadable('The file is too long to be read: split it into several files and attach those.')

function packageOf(archive: SafeArchive, main: string) {
  let bytes = 0
  let elements = 0

  async function* counted(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      bytes += chunk.length
      if (bytes > scanLimits.bytes) throw tooMuch()
      yield chunk
    }
  }

  /** Throws `file_unreadable`, also when all scans of the file together exceed the limits. */
  const scan = (part: string, handler: XmlHandler) =>
    scanXml(counted(archive.read(part)), {
      ...handler,
      open(name, attributes) {
        elements += 1
        if (elements > scanLimits.elements) throw tooMuch()
        handler.open?.(name, attributes)
      },
    })

  return {
    /** Name of the main part: the document, workbook or presentation. */
    main,
    parts: archive.names,
    has: (part: string): boolean => archive.names.has(part),
    scan,
    /** By id. Empty for a part without relationships. */
    async relationshipsOf(part: string): Promise<Map<string, Relationship>> {
      const found = new Map<string, Relationship>()
      const rels = posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`)
      if (!archive.names.has(rels)) return found
      await scan(rels, {
        open(name, attributes) {
          const id = attribute(attributes, 'Id')
          const target = attribute(attributes, 'Target')
          if (name !== 'Relationship' || id === undefined || target === undefined) return
          const external = attribute(attributes, 'TargetMode') === 'External'
          const type = attribute(attributes, 'Type')?.split('/').at(-1) ?? ''
          found.set(id, { type, target: external ? target : partName(part, target), external })
        },
      })
      return found
    },
    close: (): void => archive.close(),
  }
}

export type OfficePackage = ReturnType<typeof packageOf>

/** A target is relative to the part that names it, or starts at the root. It cannot leave the file: it is only looked up there. */
const partName = (from: string, target: string): string => posix.resolve('/', posix.dirname(from), target).slice(1)

async function rootElementOf(archive: SafeArchive, part: string): Promise<string> {
  let root = ''
  try {
    await scanXml(archive.read(part), {
      open(name) {
        root = name
        throw rootFound
      },
    })
  } catch (error) {
    if (error !== rootFound) throw error
  }
  if (root === '') throw damaged()
  return root
}

const rootFound = new Error('root found')
