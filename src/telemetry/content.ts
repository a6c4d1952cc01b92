// What people, models and tools say, as attributes of spans in the shapes of the GenAI conventions. Every text is redacted first and
// cut then, so that no half of a secret is left.

import type { TracedMessage } from '../domain/telemetry.ts'

export interface ContentRules {
  redact(text: string): string
  /** Most characters of one attribute. */
  maxChars: number
}

type Part =
  | { type: 'text'; content: string }
  | { type: 'tool_call'; id: string; name: string; arguments: string }
  | { type: 'tool_call_response'; id: string; response: string }

const CUT = '…'

export function shownText(text: string, { redact, maxChars }: ContentRules): string {
  const clean = redact(text)
  return clean.length <= maxChars ? clean : `${clean.slice(0, maxChars - CUT.length).toWellFormed()}${CUT}`
}

/** The newest messages that fit. */
export function shownMessages(messages: readonly TracedMessage[], rules: ContentRules): string {
  const shown: string[] = []
  let left = rules.maxChars
  for (const message of [...messages].reverse()) {
    const text = JSON.stringify({ role: message.role, parts: partsOf(message, rules) })
    left -= text.length
    if (left < 0) break
    shown.unshift(text)
  }
  return `[${shown.join(',')}]`
}

export function shownAnswer(
  { text, calls }: { text: string; calls: NonNullable<TracedMessage['toolCalls']> },
  finish: string,
  rules: ContentRules,
): string {
  const parts = partsOf({ role: 'assistant', content: text, toolCalls: calls }, rules)
  return JSON.stringify([{ role: 'assistant', parts, finish_reason: finish }])
}

function partsOf({ content, toolCalls = [], toolCallId }: TracedMessage, rules: ContentRules): Part[] {
  // One long message must leave space for others, and for the JSON around it.
  const inside = { ...rules, maxChars: Math.max(Math.floor(rules.maxChars / 4), 50) }
  if (toolCallId !== undefined) {
    return [{ type: 'tool_call_response', id: toolCallId, response: shownText(content, inside) }]
  }
  return [
    ...(content === '' ? [] : [{ type: 'text' as const, content: shownText(content, inside) }]),
    ...toolCalls.map(({ id, name, arguments: args }) => ({
      type: 'tool_call' as const,
      id,
      name,
      arguments: shownText(args, inside),
    })),
  ]
}
