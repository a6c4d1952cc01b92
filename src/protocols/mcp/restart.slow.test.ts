// Legacy clients and a server that is restarted on the same data: the real door, the real service, a real SQLite file.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isSupervisedApproval } from '../../domain/records/record.ts'
import { agentToken } from '../../http/testing/server-fixture.ts'
import { openSupervisedDoors } from '../testing/open-supervised-doors.ts'
import { createAgentTools } from './agent-tools.ts'
import { initialize, messagesIn, openMcpDoor, otherAgentToken } from './testing/open-mcp-door.ts'

const ada = { user: 'ada', role: 'operator' } as const
const PRIMED = { 'MCP-Protocol-Version': '2025-11-25' }

/** A server that can be started again and again on the same data. */
function openYard() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-restart-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const workspace = join(folder, 'shop')
  mkdirSync(workspace)
  const tokens = [
    { ...agentToken, workspace },
    { ...otherAgentToken, workspace },
  ]

  return async function start() {
    const doors = await openSupervisedDoors({ path: join(folder, 'data.db') })
    onTestFinished(() => doors[Symbol.asyncDispose]())
    const { service, mcpConnections, sessions } = doors.elsewhere
    const mcp = await openMcpDoor({
      door: { tools: createAgentTools(service), connections: mcpConnections },
      server: { auth: { tokens: () => tokens } },
    })

    /** The stream of a call. The client reads its first event and leaves. */
    async function callAndLeave(id: string, tool: string, args: object, requestId: number | string = 1) {
      const params = { name: tool, arguments: args }
      const body = { jsonrpc: '2.0', id: requestId, method: 'tools/call', params }
      const answer = await mcp.post(body, { 'Mcp-Session-Id': id, ...PRIMED })
      const reader = answer.body?.getReader()
      const text = new TextDecoder().decode((await reader?.read())?.value)
      await reader?.cancel()
      return /^id: (.*)$/m.exec(text)?.[1] ?? `no event: ${answer.status} ${text}`
    }

    /** Resumes a stream and reads it to its end. */
    async function resume(id: string, lastEventId: string, token = agentToken.token) {
      const answer = await fetch(mcp.url, {
        headers: {
          Authorization: `Bearer ${token}`,
          Accept: 'text/event-stream',
          'Mcp-Session-Id': id,
          'Last-Event-ID': lastEventId,
          ...PRIMED,
        },
      })
      return { status: answer.status, events: messagesIn(await answer.text()) }
    }

    return {
      ...mcp,
      doors,
      sessions,
      callAndLeave,
      resume,
      /** Nothing is told to anybody, as with kill -9. What it wrote stays. */
      kill: () => mcp.server.server.close({ drainMs: 0 }),
      /** Waits until the answer is in the log. */
      async answered(count = 1) {
        for (;;) {
          const [session] = await sessions.list({ limit: 1 })
          const entries = session === undefined ? [] : await doors.store.entries(session.id, 0, 1_000)
          if (entries.filter(({ data }) => data.includes('"mcp_answered"')).length >= count) return
          await new Promise<void>((resolve) => void setImmediate(resolve))
        }
      },
      /** The status of a call in this connection. */
      async status(id: string, token = agentToken.token) {
        const body = { jsonrpc: '2.0', id: 'status', method: 'tools/list' }
        return (await mcp.post(body, { 'Mcp-Session-Id': id, Authorization: `Bearer ${token}` })).status
      },
      /** Says yes to what is asked next. */
      async approve() {
        const asking = async () =>
          (await doors.store.waits.list({ isWaiting: true, limit: 1 })).filter(isSupervisedApproval)
        const [asked] = await until(asking)
        if (asked !== undefined) await doors.approvals.decide(ada, asked.id, { decision: 'approve' })
      },
      end: (id: string, token = agentToken.token) =>
        fetch(mcp.url, { method: 'DELETE', headers: { Authorization: `Bearer ${token}`, 'Mcp-Session-Id': id } }),
    }
  }
}

