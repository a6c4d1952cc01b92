import { type ErrorCode, ServerError } from '../../../domain/errors.ts'
import type { FileRecord } from '../../../domain/session/file.ts'
import { oneLine } from '../../../domain/session/file-frame.ts'
import { type ContentPart, filePart } from '../../../domain/session/message.ts'
import type { NewMessage } from '../../../domain/session/run.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { type Attachments, refuseExcess } from '../../shared/request/attachments.ts'
import { fileIdIn } from '../../shared/request/file-links.ts'
import type { SentFile } from '../../shared/request/sent-file.ts'
import { jsonPointer } from '../../shared/request/validate.ts'
import type { SentPart } from './decode-messages.ts'
import type { FilePart } from './decode-part.ts'
import type { SentMessage } from './diff-history.ts'

/** Errors that do not refuse the message: the part stays in it, and says why there is no file. */
const named: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'unsupported_media_type',
  'file_unreadable',
  'file_not_found',
])

const MAX_NAME = 120

/**
 * Stores the files of new messages, which then have `file` sources instead of `data`. What cannot be stored, such as an address that is not fetched, is left in the message with the
 * reason: the run names it to the model and to the client. Throws `too_many_files`, `file_too_large`, `too_many_uploads`, and errors
 * of the disk.
 */
export async function keepFiles(
  attachments: Pick<Attachments, 'take'>,
  owner: string,
  session: SessionRecord | null,
  messages: readonly SentMessage[],
) {
  const files: FileRecord[] = []
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content)).filter(isFile)
  refuseExcess(parts.flatMap((part) => (part.unread === null ? [sentFile(part)] : [])))

  async function keep(part: FilePart): Promise<ContentPart> {
    if (part.unread !== null) return unread(part, part.unread)
    try {
      const [file] = await attachments.take(owner, [sentFile(part)], 'keep')
      const isFree = file?.sessionId === null || file?.sessionId === session?.id
      if (file === undefined || !isFree) throw new ServerError('file_not_found', 'It belongs to another session.')
      files.push(file)
      return filePart(file)
    } catch (error) {
      if (!(error instanceof ServerError) || !named.has(error.code)) throw error
      return unread(part, error.problems[0]?.detail ?? error.message)
    }
  }

  const kept: NewMessage[] = []
  for (const message of messages) {
    const { content } = message
    if (typeof content === 'string') kept.push({ ...message, content })
    else {
      const stored: ContentPart[] = []
      for (const part of content) stored.push(isFile(part) ? await keep(part) : part)
      kept.push({ ...message, content: stored })
    }
  }
  return { messages: kept, files }
}

/**
 * A part without a file. An address stays, because the page that sent it can show what is there. One that is not of the web does not:
 * other pages show the message too.
 */
function unread({ type, source, name }: FilePart, why: string): ContentPart {
  if (source.type !== 'url' || !/^https?:/i.test(source.value)) {
    const metadata = { filename: oneLine(name ?? 'file', MAX_NAME), unread: why }
    return { type: 'document', source: { type: 'data', value: '', mimeType: '' }, metadata }
  }
  const { value, mimeType } = source
  const filename = oneLine((name ?? URL.parse(value)?.pathname.split('/').at(-1)) || 'file', MAX_NAME)
  const metadata = { filename, unread: `${why} It is at ${value}` }
  return { type, source: { type: 'url', value, ...(mimeType === undefined ? {} : { mimeType }) }, metadata }
}

const isFile = (part: SentPart): part is FilePart => part.type !== 'text'

function sentFile({ source, name }: FilePart): SentFile {
  const pointer = jsonPointer(['messages'])
  if (source.type === 'file') return { pointer, fileId: source.value }
  // The client got this address in a snapshot, and sends it again with an edited message.
  const own = source.type === 'url' ? fileIdIn(source.value) : null
  if (own !== null) return { pointer, fileId: own }
  if (source.type === 'url') return { pointer, url: source.value, name, mimeType: source.mimeType ?? null }
  return {
    pointer,
    base64: source.value,
    name,
    mimeType: source.mimeType === '' ? null : source.mimeType,
  }
}
