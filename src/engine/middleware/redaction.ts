import type { Middleware } from './middleware.ts'

/**
 * Replaces what the patterns match in the text of answers, reasoning, arguments and tool results. A match that is split over
 * two deltas is not seen: it is for secrets that a tool prints or a model repeats whole, not for censorship.
 */
export function createRedaction(patterns: readonly RegExp[], replacement = '[redacted]'): Middleware {
  // `replaceAll` wants the global flag; without it a pattern means the same here.
  const all = patterns.map((pattern) => (pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`)))
  const redact = (text: string): string => all.reduce((out, pattern) => out.replaceAll(pattern, replacement), text)
  return (event) => {
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TOOL_CALL_ARGS':
        return { ...event, delta: redact(event.delta) }
      case 'TOOL_CALL_RESULT':
        return typeof event.content === 'string' ? { ...event, content: redact(event.content) } : event
      default:
        return event
    }
  }
}
