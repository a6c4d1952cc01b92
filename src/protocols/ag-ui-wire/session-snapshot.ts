import type { RunEventOf } from '../../domain/event.ts'
import { type StoredMessage, textOf } from '../../domain/message.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Engine } from '../../engine/engine.ts'
import { messagesSnapshot } from '../../engine/messages-snapshot.ts'

const PAGE = 200
/** More text than this fits in no snapshot, so that nothing older needs to be read. */
const ENOUGH_CHARS = 4 * 1024 * 1024

/** What a session has said so far, as far as it fits. `omit` leaves out what the reader is told otherwise. */
export async function sessionSnapshot(
  engine: Pick<Engine, 'messages'>,
  session: SessionRecord,
  timestamp: number,
  omit: (message: StoredMessage) => boolean = () => false,
): Promise<RunEventOf<'MESSAGES_SNAPSHOT'>> {
  const pages: StoredMessage[][] = []
  let chars = 0
  let page: StoredMessage[]
  do {
    page = await engine.messages(session.id, PAGE, pages[0]?.[0]?.id)
    pages.unshift(page)
    for (const { content } of page) chars += textOf(content).length
  } while (page.length === PAGE && chars <= ENOUGH_CHARS)
  const messages = pages.flat().filter((message) => !omit(message))
  return messagesSnapshot(messages, page.length === PAGE ? session.messageCount : messages.length, timestamp)
}
