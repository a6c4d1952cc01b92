import { isoTime } from '../../domain/clock.ts'
import { type StoredMessage, textOf } from '../../domain/session/message.ts'
import type { RunAnswer } from '../../domain/session/run-answer.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { SessionOverview } from '../../domain/session/session-overview.ts'
import { citationsIn } from '../../domain/session/source.ts'
import { filePartsOf } from '../../engine/files/run-files.ts'
import { isSupervisedSession } from '../../supervision/sessions/take-step.ts'
import { answerSources, sourcesView } from '../shared/answer/sources.ts'
import { clientIdOf, sessionRow } from '../shared/request/session-row.ts'
import { supervisionView } from '../shared/supervised/supervision-view.ts'
import type { ChatResponse, Session, SessionMessage } from './schema.ts'

export function chatResponse(
  session: SessionRecord,
  answer: RunAnswer,
  { agent, model, responseTimeMs }: { agent: string; model: string; responseTimeMs: number },
): ChatResponse {
  return {
    session_id: clientIdOf(session),
    message: answer.text,
    agent_name: agent,
    metadata: {
      response_time_ms: responseTimeMs,
      model,
      tool_calls: answer.toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args })),
    },
    ...answerSources(answer),
  }
}

export const sessionInfo = (session: SessionRecord, overview?: SessionOverview): Session => ({
  session_id: clientIdOf(session),
  user_id: session.label ?? session.owner,
  created_at: isoTime(session.createdAt),
  last_activity: isoTime(session.lastActivity),
  message_count: session.messageCount,
  ...sessionRow(session, overview),
  ...(isSupervisedSession(session) ? { supervision: supervisionView(session) } : {}),
})

/** What an operator sees of somebody else's session. Its alias is only for its owner, so this has its id. */
export const foreignInfo = (session: SessionRecord, overview?: SessionOverview): Session => ({
  ...sessionInfo(session, overview),
  session_id: session.id,
})

/** Leaves out tool results, and answers that only call tools. */
export const isSpoken = (message: StoredMessage): boolean =>
  (message.role === 'user' || message.role === 'assistant') && contentOf(message).trim() !== ''

/** Only for messages that count; others are not shown here. */
export function sessionMessage(message: StoredMessage): SessionMessage {
  const { id, role, createdAt, agentName } = message
  return {
    message_id: id,
    role: role === 'assistant' || role === 'tool' ? role : 'user',
    content: contentOf(message),
    timestamp: isoTime(createdAt),
    agent_name: agentName ?? null,
    ...sourcesView(role === 'assistant' ? citationsIn(message.metadata) : null),
  }
}

/** A message with files and no text shows the names of the files. */
function contentOf(message: StoredMessage): string {
  const words = textOf(message.content)
  if (words.trim() !== '') return words
  return filePartsOf(message)
    .map(({ name }) => `[${name}]`)
    .join('\n')
}
