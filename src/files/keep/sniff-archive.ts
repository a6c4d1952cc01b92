import { ServerError } from '../../domain/errors.ts'
import type { FileType } from '../../domain/file.ts'

/** No document that a person made has more parts. */
const MAX_ENTRIES = 10_000

const OFFICE = 'application/vnd.openxmlformats-officedocument'

/** Some programs number the main part (`word/document2.xml`). Binary workbooks (`xl/workbook.bin`) are not accepted. */
const mainParts: readonly { type: FileType; path: RegExp }[] = [
  { type: `${OFFICE}.wordprocessingml.document`, path: /^word\/document\d*\.xml$/i },
  { type: `${OFFICE}.spreadsheetml.sheet`, path: /^xl\/workbook\d*\.xml$/i },
  { type: `${OFFICE}.presentationml.presentation`, path: /^ppt\/presentation\d*\.xml$/i },
]

/**
 * Tells the type of an Office document by the names in its zip directory, without unpacking anything. Null: the zip is not an Office
 * document, or several at once. Throws `file_unreadable` when the directory cannot be trusted.
 */
export async function sniffArchive(path: string): Promise<FileType | null> {
  const found = new Set<FileType>()
  let hasContentTypes = false
  for await (const name of namesIn(path)) {
    hasContentTypes ||= name.toLowerCase() === '[content_types].xml'
    for (const part of mainParts) if (part.path.test(name)) found.add(part.type)
  }
  const [type, ...others] = found
  return hasContentTypes && others.length === 0 ? (type ?? null) : null
}

async function* namesIn(path: string): AsyncGenerator<string> {
  // Loaded with the first archive.
  const { openZip } = await import('../formats/office/open-zip.ts')
  try {
    const archive = await openZip(path, { decodeStrings: true })
    try {
      if (archive.entryCount > MAX_ENTRIES) throw new Error(`${archive.entryCount} entries`)
      for await (const { fileName } of archive.eachEntry()) yield fileName
    } finally {
      archive.close()
    }
  } catch (cause) {
    throw new ServerError('file_unreadable', 'The archive is damaged, incomplete or malicious.', { cause })
  }
}
