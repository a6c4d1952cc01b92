import { countsAsMessage, type StoredMessage } from '../../domain/message.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Page, queryProblem } from './decode-page.ts'

export interface MessageList {
  /** Oldest first. Reasoning is left out: `message_count` does not count it either. */
  messages: StoredMessage[]
  /** `before` of the page before this one; null when there is nothing older. */
  next: string | null
}

/** The newest messages of a session before `before`, a message's id. Throws `invalid_request`. */
export async function listMessages(
  engine: Pick<Engine, 'messages' | 'knownMessages'>,
  sessionId: string,
  { limit, before }: Page,
): Promise<MessageList> {
  if (before !== undefined && (await engine.knownMessages(sessionId, [before])).length === 0) {
    throw queryProblem({ pointer: 'before', detail: 'Send a `before` that came in a Link header of this session.' })
  }
  let messages: StoredMessage[] = []
  let from = before
  for (;;) {
    const page = await engine.messages(sessionId, limit + 1, from)
    messages = [...page.filter(({ role }) => countsAsMessage(role)), ...messages]
    from = page[0]?.id
    if (messages.length > limit || page.length <= limit) break
  }
  const shown = messages.slice(-limit)
  return { messages: shown, next: messages.length > limit ? (shown[0]?.id ?? null) : null }
}
