// Every call has one answer before its agent says anything more; and a client's result that was taken is that answer.

import type { StoredMessage } from '../../../src/domain/session/message.ts'
import type { Checker, Evidence } from '../evidence.ts'

export const calls: Checker = {
  name: 'calls',
  check: (evidence) => [
    ...[...evidence.sessions.values()].flatMap(({ messages }) =>
      [...Map.groupBy(messages, ({ lane }) => lane).values()].flatMap(checkLane),
    ),
    ...checkClientAnswers(evidence),
  ],
}

function checkLane(messages: readonly StoredMessage[]): string[] {
  const problems: string[] = []
  const answers = Map.groupBy(
    messages.filter(({ role }) => role === 'tool'),
    ({ toolCallId }) => toolCallId,
  )
  for (const [callId, found] of answers) {
    if (found.length > 1) problems.push(`${callId} has ${found.length} results`)
  }
  let open: string[] = []
  const answered = new Set<string>()
  for (const { role, id, toolCalls = [], toolCallId, brokenOff } of messages) {
    if (role === 'user') open = []
    if (toolCallId !== undefined) answered.add(toolCallId)
    if (role !== 'assistant' || brokenOff === true) continue
    const missing = open.filter((call) => !answered.has(call))
    if (missing.length > 0) problems.push(`message ${id} was said before ${missing.join(', ')} was answered`)
    open = toolCalls.map((call) => call.id)
  }
  return problems
}

function checkClientAnswers({ history, sessions, waits }: Evidence): string[] {
  const byCall = Map.groupBy(history.clientAnswers, ({ callId }) => callId)
  return [...byCall].flatMap(([callId, answers]) => {
    const won = answers.filter((answer) => answer.won === true)
    const [winner] = won
    if (winner === undefined || history.deletions.includes(winner.sessionId)) return []
    if (won.length > 1) return [`${callId} was answered ${won.length} times`]
    const wait = [...waits.values()].find((one) => one.callId === callId)
    const message = sessions.get(winner.sessionId)?.messages.find((one) => one.toolCallId === callId)
    return wait?.status === 'answered' && message?.content === winner.content
      ? []
      : [`${winner.content} was taken; ${callId} is ${wait?.status} and its result ${JSON.stringify(message?.content)}`]
  })
}
