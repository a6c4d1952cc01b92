import type { RunEventOf } from '../../../domain/session/event.ts'
import { type StoredMessage, textOf } from '../../../domain/session/message.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import { messagesSnapshot, SNAPSHOT_LIMIT, shownMessages } from '../../../engine/loop/messages-snapshot.ts'
import type { Reply } from '../../../http/route.ts'
import type { FileUrl } from '../../shared/request/file-links.ts'

interface SnapshotOptions {
  timestamp: number
  /** Waits for memory before a large read. */
  makeRoom: Reply['makeRoom']
  /** Asked for the addresses of files for this reader, if there are files. */
  fileUrls: FileUrls
  /** Leaves out messages that the reader gets in another way. */
  omit?: (message: StoredMessage) => boolean
}

interface SessionSnapshot {
  event: Snapshot
  /** Call it when the event is sent. */
  leaveRoom: () => void
}

const PAGE = 200
const PAGE_CHARS = 64 * 1024

/** The newest messages of a session, as many as fit. */
export async function sessionSnapshot(
  store: Pick<Engine['messages'], 'page'>,
  session: SessionRecord,
  { timestamp, makeRoom, fileUrls, omit = () => false }: SnapshotOptions,
): Promise<SessionSnapshot> {
  const pages: StoredMessage[][] = []
  let chars = 0
  let page: StoredMessage[]
  let leaveRoom: (() => void) | null = null
  do {
    // Twice: for the event, and for its text.
    if (chars >= PAGE_CHARS) leaveRoom ??= await makeRoom(2 * SNAPSHOT_LIMIT)
    page = await store.page(session.id, PAGE, { before: pages[0]?.[0]?.id, maxChars: PAGE_CHARS, asides: true })
    pages.unshift(page)
    for (const message of shownMessages(page)) chars += charsOf(message)
    // Nothing older fits into a snapshot.
  } while (page.length > 0 && chars <= SNAPSHOT_LIMIT)
  const messages = shownMessages(pages.flat()).filter((message) => !omit(message))
  const total = page.length > 0 ? session.messageCount : messages.length
  const event = messagesSnapshot(messages, total, timestamp)
  return { event: await withFileUrls(event, fileUrls), leaveRoom: leaveRoom ?? (() => {}) }
}

/** The approximate size in the snapshot. Calls and activities can be longer than the text. */
function charsOf({ content, toolCalls, activity, metadata, encryptedValue = '' }: StoredMessage): number {
  const objects = [toolCalls, activity, metadata].filter((object) => object !== undefined)
  return textOf(content).length + encryptedValue.length + (objects.length === 0 ? 0 : JSON.stringify(objects).length)
}

type Snapshot = RunEventOf<'MESSAGES_SNAPSHOT'>

/** Clients cannot show a `file` source, and 0.x rejects the whole snapshot because of one. */
export async function withFileUrls(snapshot: Snapshot, fileUrls: FileUrls): Promise<Snapshot> {
  if (!snapshot.messages.some(hasFile)) return snapshot
  const fileUrl = await fileUrls()
  return { ...snapshot, messages: snapshot.messages.map((message) => messageWithUrls(message, fileUrl)) }
}

export type FileUrls = () => Promise<FileUrl>

type Message = Snapshot['messages'][number]

const hasFile = (message: Message): boolean =>
  message.role === 'user' &&
  typeof message.content !== 'string' &&
  message.content.some((part) => part.type !== 'text' && part.source.type === 'file')

function messageWithUrls(message: Message, fileUrl: FileUrl): Message {
  if (message.role !== 'user' || typeof message.content === 'string') return message
  const content = message.content.map((part) => {
    if (part.type === 'text' || part.source.type !== 'file') return part
    const { value, mimeType } = part.source
    const type = mimeType === undefined ? {} : { mimeType }
    return { ...part, source: { type: 'url' as const, value: fileUrl(value), ...type } }
  })
  return { ...message, content }
}
