// Makes zips byte by byte, because no ordinary library makes the ones that the tests need.

import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  name: string
  content: string | Uint8Array
  /** The size that the archive states instead of the true one. */
  claimedBytes?: number
  /** Sets only the flag; the content stays as it is. */
  encrypted?: boolean
}

export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const content = Buffer.from(entry.content)
    const packed = deflateRawSync(content, { level: content.length > 1_000_000 ? 1 : 6 })
    const name = Buffer.from(entry.name)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(0x800 + (entry.encrypted === true ? 1 : 0), 2)
    facts.writeUInt16LE(8, 4)
    facts.writeUInt32LE(crc32(content), 10)
    facts.writeUInt32LE(packed.length, 14)
    facts.writeUInt32LE(entry.claimedBytes ?? content.length, 18)
    facts.writeUInt16LE(name.length, 22)
    const header = Buffer.concat([Buffer.from('PK\x03\x04'), facts, name])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    files.push(header, packed)
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), facts, rest, name)
    offset += header.length + packed.length
  }
  const end = Buffer.alloc(18)
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 4)
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 6)
  end.writeUInt32LE(Buffer.concat(directory).length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...files, ...directory, Buffer.from('PK\x05\x06'), end])
}
