import type { RunEventOf } from '../../domain/event.ts'
import { type StoredMessage, textOf } from '../../domain/message.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Engine } from '../../engine/engine.ts'
import { messagesSnapshot, SNAPSHOT_LIMIT } from '../../engine/messages-snapshot.ts'
import type { Reply } from '../../http/route.ts'

export interface SnapshotOptions {
  timestamp: number
  /** Waited for before much is read. */
  makeRoom: Reply['makeRoom']
  /** Leaves out what the reader is told otherwise. */
  omit?: (message: StoredMessage) => boolean
}

export interface SessionSnapshot {
  event: RunEventOf<'MESSAGES_SNAPSHOT'>
  /** It has been sent. */
  leaveRoom: () => void
}

const PAGE = 200
const PAGE_CHARS = 64 * 1024

/** What a session has said so far, as far as it fits. */
export async function sessionSnapshot(
  engine: Pick<Engine, 'messages'>,
  session: SessionRecord,
  { timestamp, makeRoom, omit = () => false }: SnapshotOptions,
): Promise<SessionSnapshot> {
  const pages: StoredMessage[][] = []
  let chars = 0
  let page: StoredMessage[]
  let leaveRoom: (() => void) | null = null
  do {
    // The event, and its text.
    if (chars >= PAGE_CHARS) leaveRoom ??= await makeRoom(2 * SNAPSHOT_LIMIT)
    page = await engine.messages(session.id, PAGE, pages[0]?.[0]?.id, PAGE_CHARS)
    pages.unshift(page)
    for (const { content } of page) chars += textOf(content).length
    // More text than that fits in no snapshot, so that nothing older needs to be read.
  } while (page.length > 0 && chars <= SNAPSHOT_LIMIT)
  const messages = pages.flat().filter((message) => !omit(message))
  const total = page.length > 0 ? session.messageCount : messages.length
  return { event: messagesSnapshot(messages, total, timestamp), leaveRoom: leaveRoom ?? (() => {}) }
}
