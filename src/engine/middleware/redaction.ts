import type { Middleware } from './middleware.ts'

/**
 * Replaces what the patterns match in answers, reasoning, arguments and tool results. It does not find a match that is split
 * over two deltas: use it for secrets that a tool prints or a model repeats whole, not for censorship.
 */
export function createRedaction(patterns: readonly RegExp[], replacement = '[redacted]'): Middleware {
  // `replaceAll` needs the global flag.
  const all = patterns.map((pattern) => (pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`)))
  const redact = (text: string): string => all.reduce((out, pattern) => out.replaceAll(pattern, replacement), text)
  const middleware: Middleware = (event) => {
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
  return Object.assign(middleware, { redact })
}
