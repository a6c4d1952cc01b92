// Writes small PDFs, so that tests can make things that no program would write.

interface PdfPage {
  /** Drawn as lines of text from top to bottom, or from the last to the first with `bottomUp`. */
  lines?: string[]
  bottomUp?: boolean
  /** Fills the page. */
  picture?: { bytes: Uint8Array; width: number; height: number; filter: string; more?: string }
  size?: [number, number]
}

export function pdfOf(
  pages: readonly PdfPage[],
  options: { trailer?: string; catalog?: string; kids?: string } = {},
): Buffer {
  const objects: Buffer[] = []
  const add = (body: Buffer | string): number => objects.push(Buffer.from(body as string))

  add(`<< /Type /Catalog /Pages 2 0 R ${options.catalog ?? ''} >>`)
  add('')
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>')
  const kids = pages.map(({ lines = [], bottomUp, picture, size: [width, height] = [595, 842] }) => {
    const shown = lines.map(
      (line, at) => `1 0 0 1 60 ${height - 60 - at * 16} Tm (${line.replace(/[\\()]/g, '\\$&')}) Tj`,
    )
    const text = `BT /F1 11 Tf ${(bottomUp ? shown.reverse() : shown).join('\n')} ET`
    const content =
      picture === undefined ? text : `q ${width} 0 0 ${height} 0 0 cm /Im Do Q ${lines.length > 0 ? text : ''}`
    const contents = add(pdfStream('', Buffer.from(content, 'latin1')))
    const image =
      picture === undefined
        ? ''
        : `/XObject << /Im ${add(
            pdfStream(
              `/Type /XObject /Subtype /Image /Width ${picture.width} /Height ${picture.height} ${picture.more?.includes('/ColorSpace') ? '' : '/ColorSpace /DeviceGray'} /BitsPerComponent ${picture.filter === 'CCITTFaxDecode' ? 1 : 8} /Filter /${picture.filter} ${picture.more ?? ''}`,
              picture.bytes,
            ),
          )} 0 R >>`
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${contents} 0 R /Resources << /Font << /F1 3 0 R >> ${image} >> >>`,
    )
  })
  objects[1] = Buffer.from(
    `<< /Type /Pages /Count ${kids.length} /Kids [${options.kids ?? kids.map((kid) => `${kid} 0 R`).join(' ')}] >>`,
  )
  return pdfOfObjects(objects, options.trailer)
}

export const pdfStream = (dictionary: string, bytes: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from(`<< ${dictionary} /Length ${bytes.length} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ])

/** The first object is the catalog. */
export function pdfOfObjects(objects: readonly (string | Uint8Array)[], trailer = ''): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let at = parts[0]?.length ?? 0
  for (const [index, body] of objects.entries()) {
    offsets.push(at)
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(body), Buffer.from('\nendobj\n')])
    parts.push(part)
    at += part.length
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}
