import type { Middleware } from './middleware.ts'

/** Lets the model call only the tools in `allow`, if given, and none in `deny`. */
export function createToolFilter(rule: { allow?: readonly string[]; deny?: readonly string[] }): Middleware {
  return (event) => {
    if (event.type !== 'TOOL_CALL_START') return event
    const allowed = rule.allow === undefined || rule.allow.includes(event.toolCallName)
    return allowed && !rule.deny?.includes(event.toolCallName) ? event : null
  }
}
