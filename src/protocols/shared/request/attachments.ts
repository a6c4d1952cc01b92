// Stores the files of a request, for every protocol that takes files.

import type { ModelInput } from '../../../domain/agent/agent.ts'
import { ServerError } from '../../../domain/errors.ts'
import { type FileRecord, fileLimits, isImage } from '../../../domain/session/file.ts'
import type { FileKeeper, IncomingFile } from '../../../files/file-keeper.ts'
import type { MultipartFile } from '../../../http/body/multipart.ts'
import { ClientGone } from '../../../http/client-gone.ts'
import { decodeBase64, decodedBytes, type SentFile } from './sent-file.ts'

export interface Attachments {
  /**
   * Stores the files of a JSON body and looks up those that it refers to, in order. Throws like `refuseExcess` before anything is
   * decoded, then `invalid_request` for invalid base64, `file_not_found`, and what `FileKeeper.add` throws. With `keep`, files that
   * cannot be read are kept too.
   */
  take(owner: string, sent: readonly SentFile[], unreadable?: IncomingFile['unreadable']): Promise<FileRecord[]>
  /** Stores one part of a form. The form reader limits the number and the total size. */
  upload(owner: string, part: MultipartFile): Promise<FileRecord>
  /**
   * For protocols that refuse a request before a run starts: throws `file_unreadable` that names the file. Images are not checked if the
   * model `takes` images.
   */
  check(files: readonly FileRecord[], takes: readonly ModelInput[] | undefined, signal: AbortSignal): Promise<void>
}

export interface AttachmentsDeps {
  files: Pick<FileKeeper, 'add' | 'find'>
  /** Throws `file_unreadable` with a sentence that does not name the file. The second call is cheap. */
  readable(file: FileRecord, signal: AbortSignal): Promise<void>
  /** Null: the server does not fetch files. */
  fetchFile: FetchFile | null
}

/** Throws `invalid_request`, `file_too_large` or `file_unreadable`. */
export type FetchFile = (
  url: string,
  signal: AbortSignal,
) => Promise<{ content: Uint8Array; mimeType: string | null; name: string | null }>

export function createAttachments({ files, readable, fetchFile }: AttachmentsDeps): Attachments {
  type Unreadable = NonNullable<IncomingFile['unreadable']>

  async function fetched(sent: Extract<SentFile, { url: string }>) {
    if (fetchFile === null) {
      const detail = 'This server does not fetch addresses. Send the file itself, or the id of an uploaded file.'
      throw new ServerError('invalid_request', 'A file cannot be used.', {
        problems: [{ pointer: sent.pointer, detail }],
      })
    }
    const { content, mimeType, name } = await fetchFile(sent.url, new AbortController().signal)
    async function* pieces() {
      yield content
    }
    return { name: sent.name ?? name, mimeType: sent.mimeType ?? mimeType, content: pieces() }
  }

  async function takeOne(owner: string, sent: SentFile, unreadable: Unreadable): Promise<FileRecord> {
    if ('fileId' in sent) return files.find(owner, sent.fileId)
    const { name, mimeType, content } =
      'url' in sent ? await fetched(sent) : { ...sent, content: decodeBase64(sent.base64, sent.pointer) }
    return files.add({ owner, name, mimeType, content, maxBytes: fileLimits.base64Bytes, unreadable })
  }

  return {
    async take(owner, sent, unreadable = 'refuse') {
      refuseExcess(sent)
      const taken: FileRecord[] = []
      for (const one of sent) taken.push(await takeOne(owner, one, unreadable))
      return taken
    },

    upload: (owner, { filename: name, mimeType, content }) =>
      files.add({ owner, name, mimeType, content, maxBytes: fileLimits.multipartBytes }),

    async check(checked, takes, signal) {
      for (const file of checked) {
        if (isImage(file.mimeType) && takes?.includes('image')) continue
        await readable(file, signal).catch((error: unknown) => {
          if (signal.aborted) throw new ClientGone()
          throw naming(file, error)
        })
      }
    },
  }
}

/** Checks limits without decoding. Throws `too_many_files` and `file_too_large`. */
export function refuseExcess(sent: readonly SentFile[]): void {
  const { files, base64Bytes, totalBytes } = fileLimits
  if (sent.length > files) {
    throw new ServerError('too_many_files', `The message has ${sent.length} files. Send at most ${files}.`, {
      details: { max_files: files },
    })
  }
  let total = 0
  for (const one of sent) {
    if (!('base64' in one)) continue
    const bytes = decodedBytes(one.base64)
    if (bytes > base64Bytes) throw fileTooLarge(one.pointer)
    total += bytes
    if (total > totalBytes) {
      throw new ServerError('file_too_large', `The files are larger than ${totalBytes / 1e6} MB together.`, {
        details: { max_bytes: totalBytes },
      })
    }
  }
}

/** For `Runs.start`. */
export const startFiles = (files: readonly FileRecord[]): { files?: string[] } =>
  files.length === 0 ? {} : { files: [...new Set(files.map(({ id }) => id))] }

function naming(file: FileRecord, error: unknown): unknown {
  if (!(error instanceof ServerError) || error.code !== 'file_unreadable') return error
  const { id, name } = file
  return new ServerError('file_unreadable', `${JSON.stringify(name)} cannot be read. ${error.message}`, {
    details: { file_id: id, name },
    cause: error,
  })
}

/** An empty `pointer` means the whole body, of which the rest has not arrived. */
export const fileTooLarge = (pointer = ''): ServerError =>
  new ServerError('file_too_large', `A file is larger than ${fileLimits.base64Bytes / 1e6} MB.`, {
    details: { max_bytes: fileLimits.base64Bytes },
    problems: [{ pointer, detail: 'Upload it to /files in a form, where files may be larger, and send its id.' }],
  })
