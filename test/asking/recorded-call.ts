// One call of a coding agent as its host gave it to our hook. A line of a file of corpus/ is one, as JSON. `$W` stands for the workspace.

import { join } from 'node:path'
import type { HostName } from '../../src/hosts/hosts.ts'

export interface RecordedCall {
  host: HostName
  /** The host's name of the event. */
  event: string
  tool: string
  input: Readonly<Record<string, unknown>>
  /** Where the agent was, below the workspace; absent: in it. */
  cwd?: string
}

const PLACE = /\$W(?![A-Za-z0-9_])/g

/** What the host sends, with the workspace where it is now. */
export const hookInput = (call: RecordedCall, workspace: string, session: string, id: string) => ({
  hook_event_name: call.event,
  session_id: session,
  cwd: call.cwd === undefined ? workspace : `${workspace}/${call.cwd}`,
  tool_name: call.tool,
  tool_input: placed(call.input, workspace) as Record<string, unknown>,
  tool_use_id: id,
})

function placed(value: unknown, workspace: string): unknown {
  if (typeof value === 'string') return value.replace(PLACE, () => workspace)
  if (Array.isArray(value)) return value.map((one) => placed(one, workspace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, placed(one, workspace)]))
}

export const corpusFolder = join(import.meta.dirname, 'corpus')
