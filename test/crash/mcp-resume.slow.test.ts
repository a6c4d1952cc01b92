// kill -9 while a legacy MCP client waits: it goes on in its session, and every request gets one answer.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { initialize, messagesIn } from '../../src/protocols/mcp/testing/open-mcp-door.ts'
import { mintAgentToken } from './support/agent-elsewhere.ts'
import { databaseFaults } from './support/database.ts'
import { fromEnvironment } from './support/figures.ts'
import { operatorEnv } from './support/operator.ts'
import { openYard } from './support/start-server.ts'

const CALLS = fromEnvironment('ROUNDS', 6)

interface Sent {
  id: string
  message: {
    id: string | number
    result?: { structuredContent: Record<string, unknown> }
    error?: { data: { code: string } }
  }
}

const read = async (answer: Response) => messagesIn(await answer.text()) as unknown as Sent[]

test('kill -9 while an MCP client waits: after the restart each of its requests is answered once', async () => {
  const yard = await openYard(onTestFinished)
  const workspace = join(yard.directory, 'work')
  mkdirSync(workspace)
  let server = await yard.start({ env: operatorEnv })
  const token = await mintAgentToken(server.url, workspace)
  let id = ''
  const send = (init: RequestInit, more: Record<string, string> = {}) =>
    fetch(`${server.url}/mcp`, {
      ...init,
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
        ...(id === '' ? {} : { 'Mcp-Session-Id': id }),
        ...more,
      },
    })
  const post = (body: object) => send({ method: 'POST', body: JSON.stringify(body) })
  const call = (requestId: number, name: string, args: object) =>
    post({ jsonrpc: '2.0', id: requestId, method: 'tools/call', params: { name, arguments: args } })
  /** The id of the first event. The client then leaves. */
  async function left(answer: Response): Promise<string> {
    const reader = answer.body?.getReader()
    const text = new TextDecoder().decode((await reader?.read())?.value)
    await reader?.cancel()
    return /^id: (.*)$/m.exec(text)?.[1] ?? ''
  }
  async function resumed(eventId: string): Promise<Sent[]> {
    const answer = await send({ method: 'GET' }, { 'Last-Event-ID': eventId })
    expect(answer.status).toBe(200)
    return read(answer)
  }

  id = (await post(initialize)).headers.get('mcp-session-id') ?? ''
  const seen = await read(await call(1, 'heartbeat', {}))
  const { session_id } = seen[0]?.message.result?.structuredContent ?? {}
  const asked = await left(await call(2, 'forward_prompt', { prompt_text: 'Go on?' }))
  const streams: string[] = []
  for (let i = 0; i < CALLS; i += 1)
    streams.push(await left(await call(10 + i, 'remote_log', { message: `Line ${i}` })))
  await resumed(streams[0] ?? '')
  await server.kill()

  expect(await databaseFaults(yard)).toEqual([])
  server = await yard.start({ env: operatorEnv })
  // What was read is not sent again.
  expect(await resumed(seen[0]?.id ?? '')).toEqual([])
  expect(await resumed(asked)).toMatchObject([{ message: { id: 2, error: { data: { code: 'interrupted' } } } }])
  for (const [i, stream] of streams.entries()) {
    const events = await resumed(stream)
    expect(events.map(({ message }) => message.id)).toEqual([10 + i])
    const [{ id: last = '', message } = {}] = events
    // Only the first is sure to have been answered in time.
    const isAnswered = message?.result?.structuredContent.session_id === session_id
    if (i === 0 || !isAnswered) expect(message?.error?.data.code).toBe(i === 0 ? undefined : 'interrupted')
    expect(await resumed(last)).toEqual([])
  }
  const next = await read(await call(3, 'heartbeat', {}))
  expect(next).toMatchObject([
    { message: { id: 3, result: { structuredContent: { acknowledged: true, session_id } } } },
  ])
})
