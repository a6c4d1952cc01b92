// MCP Apps: a tool may have a page that shows what it found. Clients learn of it by this activity, in the form of
// `@ag-ui/mcp-apps-middleware`, which CopilotKit and assistant-ui read. The page itself they ask for (`create-apps.ts`).

import { APP_ACTIVITY, type RunEventOf } from '../../domain/session/event.ts'
import { jsonProblem } from '../../json/json-limits.ts'
import type { ServerTool, ToolOutcome } from '../../tools/tool.ts'

interface ShownCall {
  callId: string
  /** The agent that has the tool: the session's, or a sub-agent of it. */
  agent: string
  input: Record<string, unknown>
}

/** Null: the tool has no page, or the server has not answered the call. */
export function appActivity(
  { app }: ServerTool,
  { callId, agent, input }: ShownCall,
  outcome: ToolOutcome,
): Omit<RunEventOf<'ACTIVITY_SNAPSHOT'>, 'timestamp'> | null {
  if (app === undefined || app.resourceUri === null || outcome.whole === undefined) return null
  const messageId = `${callId}_app`
  const { server, resourceUri } = app
  // Clients send `serverHash` back with each request of the app. To them it is any text; to us it says which app is asking. With a
  // `serverId` beside it, assistant-ui would hand its page that instead.
  const content = { resourceUri, serverHash: messageId, server, agent, toolCallId: callId, toolInput: input }
  return {
    type: 'ACTIVITY_SNAPSHOT',
    messageId,
    activityType: APP_ACTIVITY,
    content: { ...content, result: resultForApp(outcome) },
    replace: true,
  }
}

/** A result that is too large for the log is shown to the app as the model got it. */
export const resultForApp = ({ whole, content, isError }: ToolOutcome): Record<string, unknown> =>
  whole !== undefined && jsonProblem(whole) === null
    ? whole
    : { content: [{ type: 'text', text: content.slice(0, MOST_TEXT) }], isError }

const MOST_TEXT = 200_000
