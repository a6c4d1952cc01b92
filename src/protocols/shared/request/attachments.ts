// The files that a request brings: into the keeper, and into the message that they belong to. Every door that takes files does
// it with these.

import type { ModelInput } from '../../../domain/agent.ts'
import { ServerError } from '../../../domain/errors.ts'
import { type FileRecord, fileLimits, isImage } from '../../../domain/file.ts'
import type { FileKeeper } from '../../../files/file-keeper.ts'
import type { MultipartFile } from '../../../http/body/multipart.ts'
import { ClientGone } from '../../../http/client-gone.ts'
import { decodeBase64, decodedBytes, type SentFile } from './sent-file.ts'

export interface Attachments {
  /**
   * Keeps what a JSON body brought and looks up what it refers to, in order. Throws as `refuseExcess` before any of it is decoded,
   * then `invalid_request` for invalid base64, `file_not_found`, and what `FileKeeper.add` throws.
   */
  take(owner: string, sent: readonly SentFile[]): Promise<FileRecord[]>
  /** Keeps one part of a form. How many and how much in all is the form's to count. */
  upload(owner: string, part: MultipartFile): Promise<FileRecord>
  /**
   * For doors that answer with an error before a run starts: throws `file_unreadable` that names the file. An image is not looked
   * into where the model `takes` images: the model sees it.
   */
  check(files: readonly FileRecord[], takes: readonly ModelInput[] | undefined, signal: AbortSignal): Promise<void>
}

export interface AttachmentsDeps {
  files: Pick<FileKeeper, 'add' | 'find'>
  /** Throws `file_unreadable` with a sentence that does not name the file. The second time is cheap. */
  readable(file: FileRecord, signal: AbortSignal): Promise<void>
  /** Null: this server fetches nothing. */
  fetchFile?: FetchFile | null
}

/** Throws `invalid_request`, `file_too_large` or `file_unreadable`. */
export type FetchFile = (
  url: string,
  signal: AbortSignal,
) => Promise<{ content: Uint8Array; mimeType: string | null; name: string | null }>

export function createAttachments({ files, readable, fetchFile = null }: AttachmentsDeps): Attachments {
  async function fetched(owner: string, sent: Extract<SentFile, { url: string }>): Promise<FileRecord> {
    if (fetchFile === null) {
      const detail = 'Addresses are not fetched here: send the file itself, or the id of one that was uploaded.'
      throw new ServerError('invalid_request', 'A file cannot be taken.', {
        problems: [{ pointer: sent.pointer, detail }],
      })
    }
    const { content, mimeType, name } = await fetchFile(sent.url, new AbortController().signal)
    return files.add({
      owner,
      name: sent.name ?? name,
      mimeType: sent.mimeType ?? mimeType,
      content: (async function* () {
        yield content
      })(),
      maxBytes: fileLimits.base64Bytes,
    })
  }

  function takeOne(owner: string, sent: SentFile): Promise<FileRecord> {
    if ('fileId' in sent) return files.find(owner, sent.fileId)
    if ('url' in sent) return fetched(owner, sent)
    const { base64, name, mimeType, pointer } = sent
    return files.add({
      owner,
      name,
      mimeType,
      content: decodeBase64(base64, pointer),
      maxBytes: fileLimits.base64Bytes,
    })
  }

  return {
    async take(owner, sent) {
      refuseExcess(sent)
      const taken: FileRecord[] = []
      for (const one of sent) taken.push(await takeOne(owner, one))
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

/** By what is known without decoding. Throws `too_many_files` and `file_too_large`. */
export function refuseExcess(sent: readonly SentFile[]): void {
  const { files, base64Bytes, totalBytes } = fileLimits
  if (sent.length > files) {
    throw new ServerError('too_many_files', `These are ${sent.length} files; send at most ${files} with a message.`, {
      details: { max_files: files },
    })
  }
  let total = 0
  for (const one of sent) {
    if (!('base64' in one)) continue
    const bytes = decodedBytes(one.base64)
    if (bytes > base64Bytes) throw fileTooLarge(one.pointer)
    total += bytes
    if (total > totalBytes) throw allTooLarge(totalBytes)
  }
}

/** For `engine.start`; nothing where there are none. */
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

/** `pointer` is the empty one, the whole body, while the rest of it has not come. */
export const fileTooLarge = (pointer = ''): ServerError =>
  new ServerError('file_too_large', `A file is larger than ${fileLimits.base64Bytes / 1e6} MB.`, {
    details: { max_bytes: fileLimits.base64Bytes },
    problems: [{ pointer, detail: 'Upload it to /files in a form, where files may be larger, and send its id.' }],
  })

const allTooLarge = (maxBytes: number): ServerError =>
  new ServerError('file_too_large', `The files are larger than ${maxBytes / 1e6} MB together.`, {
    details: { max_bytes: maxBytes },
  })
