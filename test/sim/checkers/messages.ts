// The history of messages and the log tell the same story: what was said on the wire is what is remembered.

import { isFinished } from '../../../src/domain/session/run.ts'
import { type Checker, eventsIn, type ReadEntry, type SessionEvidence } from '../evidence.ts'

export const messages: Checker = {
  name: 'messages',
  // What agents elsewhere call is in the log only.
  check: ({ sessions }) =>
    [...sessions.values()].filter(({ supervision }) => supervision === null).flatMap(checkSession),
}

function checkSession(session: SessionEvidence): string[] {
  const { log, stored, runs } = session
  const over = new Set(runs.filter(({ status }) => isFinished(status)).map(({ id }) => id))
  const ofOver = (entries: readonly ReadEntry[]) => entries.filter(({ runId }) => runId !== null && over.has(runId))
  const said = textsOf(ofOver(log))
  const compacted = stored.length === log.length ? said : textsOf(ofOver(stored))
  const problems: string[] = []
  for (const [key, text] of said) {
    if (compacted.get(key) !== text) problems.push(`${key} reads differently after compaction`)
    const [space, id] = key.split(' ')
    if (space !== 'text') continue
    const message = session.messages.find((one) => one.id === id)
    if (message?.content !== text) {
      problems.push(
        `message ${id} was said as ${JSON.stringify(text)} and is stored as ${JSON.stringify(message?.content)}`,
      )
    }
  }
  for (const { id, role, content, runId } of session.messages) {
    if (role !== 'assistant' || content === '' || !over.has(runId)) continue
    if (!said.has(`text ${id}`)) problems.push(`message ${id} is stored and was never said`)
  }
  for (const event of eventsIn(log)) {
    if (event.type !== 'TOOL_CALL_RESULT') continue
    const message = session.messages.find(({ id }) => id === event.messageId)
    if (message?.content !== event.content) problems.push(`the result of ${event.toolCallId} is not among the messages`)
  }
  return problems
}

/** Texts of messages, reasoning and arguments by space and id, put together from their deltas. */
function textsOf(entries: readonly ReadEntry[]): Map<string, string> {
  const texts = new Map<string, string>()
  const add = (key: string, delta: string) => texts.set(key, (texts.get(key) ?? '') + delta)
  for (const event of eventsIn(entries)) {
    if (event.type === 'TEXT_MESSAGE_CONTENT') add(`text ${event.messageId}`, event.delta)
    if (event.type === 'REASONING_MESSAGE_CONTENT') add(`reasoning ${event.messageId}`, event.delta)
    if (event.type === 'TOOL_CALL_ARGS') add(`arguments ${event.toolCallId}`, event.delta)
  }
  return texts
}
