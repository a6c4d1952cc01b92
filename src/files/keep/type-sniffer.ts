import { ServerError } from '../../domain/errors.ts'
import { type FileType, isImage, isText } from '../../domain/file.ts'
import { agreedType, mismatch, unknownContent, unknownEncoding } from './agreed-type.ts'
import { sniffArchive } from './sniff-archive.ts'
import { HEAD_BYTES, headBytes, isOleContainer, type Signature, sniffSignature } from './sniff-signature.ts'
import { createTextSniffer } from './sniff-text.ts'

/** Finds out the type of a file while it arrives. Both methods throw `unsupported_media_type` as soon as that is certain. */
export interface TypeSniffer {
  take(bytes: Uint8Array): void
  /** `path`: the complete file. Throws `file_unreadable` for an archive whose directory cannot be read. */
  end(path: string): Promise<FileType>
}

const ARCHIVE = 'a ZIP archive'

export function createTypeSniffer(declared: FileType | null, name: string): TypeSniffer {
  const text = createTextSniffer()
  let head = new Uint8Array(0)
  /** Undefined until the head is complete. */
  let signature: Signature | null | undefined

  function decide(): void {
    signature = sniffSignature(head)
    if (signature === 'zip') {
      if (declared !== null && !isOffice(declared)) throw mismatch(declared, ARCHIVE, name)
    } else if (signature !== null) agreedType(signature, declared, name)
    else takeText(head)
  }

  function takeText(bytes: Uint8Array): void {
    if (isOleContainer(head) || !text.take(bytes)) throw unknownContent(declared, descriptionOf(head), name)
    if (declared !== null && !isText(declared)) throw unknownContent(declared, 'text or of an unknown type', name)
  }

  return {
    take(bytes) {
      if (signature === null) takeText(bytes)
      if (signature !== undefined) return
      head = Buffer.concat([head, bytes])
      if (head.length >= HEAD_BYTES && head.length >= headBytes(head)) decide()
    },

    async end(path) {
      if (signature === undefined) decide()
      if (signature === 'zip') return agreedType(await archiveType(path), declared, name)
      if (signature != null) return agreedType(signature, declared, name)
      const found = text.end()
      if (found === 'unknown encoding') throw unknownEncoding(name)
      if (found === 'not text') throw unknownContent(declared, descriptionOf(head), name)
      return agreedType('text/plain', declared, name)
    },
  }

  async function archiveType(path: string): Promise<FileType> {
    try {
      const type = await sniffArchive(path)
      if (type !== null) return type
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      throw new ServerError('file_unreadable', `${JSON.stringify(name)} cannot be read. ${error.message}`, {
        details: { name },
        cause: error,
      })
    }
    throw unknownContent(declared, `${ARCHIVE} that is not an Office document`, name)
  }
}

const isOffice = (type: FileType): boolean => !isText(type) && !isImage(type) && type !== 'application/pdf'

const descriptionOf = (head: Uint8Array): string =>
  isOleContainer(head)
    ? 'an Office document that is locked with a password or older than 2007'
    : 'not of an accepted type'