/** The client of the SDK. It reconnects at once, and as often as it takes. */
async function connect(server: { url: string }) {
  const where = { url: server.url, isDown: false }
  const cuts: (() => void)[] = []
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { Authorization: `Bearer ${agentToken.token}` } },
    reconnectionOptions: {
      ...{ initialReconnectionDelay: 1, maxReconnectionDelay: 1, reconnectionDelayGrowFactor: 1 },
      maxRetries: 1_000_000,
    },
    async fetch(_url, init) {
      if (where.isDown) throw new Error('nobody is there')
      const cut = new AbortController()
      cuts.push(() => cut.abort())
      const signal = init?.signal ? AbortSignal.any([init.signal, cut.signal]) : cut.signal
      return await fetch(where.url, { ...init, signal })
    },
  })
  const client = new Client({ name: 'codex-mcp-client', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return {
    client,
    transport,
    /** From now on the client reaches nobody, and its streams break. */
    cutOff() {
      where.isDown = true
      for (const cut of cuts.splice(0)) cut()
    },
    goTo(url: string) {
      where.url = url
      where.isDown = false
    },
  }
}

const call = (client: Client, name: string, args: Record<string, unknown>) =>
  client.callTool({ name, arguments: args }, { timeout: 600_000 })

describe('the real client', () => {
  test('goes on after a restart in its session, and its open call is told to ask again', async () => {
    const start = openYard()
    const one = await start()
    const { client, transport, cutOff, goTo } = await connect(one)
    const id = transport.sessionId
    const asked = call(client, 'forward_prompt', { prompt_text: 'Go on?' })
    const [prompt] = await until(() => one.doors.store.waits.list({ isWaiting: true, limit: 1 }))
    cutOff()
    await one.kill()

    const two = await start()
    await two.doors.elsewhere.prompts.decide(ada, prompt?.id ?? '', { decision: 'refine', instruction: 'Test first.' })
    goTo(two.url)

    await expect(asked).rejects.toMatchObject({
      code: -32000,
      message: expect.stringContaining('send the same request again'),
      data: { code: 'interrupted' },
    })
    expect(await call(client, 'forward_prompt', { prompt_text: 'Go on?' })).toMatchObject({
      structuredContent: { decision: 'refine', instruction: 'Test first.', prompt_id: prompt?.id },
    })
    expect(transport.sessionId).toBe(id)
    expect(await two.sessions.list({ limit: 10 })).toMatchObject([
      { supervision: { connectionId: id, host: 'codex-mcp-client' } },
    ])
  })

  test('gets an answer that was ready before the restart, once', async () => {
    const start = openYard()
    const one = await start()
    const { client, cutOff, goTo } = await connect(one)
    const asked = call(client, 'forward_prompt', { prompt_text: 'Go on?' })
    const [prompt] = await until(() => one.doors.store.waits.list({ isWaiting: true, limit: 1 }))
    cutOff()
    await one.doors.elsewhere.prompts.decide(ada, prompt?.id ?? '', { decision: 'continue' })
    await one.answered()
    await one.kill()

    const two = await start()
    goTo(two.url)

    expect(await asked).toMatchObject({ structuredContent: { decision: 'continue', prompt_id: prompt?.id } })
  })

  test('that has called no tool begins anew: there is nothing to go on with', async () => {
    const start = openYard()
    const one = await start()
    const { client, cutOff, goTo } = await connect(one)
    await client.listTools()
    cutOff()
    await one.kill()
    goTo((await start()).url)

    await expect(client.listTools()).rejects.toThrow(/Begin a new one with/)
  })
})

describe('a stream of an earlier process', () => {
  test('brings exactly the answer that would have come, and nothing after it', async () => {
    const start = openYard()
    const one = await start()
    const id = await one.begin()
    const primed = await one.callAndLeave(id, 'heartbeat', { status_message: 'Here.' }, 'request "7"')
    await one.answered()
    const live = await one.resume(id, primed)
    expect(live.events).toMatchObject([{ message: { id: 'request "7"', result: { content: [{ type: 'text' }] } } }])
    await one.kill()

    const two = await start()
    const again = await two.resume(id, primed)

    expect(again.events.map(({ message }) => message)).toEqual(live.events.map(({ message }) => message))
    expect(await two.resume(id, again.events[0]?.id ?? '')).toEqual({ status: 200, events: [] })
    expect(await two.resume(id, live.events[0]?.id ?? '')).toEqual({ status: 200, events: [] })
  })

  test('several calls keep their answers apart, over two restarts', async () => {
    const start = openYard()
    const one = await start()
    const id = await one.begin()
    const first = await one.callAndLeave(id, 'heartbeat', {}, 1)
    const second = await one.callAndLeave(id, 'set_operational_mode', { mode: 'local' }, 2)
    await one.answered(2)
    await one.kill()
    const two = await start()
    const third = await two.callAndLeave(id, 'remote_log', { message: 'Back.' }, 3)
    await two.answered(3)
    await two.kill()

    const three = await start()
    const ids = async (eventId: string) => (await three.resume(id, eventId)).events.map(({ message }) => message.id)
    // Two requests of one client that comes back at once bring its session back once.
    expect(await Promise.all([ids(third), ids(first), ids(second)])).toEqual([[3], [1], [2]])
    expect(await three.sessions.list({ limit: 10 })).toMatchObject([{ supervision: { mcp: [{ id }] } }])
  })

  test('calls for another session of the same agent bring their answers too', async () => {
    const start = openYard()
    const one = await start()
    const [id, other] = [await one.begin(), await one.begin()]
    await one.resume(other, await one.callAndLeave(other, 'heartbeat', {}))
    const [session] = await one.sessions.list({ limit: 1 })
    const own = await one.callAndLeave(id, 'heartbeat', {}, 'own')
    const named = await one.callAndLeave(id, 'heartbeat', { session_id: session?.id }, 'named')
    for (const primed of [own, named]) await one.resume(id, primed)
    await one.kill()

    const two = await start()

    const ids = async (eventId: string) => (await two.resume(id, eventId)).events.map(({ message }) => message.id)
    expect([await ids(named), await ids(own)]).toEqual([['named'], ['own']])
    expect(await two.sessions.list({ limit: 10 })).toHaveLength(2)
  })

  test('the verdict for a host’s permission prompt comes as the host wants it', async () => {
    const start = openYard()
    const one = await start()
    const id = await one.begin()
    const args = { tool_name: 'Bash', input: { command: 'rm -r build' } }
    const primed = await one.callAndLeave(id, 'approve_tool', args)
    await one.approve()
    await one.answered()
    const live = await one.resume(id, primed)
    await one.kill()

    const again = await (await start()).resume(id, primed)

    expect(again.events.map(({ message }) => message)).toEqual(live.events.map(({ message }) => message))
    expect(again.events).toMatchObject([
      { message: { result: { content: [{ text: JSON.stringify({ behavior: 'allow', updatedInput: args.input }) }] } } },
    ])
  })

  test('what the server said by itself is not said twice', async () => {
    const start = openYard()
    const one = await start()
    const id = await one.begin()
    await (await one.post(callBody('heartbeat'), { 'Mcp-Session-Id': id })).text()
    const listen = (server: typeof one, lastEventId?: string) =>
      openStream(server.url, {
        'Mcp-Session-Id': id,
        ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
      })
    const nudge = (server: typeof one, n: number) =>
      server.clients.push(id, { method: 'quarterdeck/nudge', params: { n }, message: `Nudge ${n}` })
    const before = await listen(one)
    await until(async () => (one.clients.isOpen(id) ? [true] : []))
    nudge(one, 1)
    nudge(one, 2)
    const seen = await before.read(4)
    before.close()
    await one.kill()

    const two = await start()
    const after = await listen(two, seen[1]?.id)
    await until(async () => (two.clients.isOpen(id) ? [true] : []))
    nudge(two, 3)

    const said = (events: typeof seen) => events.map(({ message }) => message.params)
    expect(said(seen)).toMatchObject([{ n: 1 }, { data: 'Nudge 1' }, { n: 2 }, { data: 'Nudge 2' }])
    expect(said(await after.read(4))).toMatchObject([{ n: 2 }, { data: 'Nudge 2' }, { n: 3 }, { data: 'Nudge 3' }])
    after.close()
  })
})

describe('a connection of an earlier process', () => {
  test('belongs to the token that opened it, and ends with DELETE', async () => {
    const start = openYard()
    const one = await start()
    const [id, ended] = [await one.begin(), await one.begin()]
    const primed = await one.callAndLeave(id, 'heartbeat', {})
    await one.resume(ended, await one.callAndLeave(ended, 'heartbeat', {}))
    await one.resume(id, primed)
    expect((await one.end(ended)).status).toBe(200)
    await one.kill()

    const two = await start()
    const stranger = otherAgentToken.token
    expect(await two.status(ended)).toBe(404)
    expect((await two.resume(id, primed, stranger)).status).toBe(404)
    expect(await two.status(id, stranger)).toBe(404)
    expect((await two.end(id, stranger)).status).toBe(404)
    expect(await two.status(id)).toBe(200)
    expect(await two.status(id, stranger)).toBe(404)
    expect((await two.end(id)).status).toBe(200)
    expect([await two.status(id), (await two.resume(id, primed)).status]).toEqual([404, 404])
    await two.kill()
    expect(await (await start()).status(id)).toBe(404)
  })

  test('of a session that was ended does not begin another one', async () => {
    const start = openYard()
    const one = await start()
    const id = await one.begin()
    await one.callAndLeave(id, 'heartbeat', {})
    await one.answered()
    const [session] = await one.sessions.list({ limit: 1 })
    await one.sessions.terminate(ada, session?.id ?? '')
    await one.kill()

    const two = await start()
    const answer = await two.post(callBody('heartbeat'), { 'Mcp-Session-Id': id })

    expect(messagesIn(await answer.text())).toMatchObject([
      { message: { result: { isError: true, structuredContent: { error_code: 'session_ended' } } } },
    ])
    expect(await two.sessions.list({ limit: 10 })).toHaveLength(1)
  })

  test('is forgotten when the session has too many, or when its handshake was absurd', async () => {
    const start = openYard()
    const one = await start()
    const first = await one.begin()
    await one.callAndLeave(first, 'heartbeat', {})
    await one.answered()
    const [session] = await one.sessions.list({ limit: 1 })
    const named = { session_id: session?.id }
    const ids = [first, ...(await Promise.all(Array.from({ length: 4 }, () => one.begin())))]
    for (const id of ids.slice(1)) await (await one.post(callBody('heartbeat', named), { 'Mcp-Session-Id': id })).text()
    const clientInfo = { name: 'x'.repeat(3_000), version: '1' }
    const long = { ...initialize, params: { ...initialize.params, clientInfo } }
    const absurd = (await one.post(long)).headers.get('mcp-session-id') ?? ''
    await (await one.post(callBody('heartbeat', named), { 'Mcp-Session-Id': absurd })).text()
    await one.kill()

    const two = await start()

    const statuses = await Promise.all([...ids, absurd].map((id) => two.status(id)))
    expect(statuses).toEqual([404, 200, 200, 200, 200, 404])
  })

  test('that had to make room in memory comes back too', async () => {
    const start = openYard()
    const one = await start()
    const id = await one.begin()
    const primed = await one.callAndLeave(id, 'heartbeat', {})
    await one.answered()
    for (let i = 0; i < 16; i += 1) await one.begin()

    expect((await one.resume(id, primed)).events).toMatchObject([{ message: { id: 1 } }])
  })

  test('keeps no answer that is absurdly long: its client asks again', async () => {
    const start = openYard()
    const one = await start()
    const id = await one.begin()
    const params = { name: 'approve_tool', arguments: { tool_name: 'Bash', input: { command: 'x'.repeat(1_100_000) } } }
    const called = await one.post(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { 'Mcp-Session-Id': id, ...PRIMED },
    )
    await one.approve()
    const text = await called.text()
    expect(text.length).toBeGreaterThan(1_000_000)
    await one.kill()

    const two = await start()

    const primed = /^id: (.*)$/m.exec(text)?.[1] ?? ''
    expect((await two.resume(id, primed)).events).toMatchObject([
      { message: { id: 1, error: { data: { code: 'interrupted' } } } },
    ])
  })
})

const callBody = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
})

/** Looks again and again, because the machine may be busy. */
async function until<T>(look: () => Promise<T[]>): Promise<T[]> {
  for (;;) {
    const found = await look()
    if (found.length > 0) return found
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
}

/** The client's own stream. */
async function openStream(url: string, headers: Record<string, string>) {
  const abort = new AbortController()
  const answer = await fetch(url, {
    headers: { Authorization: `Bearer ${agentToken.token}`, Accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  })
  const reader = answer.body?.getReader()
  let text = ''
  return {
    /** The first `count` messages. */
    async read(count: number) {
      while (messagesIn(text).length < count) text += new TextDecoder().decode((await reader?.read())?.value)
      return messagesIn(text)
    },
    close: () => abort.abort(),
  }
}
