// How the session of a window ends and comes back, at the real door: the real service, real clients of both eras and the real bridge.

import { realpathSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { agentToken, until } from '../../../http/testing/server-fixture.ts'
import { createAgentTools } from '../../../protocols/mcp/agent-tools.ts'
import { createOpenClients } from '../../../protocols/mcp/open-clients.ts'
import { initialize, openMcpDoor } from '../../../protocols/mcp/testing/open-mcp-door.ts'
import { openSupervisedDoors } from '../../../protocols/testing/open-supervised-doors.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'

type Era = 'legacy' | 'modern'

async function openWindows() {
  const clients = createOpenClients()
  const doors = await openSupervisedDoors({ isConnected: clients.isOpen })
  onTestFinished(() => doors[Symbol.asyncDispose]())
  const { service, mcpConnections, sessions } = doors.elsewhere
  const workspace = realpathSync(await tempFolder())
  const token = { ...agentToken, workspace }
  const mcp = await openMcpDoor({
    door: { clients, tools: createAgentTools(service), connections: mcpConnections, onEnd: sessions.goodbye },
    server: { auth: { tokens: () => [token] } },
  })

  const connectionOf = async (id: string) => (await sessions.get(id)).supervision.connectionId ?? ''

  /** Lets time pass for server and door, and tells the status. `isThere`: whoever is asked for a sign of life has time to give it. */
  async function pass(id: string, seconds: number, isThere = false): Promise<string> {
    const connectionId = await connectionOf(id)
    for (let left = seconds; left > 0; left -= 10) {
      const ms = 1_000 * Math.min(left, 10)
      doors.wait(ms)
      await mcp.clock.advance(ms)
      if (isThere) await until(() => clients.isOpen(connectionId))
      await sessions.sweep()
    }
    return (await sessions.get(id)).supervision.status
  }

  /** A window of a host: the real command, as the host starts it. */
  async function openBridge(era: Era) {
    const stdin = new PassThrough()
    const env = { QUARTERDECK_AGENT_TOKEN: token.token }
    const io = createTestIo({ cwd: workspace, stdin, clock: createSystemClock(), env })
    const ended = main(['mcp', '--url', mcp.url], io)
    onTestFinished(async () => {
      stdin.end()
      await ended
    })
    const send = (message: object) => void stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    if (era === 'legacy') {
      send(initialize)
      await io.until('serverInfo')
      send({ method: 'notifications/initialized' })
    }
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const params = { name: 'heartbeat', arguments: {}, ...(era === 'modern' ? { _meta } : {}) }
    send({ id: 'beat', method: 'tools/call', params })
    await io.until('acknowledged')
    const [, id = ''] = /"session_id\W+([0-9a-f-]{36})/.exec(io.printed()) ?? []
    await until(() => clients.list().some((one) => one.startsWith(token.id)))
    return { id, io, stdin, ended }
  }

  async function connect(era: Era) {
    const { client, transport } = await mcp.connect(era)
    const beat = await client.callTool({ name: 'heartbeat', arguments: {} })
    const id = isRecord(beat.structuredContent) ? String(beat.structuredContent.session_id) : ''
    if (era === 'legacy') {
      const connectionId = await connectionOf(id)
      await until(() => clients.isOpen(connectionId))
      // The stream was not open yet when the first call came.
      await client.callTool({ name: 'heartbeat', arguments: {} })
    }
    return { client, transport, id }
  }

  const statusOf = async (id: string) => (await sessions.get(id)).supervision.status
  return { ...mcp, doors, sessions, token, pass, openBridge, connect, connectionOf, statusOf }
}

describe.each(['legacy', 'modern'] as const)('the bridge of a %s host', (era) => {
  test('says goodbye at the end of its input, and the next one goes on in its session', async () => {
    const { openBridge, statusOf, sessions } = await openWindows()
    const first = await openBridge(era)
    first.stdin.end()
    expect(await first.ended).toBe(0)

    expect(await statusOf(first.id)).toBe('interrupted')
    expect((await openBridge(era)).id).toBe(first.id)
    expect((await sessions.list({ limit: 9 })).length).toBe(1)
  })

  test('says goodbye when its host sends a signal', async () => {
    const { openBridge, statusOf } = await openWindows()
    const { id, io, ended } = await openBridge(era)
    io.signal('SIGTERM')
    await ended

    expect(await statusOf(id)).toBe('interrupted')
  })

  test('keeps its session active while it is there, however quiet, and two are two', async () => {
    const { openBridge, pass } = await openWindows()
    const first = await openBridge(era)
    expect(await pass(first.id, 600, true)).toBe('active')

    expect((await openBridge(era)).id).not.toBe(first.id)
  })
})

test('a bridge that was killed is gone for a minute, then its session rests', async () => {
  const { url, token, sessions, clients, pass, statusOf } = await openWindows()
  const own = `${url}?bridge_id=bridge-1234`
  const headers = { Authorization: `Bearer ${token.token}` }
  const killed = new AbortController()
  const held = await fetch(own, { headers, signal: killed.signal })
  expect(held.headers.get('content-type')).toBe('text/event-stream')
  const session = await sessions.attach({
    ...{ owner: token.user, tokenId: token.id, workspaceRoot: token.workspace, channelId: null, sessionId: null },
    ...{ host: 'claude-code', connectionId: `${token.id}:bridge-1234` },
  })
  expect(await pass(session.id, 50)).toBe('active')
  killed.abort()
  await until(() => clients.list().length === 0)

  expect(await pass(session.id, 60)).toBe('active')
  expect(await pass(session.id, 10)).toBe('interrupted')
  expect((await fetch(own, { method: 'DELETE', headers })).status).toBe(204)
  expect(await statusOf(session.id)).toBe('interrupted')
})

describe('a legacy client over HTTP', () => {
  test('that says DELETE leaves its session at rest, with what it asked, and a new one takes it up', async () => {
    const { connect, doors, statusOf } = await openWindows()
    const { client, transport, id } = await connect('legacy')
    const asking = client.callTool({ name: 'wait_for_instruction', arguments: { message: 'What next?' } })
    asking.catch(() => {})
    const [waiting] = await untilFound(() => doors.store.waits.list({ isWaiting: true, limit: 1 }))

    await transport.terminateSession()

    expect(await statusOf(id)).toBe('interrupted')
    expect(await doors.store.waits.get(waiting?.id ?? '')).toMatchObject({ status: 'interrupted' })
    expect((await connect('legacy')).id).toBe(id)
  })

  test('that goes without a word rests after a minute', async () => {
    const { connect, connectionOf, clients, pass } = await openWindows()
    const { client, id } = await connect('legacy')
    const connectionId = await connectionOf(id)
    await client.close()
    await until(() => !clients.isOpen(connectionId))

    expect(await pass(id, 60)).toBe('active')
    expect(await pass(id, 10)).toBe('interrupted')
  })

  test('that answers when it is asked stays active', async () => {
    const { connect, pass } = await openWindows()
    const { id } = await connect('legacy')

    expect(await pass(id, 1_000, true)).toBe('active')
  })

  test('whose stream looks open, but which answers no ping, rests, and none of it is written down', async () => {
    const { connect, pass, doors } = await openWindows()
    const { transport, id } = await connect('legacy')
    transport.onmessage = () => {}

    expect(await pass(id, 110)).toBe('active')
    expect(await pass(id, 30)).toBe('interrupted')
    const entries = await doors.store.entries(id, 0, 1_000)
    expect(entries.filter(({ data }) => data.includes('"mcp_told"'))).toEqual([])
  })
})

test('a modern client over HTTP has no connection to lose: only half an hour counts', async () => {
  const { connect, pass } = await openWindows()
  const { client, id } = await connect('modern')
  await client.close()

  expect(await pass(id, 1_780)).toBe('active')
  expect(await pass(id, 30)).toBe('interrupted')
  expect((await connect('modern')).id).toBe(id)
})

async function untilFound<T>(look: () => Promise<T[]>): Promise<T[]> {
  for (;;) {
    const found = await look()
    if (found.length > 0) return found
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
}
