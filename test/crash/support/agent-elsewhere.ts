// A coding agent at /mcp, with the real client, and the token that an operator minted for it.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { OPERATOR_TOKEN } from './operator.ts'

export interface AgentElsewhere {
  /** The answer of a tool, errors included. Rejects if the connection breaks. */
  call(tool: string, input: Record<string, unknown>): Promise<Record<string, unknown>>
  close(): Promise<void>
}

export async function mintAgentToken(url: string, workspace: string): Promise<string> {
  const answer = await fetch(`${url}/tokens`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${OPERATOR_TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ role: 'agent', user: 'local_user', workspace }),
  })
  if (!answer.ok) throw new Error(`no token: ${answer.status} ${await answer.text()}`)
  const { token }: { token: string } = JSON.parse(await answer.text())
  return token
}

export async function connectAgent(url: string, token: string): Promise<AgentElsewhere> {
  const client = new Client({ name: 'claude-code', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
  const headers = { Authorization: `Bearer ${token}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers },
      // Whoever calls a dead server shall hear of it at once.
      reconnectionOptions: {
        ...{ initialReconnectionDelay: 1, maxReconnectionDelay: 1, reconnectionDelayGrowFactor: 1, maxRetries: 0 },
      },
    }),
  )
  return {
    async call(name, input) {
      const { structuredContent } = await client.callTool({ name, arguments: input }, { timeout: 120_000 })
      return structuredContent as Record<string, unknown>
    },
    close: () => client.close(),
  }
}
