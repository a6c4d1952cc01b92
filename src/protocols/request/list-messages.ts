import { countsAsMessage, type StoredMessage, textOf } from '../../domain/message.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Reply } from '../../http/route.ts'
import { type Page, queryProblem } from './decode-page.ts'

export interface MessageList {
  /** Oldest first. Reasoning is left out: `message_count` does not count it either. */
  messages: StoredMessage[]
  /** `before` of the page before this one; null when there is nothing older. */
  next: string | null
}

/** A page ends here, however few messages it has. Then it says so as every page does that is not the last. */
const PAGE_CHARS = 4 * 1024 * 1024
/** As much as every reader may hold, whoever else reads. */
const SMALL_CHARS = 64 * 1024

/**
 * The newest messages of a session before `before`, a message's id. A large page waits until there is room for it among those
 * that others read. Throws `invalid_request`, `ClientGone`.
 */
export async function listMessages(
  engine: Pick<Engine, 'messages' | 'messageMarks'>,
  sessionId: string,
  { limit, before }: Page,
  reply: Pick<Reply, 'makeRoom'>,
): Promise<MessageList> {
  if (before !== undefined && (await engine.messageMarks(sessionId, [before])).length === 0) {
    throw queryProblem({ pointer: 'before', detail: 'Send a `before` that came in a Link header of this session.' })
  }
  const { isCut, ...small } = await readPage(engine, sessionId, { limit, before, maxChars: SMALL_CHARS })
  if (!isCut) return small
  // As it was read, and as text.
  await reply.makeRoom(2 * PAGE_CHARS)
  return readPage(engine, sessionId, { limit, before, maxChars: PAGE_CHARS })
}

/** `isCut`: it has less than it could, because that is large. */
async function readPage(
  engine: Pick<Engine, 'messages'>,
  sessionId: string,
  { limit, before, maxChars }: { limit: number; before: string | undefined; maxChars: number },
): Promise<MessageList & { isCut: boolean }> {
  let messages: StoredMessage[] = []
  let from = before
  let left = maxChars
  for (;;) {
    const page = await engine.messages(sessionId, limit + 1, from, Math.max(1, left))
    const shown = page.filter(({ role }) => countsAsMessage(role))
    messages = [...shown, ...messages]
    if (messages.length > limit) {
      messages = messages.slice(-limit)
      return { messages, next: messages[0]?.id ?? null, isCut: false }
    }
    from = page[0]?.id ?? from
    left -= shown.reduce((sum, { content }) => sum + textOf(content).length, 0)
    // All there is, or as much as a page may hold.
    if (page.length > limit) continue
    const hasOlder = page.length > 0 && (await engine.messages(sessionId, 1, from, 1)).length > 0
    const [oldest] = messages
    if (!hasOlder) return { messages, next: null, isCut: false }
    if (oldest !== undefined) return { messages, next: oldest.id, isCut: true }
  }
}
