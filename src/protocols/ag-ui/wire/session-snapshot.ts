import type { RunEventOf } from '../../../domain/event.ts'
import { type StoredMessage, textOf } from '../../../domain/message.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import { messagesSnapshot, SNAPSHOT_LIMIT, shownMessages } from '../../../engine/run/messages-snapshot.ts'
import type { Reply } from '../../../http/route.ts'

export interface SnapshotOptions {
  timestamp: number
  /** Waited for before much is read. */
  makeRoom: Reply['makeRoom']
  /** Where the reader finds a file. */
  fileUrl: (fileId: string) => string
  /** Leaves out what the reader is told otherwise. */
  omit?: (message: StoredMessage) => boolean
}

export interface SessionSnapshot {
  event: Snapshot
  /** It has been sent. */
  leaveRoom: () => void
}

const PAGE = 200
const PAGE_CHARS = 64 * 1024

/** What a session has said so far, as far as it fits. */
export async function sessionSnapshot(
  store: Pick<Engine['messages'], 'page'>,
  session: SessionRecord,
  { timestamp, makeRoom, fileUrl, omit = () => false }: SnapshotOptions,
): Promise<SessionSnapshot> {
  const pages: StoredMessage[][] = []
  let chars = 0
  let page: StoredMessage[]
  let leaveRoom: (() => void) | null = null
  do {
    // The event, and its text.
    if (chars >= PAGE_CHARS) leaveRoom ??= await makeRoom(2 * SNAPSHOT_LIMIT)
    page = await store.page(session.id, PAGE, pages[0]?.[0]?.id, PAGE_CHARS, true)
    pages.unshift(page)
    for (const message of shownMessages(page)) chars += charsOf(message)
    // More text than that fits in no snapshot, so that nothing older needs to be read.
  } while (page.length > 0 && chars <= SNAPSHOT_LIMIT)
  const messages = shownMessages(pages.flat()).filter((message) => !omit(message))
  const total = page.length > 0 ? session.messageCount : messages.length
  const event = messagesSnapshot(messages, total, timestamp)
  return { event: withFileUrls(event, fileUrl), leaveRoom: leaveRoom ?? (() => {}) }
}

/** About what it takes in the snapshot. Calls and activities can be longer than all that was said. */
function charsOf({ content, toolCalls, activity, metadata, encryptedValue = '' }: StoredMessage): number {
  const objects = [toolCalls, activity, metadata].filter((object) => object !== undefined)
  return textOf(content).length + encryptedValue.length + (objects.length === 0 ? 0 : JSON.stringify(objects).length)
}

type Snapshot = RunEventOf<'MESSAGES_SNAPSHOT'>

/** No client shows a `file` source, and 0.x rejects the whole snapshot for one. */
export const withFileUrls = (snapshot: Snapshot, fileUrl: SnapshotOptions['fileUrl']): Snapshot => ({
  ...snapshot,
  messages: snapshot.messages.map((message) => messageWithUrls(message, fileUrl)),
})

type Message = Snapshot['messages'][number]

function messageWithUrls(message: Message, fileUrl: SnapshotOptions['fileUrl']): Message {
  if (message.role !== 'user' || typeof message.content === 'string') return message
  const content = message.content.map((part) => {
    if (part.type === 'text' || part.source.type !== 'file') return part
    const { value, mimeType } = part.source
    const type = mimeType === undefined ? {} : { mimeType }
    return { ...part, source: { type: 'url' as const, value: fileUrl(value), ...type } }
  })
  return { ...message, content }
}
