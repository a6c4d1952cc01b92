// What Word, Excel and PowerPoint files have in common: a zip of parts that refer to each other by relationships.

import { posix } from 'node:path'
import { damaged, unreadable } from '../unreadable.ts'
import { openSafeArchive, type SafeArchive } from './safe-archive.ts'
import { attribute, scanXml, type XmlHandler } from './xml-scanner.ts'

export type OfficeKind = 'docx' | 'xlsx' | 'pptx'

export interface OfficePackage {
  /** Name of the part that the others hang from. */
  main: string
  has(part: string): boolean
  parts: ReadonlySet<string>
  /** Throws `file_unreadable` also when all scans together come to more than a file may ask for. */
  scan(part: string, handler: XmlHandler): Promise<void>
  /** By id; empty where a part has none. */
  relationshipsOf(part: string): Promise<Map<string, Relationship>>
  close(): void
}

export interface Relationship {
  /** The last word of its type: `slide`, `hyperlink`, `worksheet`. */
  type: string
  /** A part's name, or the address where it leads out of the file. */
  target: string
  external: boolean
}

const rootOf: Record<OfficeKind, string> = { docx: 'document', xlsx: 'workbook', pptx: 'presentation' }
const wordFor = new Map([
  ['document', 'a Word document'],
  ['workbook', 'an Excel workbook'],
  ['presentation', 'a PowerPoint presentation'],
])

/** Throws `file_unreadable` also when the file is an Office file of another kind. */
export async function openOfficePackage(path: string, kind: OfficeKind): Promise<OfficePackage> {
  const archive = await openSafeArchive(path)
  try {
    const opened = packageOf(archive, '')
    const named = [...(await opened.relationshipsOf('')).values()].find((one) => one.type === 'officeDocument')?.target
    // Some writers leave the first relationships out; every program writes these names.
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
 * A part may be named many times, as the slide behind a thousand numbers or the chart on each of them, and is then read as
 * often. A sheet of 100,000 rows and 10 columns is 25 MB and 2,100,000 elements.
 */
const scanLimits = { bytes: 75_000_000, elements: 4_000_000 } as const

const tooMuch = () => unreadable('The file holds more than is read: split it into several and attach those.')

function packageOf(archive: SafeArchive, main: string): OfficePackage {
  let bytes = 0
  let elements = 0

  async function* counted(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      bytes += chunk.length
      if (bytes > scanLimits.bytes) throw tooMuch()
      yield chunk
    }
  }

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
    main,
    parts: archive.names,
    has: (part) => archive.names.has(part),
    scan,
    async relationshipsOf(part) {
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
    close: () => archive.close(),
  }
}

/** A target is relative to the part that names it, or begins at the root of the file. It cannot lead out: names are looked up. */
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
