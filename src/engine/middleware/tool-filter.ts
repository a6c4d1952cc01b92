import type { Middleware } from './middleware.ts'

/** Only these tools may be called, or all but the denied ones. */
export function createToolFilter(rule: { allow?: readonly string[]; deny?: readonly string[] }): Middleware {
  return (event) => {
    if (event.type !== 'TOOL_CALL_START') return event
    const allowed = rule.allow === undefined || rule.allow.includes(event.toolCallName)
    return allowed && !rule.deny?.includes(event.toolCallName) ? event : null
  }
}
