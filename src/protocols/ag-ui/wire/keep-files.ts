import { type ErrorCode, ServerError } from '../../../domain/errors.ts'
import type { FileRecord } from '../../../domain/file.ts'
import { type ContentPart, filePart } from '../../../domain/message.ts'
import type { NewMessage } from '../../../domain/run.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import { type Attachments, refuseExcess } from '../../shared/request/attachments.ts'
import { fileIdIn } from '../../shared/request/file-links.ts'
import type { SentFile } from '../../shared/request/sent-file.ts'
import { jsonPointer } from '../../shared/request/validate.ts'
import type { SentPart } from './decode-messages.ts'
import type { FilePart } from './decode-part.ts'
import type { SentMessage } from './diff-history.ts'

interface KeptFiles {
  /** With `file` sources instead of `data`. */
  messages: NewMessage[]
  files: FileRecord[]
  /** What was left out, for the log. */
  warnings: string[]
}

/** Errors that only skip a part: the run continues without it. A file that is too large is refused. */
const skipped: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'unsupported_media_type',
  'file_unreadable',
  'file_not_found',
])

const MAX_WARNINGS = 10

/** Stores the files of new messages. Throws `too_many_files`, `file_too_large`, `too_many_uploads`, and errors of the disk. */
export async function keepFiles(
  attachments: Pick<Attachments, 'take'>,
  owner: string,
  session: SessionRecord | null,
  messages: readonly SentMessage[],
): Promise<KeptFiles> {
  const files: FileRecord[] = []
  const warnings: string[] = []
  refuseExcess(
    messages.flatMap((message) => partsOf(message).flatMap((part) => (isFile(part) ? [sentFile(part)] : []))),
  )

  async function keep(part: FilePart, messageId: string): Promise<ContentPart[]> {
    try {
      const [file] = await attachments.take(owner, [sentFile(part)])
      const isFree = file?.sessionId === null || file?.sessionId === session?.id
      if (file === undefined || !isFree) throw new ServerError('file_not_found', 'It belongs to another session.')
      files.push(file)
      return [filePart(file)]
    } catch (error) {
      if (!(error instanceof ServerError) || !skipped.has(error.code)) throw error
      const why = error.problems[0]?.detail ?? error.code
      warnings.push(`skipped a file of message ${JSON.stringify(messageId)}: ${why}`)
      return []
    }
  }

  const kept: NewMessage[] = []
  for (const message of messages) {
    const { content, id } = message
    if (typeof content === 'string') kept.push({ ...message, content })
    else {
      const parts: ContentPart[] = []
      for (const part of content) parts.push(...(isFile(part) ? await keep(part, id) : [part]))
      kept.push({ ...message, content: parts })
    }
  }
  return { messages: kept, files, warnings: warnings.slice(0, MAX_WARNINGS) }
}

const partsOf = ({ content }: SentMessage): readonly SentPart[] => (typeof content === 'string' ? [] : content)

const isFile = (part: SentPart): part is FilePart => part.type !== 'text'

function sentFile({ source, metadata }: FilePart): SentFile {
  const pointer = jsonPointer(['messages'])
  if (source.type === 'file') return { pointer, fileId: source.value }
  const name = metadata?.filename ?? null
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
