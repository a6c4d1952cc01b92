// A call of a coding agent at /mcp, as a host of the newest protocol makes it: one request, one answer.

import { isRecord } from '../../src/domain/is-record.ts'

export type Answer = Record<string, unknown>

export interface AgentCall {
  /** Of the server. */
  url: string
  token: string
  /** Names the window of the host. Each has a session of its own. */
  bridge: string
  host?: string
  /** The room that the session reports to. */
  room?: string
  tool: string
  input: object
  signal?: AbortSignal
}

const VERSION = '2026-07-28'
const META = 'io.modelcontextprotocol'

/** Resolves with what the tool answers. That takes until a person has decided, if the tool asks one. */
export async function callAsAgent({ host = 'claude-code', room, signal, ...call }: AgentCall): Promise<Answer> {
  const response = await fetch(
    `${call.url}/mcp?bridge_id=${call.bridge.padEnd(8, '-')}${room === undefined ? '' : `&channel_id=${room}`}`,
    {
      method: 'POST',
      ...(signal === undefined ? {} : { signal }),
      headers: {
        authorization: `Bearer ${call.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': VERSION,
        'mcp-method': 'tools/call',
        'mcp-name': call.tool,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: call.tool,
          arguments: call.input,
          _meta: {
            progressToken: 1,
            [`${META}/protocolVersion`]: VERSION,
            [`${META}/clientInfo`]: { name: host, version: '1' },
            [`${META}/clientCapabilities`]: {},
          },
        },
      }),
    },
  )
  return resultIn(await response.text())
}

/** What a tool answered, from its stream. `approve_tool` answers with text, as hosts want it. */
function resultIn(text: string): Answer {
  const lines = text.startsWith('{') ? [text] : text.split('\n').flatMap((line) => line.replace(/^data: /, '') || [])
  for (const line of lines.toReversed()) {
    if (!line.startsWith('{')) continue
    const message: unknown = JSON.parse(line)
    const result = isRecord(message) ? message.result : null
    if (!isRecord(result)) continue
    if (isRecord(result.structuredContent)) return { ...result.structuredContent }
    const [first] = Array.isArray(result.content) ? result.content : []
    return JSON.parse(String(first?.text)) as Answer
  }
  throw new Error(`a tool answered ${text.slice(0, 500)}`)
}
