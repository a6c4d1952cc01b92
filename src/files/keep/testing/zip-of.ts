import { crc32 } from 'node:zlib'

/** A zip with these entries, stored as they are. Names are written as they are, too: hostile ones come out hostile. */
export function zipOf(entries: Readonly<Record<string, string>>): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(entries)) {
    const data = Buffer.from(text)
    // Version, flags, method, time, date, checksum, two sizes, lengths of name and extra field: the same in both headers.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, rest, Buffer.from(name)]))
    files.push(local)
    offset += local.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(directory.length, 8)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...files, listed, end])
}

const officeOf =
  (main: string) =>
  (more: Readonly<Record<string, string>> = {}) =>
    zipOf({ '[Content_Types].xml': '<Types/>', '_rels/.rels': '<Relationships/>', [main]: '<x/>', ...more })

export const docxOf = officeOf('word/document.xml')
export const xlsxOf = officeOf('xl/workbook.xml')
export const pptxOf = officeOf('ppt/presentation.xml')
