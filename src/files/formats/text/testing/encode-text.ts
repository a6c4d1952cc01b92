// Node can only decode old encodings. This turns its decoders around.

/** Throws when the encoding has no such character. `encoding` is a name that `TextDecoder` knows. */
export function encodeText(text: string, encoding: string): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text)
  if (encoding === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (encoding === 'utf-16be') return Buffer.from(text, 'utf16le').swap16()
  if (encoding === 'iso-2022-jp') return iso2022jp(text)
  const bytesOf = tableOf(encoding)
  return Buffer.concat(
    Array.from(text, (character) => {
      const bytes = bytesOf.get(character)
      if (bytes === undefined) throw new Error(`${encoding} has no ${character}`)
      return bytes
    }),
  )
}

/** The same two bytes as in EUC-JP, without their high bits, between marks. */
function iso2022jp(text: string): Buffer {
  let isKanji = false
  const parts: Buffer[] = []
  for (const character of text) {
    const bytes = encodeText(character, 'euc-jp')
    if (bytes.length > 1 !== isKanji) parts.push(Buffer.from(isKanji ? '\x1b(B' : '\x1b$B'))
    isKanji = bytes.length > 1
    parts.push(isKanji ? Buffer.from(bytes.map((byte) => byte & 0x7f)) : bytes)
  }
  return Buffer.concat([...parts, Buffer.from(isKanji ? '\x1b(B' : '')])
}

const tables = new Map<string, Map<string, Buffer>>()

function tableOf(encoding: string): Map<string, Buffer> {
  const known = tables.get(encoding)
  if (known !== undefined) return known
  const table = new Map<string, Buffer>()
  const decoder = new TextDecoder(encoding, { fatal: true })
  const add = (...bytes: number[]): void => {
    try {
      const text = decoder.decode(Uint8Array.from(bytes))
      if ([...text].length === 1 && !table.has(text)) table.set(text, Buffer.from(bytes))
    } catch {
      // The encoding does not use these bytes.
    }
  }
  for (let first = 0; first < 256; first++) add(first)
  if (multiByte.has(encoding)) {
    for (let first = 0x81; first < 0xff; first++) for (let second = 0x40; second < 0xff; second++) add(first, second)
  }
  tables.set(encoding, table)
  return table
}

const multiByte = new Set(['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr'])
