import type { ModelMessage } from '../model.ts'
import type { JsonObject } from './json.ts'

/** The parts of neighbours with the same role form one message. A message without parts is left out: providers refuse empty ones. */
export function mergedMessages(
  messages: readonly ModelMessage[],
  roleOf: (message: ModelMessage) => string,
  partsOf: (message: ModelMessage) => JsonObject[],
): { role: string; parts: JsonObject[] }[] {
  const merged: { role: string; parts: JsonObject[] }[] = []
  for (const message of messages) {
    const role = roleOf(message)
    const parts = partsOf(message)
    if (parts.length === 0) continue
    const last = merged.at(-1)
    // No spread: a message can have more parts than a function call can have arguments.
    if (last?.role === role) for (const part of parts) last.parts.push(part)
    else merged.push({ role, parts })
  }
  return merged
}
