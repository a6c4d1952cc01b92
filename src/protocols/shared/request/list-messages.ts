import { countsAsMessage, type StoredMessage, textOf } from '../../../domain/session/message.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Reply } from '../../../http/route.ts'
import { type Page, queryProblem } from './page.ts'

interface MessageList {
  /** Oldest first. */
  messages: StoredMessage[]
  /** `before` for the next older page; null if there are no older messages. */
  next: string | null
}

/** A page ends at this size, however few messages it has. */
const PAGE_CHARS = 4 * 1024 * 1024
/** A page of this size needs no reserved memory. */
const SMALL_CHARS = 64 * 1024

/** The messages that `message_count` counts. No list contains reasoning. */
const counted = ({ role }: StoredMessage): boolean => countsAsMessage(role)

/**
 * The newest `listed` messages of a session before `before`, the id of a message. A large page waits until there is memory for it.
 * Throws `invalid_request`, `ClientGone`.
 */
export async function listMessages(
  store: Pick<Engine['messages'], 'page' | 'marks'>,
  sessionId: string,
  { limit, before }: Page,
  reply: Pick<Reply, 'reserve'>,
  listed: (message: StoredMessage) => boolean = counted,
): Promise<MessageList> {
  if (before !== undefined && (await store.marks(sessionId, [before])).length === 0) {
    throw queryProblem({ pointer: 'before', detail: 'Send a `before` that came in a Link header of this session.' })
  }
  const { isCut, ...small } = await readPage(store, sessionId, { limit, before, listed, maxChars: SMALL_CHARS })
  if (!isCut) return small
  // Twice: for the messages, and for their text.
  await reply.reserve(2 * PAGE_CHARS)
  return readPage(store, sessionId, { limit, before, listed, maxChars: PAGE_CHARS })
}

/** `isCut`: the page is shorter because its messages are large. */
async function readPage(
  store: Pick<Engine['messages'], 'page' | 'marks'>,
  sessionId: string,
  { limit, before, listed, maxChars }: Page & { listed: (message: StoredMessage) => boolean; maxChars: number },
): Promise<MessageList & { isCut: boolean }> {
  let messages: StoredMessage[] = []
  let from = before
  let left = maxChars
  for (;;) {
    const page = await store.page(sessionId, limit + 1, { before: from, maxChars: Math.max(1, left) })
    const shown = page.filter(listed)
    messages = [...shown, ...messages]
    if (messages.length > limit) {
      messages = messages.slice(-limit)
      return { messages, next: messages[0]?.id ?? null, isCut: false }
    }
    from = page[0]?.id ?? from
    left -= shown.reduce((sum, { content }) => sum + textOf(content).length, 0)
    // This was everything, or the page is full.
    if (page.length > limit) continue
    const hasOlder = page.length > 0 && (await store.page(sessionId, 1, { before: from, maxChars: 1 })).length > 0
    const [oldest] = messages
    if (!hasOlder) return { messages, next: null, isCut: false }
    if (oldest !== undefined) return { messages, next: oldest.id, isCut: true }
  }
}
