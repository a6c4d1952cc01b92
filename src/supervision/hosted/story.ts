// What was said so far, for a program that begins in the middle of a conversation.

import { textOf } from '../../domain/session/message.ts'
import type { Store } from '../../store/store.ts'

/** Of an earlier conversation, told to a program that starts without it. */
const MOST_STORY_CHARS = 40_000
const MOST_STORY_MESSAGES = 100

/** The conversation as text, for a program that does not have it. Empty: there was none. */
export async function storyOf(
  { messages }: Pick<Store, 'messages'>,
  sessionId: string,
  runId: string,
  isLost: boolean,
): Promise<string[]> {
  const page = await messages.page(sessionId, MOST_STORY_MESSAGES)
  const lines = page
    .filter((message) => message.runId !== runId && (message.role === 'user' || message.role === 'assistant'))
    .map(({ role, content }) => ({ role, text: textOf(content) }))
    .filter(({ text }) => text !== '')
    .map(({ role, text }) => `${role === 'user' ? 'User' : 'You'}: ${text}`)
  if (lines.length === 0) return []
  const kept: string[] = []
  for (let chars = 0; lines.length > 0 && chars < MOST_STORY_CHARS; ) {
    const line = lines.pop()?.slice(0, MOST_STORY_CHARS) ?? ''
    chars += line.length
    kept.unshift(line)
  }
  const why = isLost
    ? 'The program that had this conversation is gone, and you begin anew'
    : 'This conversation began without you'
  return [
    `${why}. This was said so far${lines.length > 0 ? ' (the beginning is left out)' : ''}:\n\n${kept.join('\n\n')}\n\nEnd of what was said. Now:`,
  ]
}
