import { countsAsMessage, type StoredMessage, textOf } from '../../../domain/message.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Reply } from '../../../http/route.ts'
import { type Page, queryProblem } from './page.ts'

export interface MessageList {
  /** Oldest first. */
  messages: StoredMessage[]
  /** `before` of the page before this one; null when there is nothing older. */
  next: string | null
}

/** A page ends here, however few messages it has. Then it says so as every page does that is not the last. */
const PAGE_CHARS = 4 * 1024 * 1024
/** As much as every reader may hold, whoever else reads. */
const SMALL_CHARS = 64 * 1024

/** What `message_count` counts. Reasoning is left out of every list. */
const counted = ({ role }: StoredMessage): boolean => countsAsMessage(role)

/**
 * The newest messages of a session before `before`, a message's id, of those that are `listed`. A large page waits until there is room for it among those
 * that others read. Throws `invalid_request`, `ClientGone`.
 */
export async function listMessages(
  store: Pick<Engine['messages'], 'page' | 'marks'>,
  sessionId: string,
  { limit, before }: Page,
  reply: Pick<Reply, 'makeRoom'>,
  listed: (message: StoredMessage) => boolean = counted,
): Promise<MessageList> {
  if (before !== undefined && (await store.marks(sessionId, [before])).length === 0) {
    throw queryProblem({ pointer: 'before', detail: 'Send a `before` that came in a Link header of this session.' })
  }
  const { isCut, ...small } = await readPage(store, sessionId, { limit, before, listed, maxChars: SMALL_CHARS })
  if (!isCut) return small
  // As it was read, and as text.
  await reply.makeRoom(2 * PAGE_CHARS)
  return readPage(store, sessionId, { limit, before, listed, maxChars: PAGE_CHARS })
}

interface PageRead {
  limit: number
  before: string | undefined
  listed: (message: StoredMessage) => boolean
  maxChars: number
}

/** `isCut`: it has less than it could, because that is large. */
async function readPage(
  store: Pick<Engine['messages'], 'page' | 'marks'>,
  sessionId: string,
  { limit, before, listed, maxChars }: PageRead,
): Promise<MessageList & { isCut: boolean }> {
  let messages: StoredMessage[] = []
  let from = before
  let left = maxChars
  for (;;) {
    const page = await store.page(sessionId, limit + 1, from, Math.max(1, left))
    const shown = page.filter(listed)
    messages = [...shown, ...messages]
    if (messages.length > limit) {
      messages = messages.slice(-limit)
      return { messages, next: messages[0]?.id ?? null, isCut: false }
    }
    from = page[0]?.id ?? from
    left -= shown.reduce((sum, { content }) => sum + textOf(content).length, 0)
    // All there is, or as much as a page may hold.
    if (page.length > limit) continue
    const hasOlder = page.length > 0 && (await store.page(sessionId, 1, from, 1)).length > 0
    const [oldest] = messages
    if (!hasOlder) return { messages, next: null, isCut: false }
    if (oldest !== undefined) return { messages, next: oldest.id, isCut: true }
  }
}
