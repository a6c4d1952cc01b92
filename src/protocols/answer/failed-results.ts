import type { Entry } from '../../domain/entry.ts'
import { typeOfEventText } from '../../domain/event.ts'
import type { Engine } from '../../engine/engine.ts'

/** Which of these result messages are errors. AG-UI's TOOL_CALL_RESULT does not say; the message stored with it does. */
export async function failedResults(
  engine: Pick<Engine, 'knownMessages'>,
  sessionId: string,
  messageIds: readonly string[],
): Promise<Set<string>> {
  if (messageIds.length === 0) return new Set()
  const messages = await engine.knownMessages(sessionId, messageIds)
  return new Set(messages.filter(({ error }) => error !== undefined).map(({ id }) => id))
}

/** The ids of the result messages in these entries. */
export function resultIdsIn(entries: readonly Entry[]): string[] {
  const ids: string[] = []
  for (const { kind, data } of entries) {
    if (kind !== 'event' || typeOfEventText(data) !== 'TOOL_CALL_RESULT') continue
    const event: unknown = JSON.parse(data)
    if (typeof event === 'object' && event !== null && 'messageId' in event && typeof event.messageId === 'string') {
      ids.push(event.messageId)
    }
  }
  return ids
}
