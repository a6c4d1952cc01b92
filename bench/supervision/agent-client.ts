// Coding agents at /mcp and the operator who answers them, with as little of our own code in between as possible.

import { Agent, type ClientRequest, request } from 'node:http'

export const OPERATOR_TOKEN = 'an-operator-token-for-the-bench'

const VERSION = '2026-07-28'
const connections = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

export type Answer = Record<string, unknown>

interface ToolCall {
  /** The answer of the tool. */
  answer: Promise<Answer>
  /** Resolves when the first progress has come: the stream is open, and the record is stored or about to be. */
  progress: Promise<void>
  /** The caller goes away. */
  leave(): void
}

/** One window of an agent. Each has a session of its own. */
export interface BenchAgent {
  call(tool: string, input: Record<string, unknown>): ToolCall
}

export function createAgent(url: string, token: string, name: string): BenchAgent {
  return {
    call(tool, input) {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: tool,
          arguments: input,
          _meta: {
            progressToken: 1,
            'io.modelcontextprotocol/protocolVersion': VERSION,
            'io.modelcontextprotocol/clientInfo': { name: 'claude-code', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      })
      const progress = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<Answer>()
      // Nobody has to wait for it.
      answer.promise.catch(() => {})
      progress.promise.catch(() => {})
      const fail = (error: Error) => {
        answer.reject(error)
        progress.reject(error)
      }
      const sent: ClientRequest = request(
        `${url}mcp?bridge_id=${name}`,
        {
          method: 'POST',
          agent: connections,
          headers: {
            Authorization: `Bearer ${token}`,
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
            'MCP-Protocol-Version': VERSION,
            'Mcp-Method': 'tools/call',
            'Mcp-Name': tool,
          },
        },
        (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk
            if (text.includes('notifications/progress')) progress.resolve()
            const line = /^data: (.*"structuredContent":.*)$/m.exec(text)?.[1]
            if (line === undefined || !text.endsWith('\n')) return
            answer.resolve(JSON.parse(line).result.structuredContent)
            progress.resolve()
          })
          response.on('end', () => fail(new Error(`${tool}: ${response.statusCode} ${text.slice(0, 300)}`)))
          response.on('error', fail)
        },
      )
      sent.on('error', fail)
      sent.end(body)
      return { answer: answer.promise, progress: progress.promise, leave: () => sent.destroy() }
    },
  }
}

/** A request of the operator. */
export function operate(
  method: 'GET' | 'POST',
  url: string,
  body?: unknown,
): Promise<{ status: number; body: Answer }> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${OPERATOR_TOKEN}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    }
    const sent = request(url, { method, agent: connections, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text || '{}') }))
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

export async function mintToken(url: string, workspace: string): Promise<string> {
  const { status, body } = await operate('POST', `${url}tokens`, { role: 'agent', user: 'local_user', workspace })
  if (status >= 300) throw new Error(`no token for agents: ${status} ${JSON.stringify(body)}`)
  return String(body.token)
}
