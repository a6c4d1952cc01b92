import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { agentToken, until } from '../../../http/testing/server-fixture.ts'
import { openMcpDoor } from '../../../protocols/mcp/testing/open-mcp-door.ts'
import { type BridgeOptions, runBridge } from './bridge.ts'

/** A host that speaks over a pipe, with a bridge to the server at `where.url`. */
async function openHost(
  era: 'legacy' | 'modern',
  where: { url: string; token?: string },
  more: Partial<BridgeOptions> = {},
  onConnect: (url: string) => void = () => {},
) {
  const [hostEnd, bridgeEnd] = InMemoryTransport.createLinkedPair()
  const said: string[] = []
  const connect = () => {
    onConnect(where.url)
    return new StreamableHTTPClientTransport(new URL(`${where.url}?bridge_id=bridge-1234`), {
      requestInit: { headers: { Authorization: `Bearer ${where.token ?? agentToken.token}` } },
      reconnectionOptions: {
        initialReconnectionDelay: 10,
        maxReconnectionDelay: 20,
        reconnectionDelayGrowFactor: 1,
        maxRetries: 2,
      },
    })
  }
  const clock = createSystemClock()
  const ended = runBridge({ host: bridgeEnd, connect, clock, say: (text) => said.push(text), ...more })
  const client = new Client(
    { name: 'host', version: '1' },
    { capabilities: {}, versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } },
  )
  const connected = client.connect(hostEnd)
  onTestFinished(() => client.close())
  return { client, connected, ended, said }
}

describe.each(['legacy', 'modern'] as const)('a bridge for a %s host', (era) => {
  test('carries calls, progress and answers, as one connection', async () => {
    const { url, hold } = await openMcpDoor()
    const { client, connected } = await openHost(era, { url })
    await connected

    expect((await client.listTools()).tools.length).toBe(4)
    const heard: unknown[] = []
    const called = hold.next()
    const answer = client.callTool({ name: 'hold', arguments: { say: 'Hm' } }, { onprogress: (one) => heard.push(one) })
    const { context, answer: end } = await called
    await until(() => heard.length === 1)
    end({ decided: true })

    expect(await answer).toMatchObject({ structuredContent: { decided: true } })
    expect(context.agent).toMatchObject({ connectionId: 'token-of-an-agent:bridge-1234', isLasting: true, era })
  })

  test('carries a cancel', async () => {
    const { url, hold } = await openMcpDoor()
    const { client, connected } = await openHost(era, { url })
    await connected
    const abort = new AbortController()
    const called = hold.next()
    const answer = client.callTool({ name: 'hold', arguments: {} }, { signal: abort.signal })
    const { context } = await called

    abort.abort()

    await expect(answer).rejects.toThrow()
    await until(() => context.signal.aborted)
  })

  test('survives a restart of the server: a call in work is told to come again, later ones work', async () => {
    const first = await openMcpDoor()
    const where = { url: first.url }
    const { client, connected, said } = await openHost(era, where)
    await connected
    const called = first.hold.next()
    const answer = client.callTool({ name: 'hold', arguments: {} })
    await called

    const second = await openMcpDoor()
    where.url = second.url
    await first.server.server.close({ drainMs: 0 })

    expect(await answer).toMatchObject({
      isError: true,
      structuredContent: { status: 'error', error_message: expect.stringContaining('Nothing is lost') },
    })
    expect(await client.callTool({ name: 'echo', arguments: { text: 'again' } })).toMatchObject({
      structuredContent: { text: 'again' },
    })
    if (era === 'legacy') expect(said).toContain('Connected to the server again.')
  })

  test('does not send what the host cancelled while no server was there', async () => {
    const first = await openMcpDoor()
    const where = { url: first.url }
    const tries: string[] = []
    const { client, connected } = await openHost(era, where, {}, (url) => tries.push(url))
    await connected
    where.url = 'http://127.0.0.1:1/mcp'
    await first.server.server.close({ drainMs: 0 })
    // A legacy bridge notices by itself. What is asked before that is told to come again.
    if (era === 'legacy') await until(() => tries.length > 1)
    const abort = new AbortController()
    const before = tries.length
    const answer = client.callTool({ name: 'hold', arguments: {} }, { signal: abort.signal })
    await until(() => tries.length > before)
    abort.abort()
    await expect(answer).rejects.toThrow()

    const second = await openMcpDoor()
    where.url = second.url
    await client.callTool({ name: 'echo', arguments: { text: 'again' } })

    expect(second.hold.calls).toEqual([])
  })

  test('waits for a server that comes late, and says so when it never comes', async () => {
    const where = { url: 'http://127.0.0.1:1/mcp' }
    const { client, connected } = await openHost(era, where)
    const late = await openMcpDoor()
    where.url = late.url
    await connected
    expect((await client.listTools()).tools.length).toBe(4)

    const never = await openHost(era, { url: 'http://127.0.0.1:1/mcp' }, { patienceMs: 100 })
    await expect(never.connected).rejects.toThrow()
  })

  test('shows the host what the server refuses', async () => {
    const { url } = await openMcpDoor()
    const { connected } = await openHost(era, { url, token: 'wrong-wrong-wrong' })

    // The client's own words hide those of the server in the modern era.
    await expect(connected).rejects.toThrow(era === 'legacy' ? /token/ : /negotiation failed/)
  })

  test('ends with the host, and its session with it', async () => {
    const { url, ended: sessions } = await openMcpDoor()
    const { client, connected, ended } = await openHost(era, { url })
    await connected
    await client.listTools()

    await client.close()
    await ended

    expect(sessions).toEqual(era === 'legacy' ? ['token-of-an-agent:bridge-1234'] : [])
  })
})

test('a call that the server gave up in a restart is a result that the model reads', async () => {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const serverInfo = { name: 'server', version: '1' }
  const greeting = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo }
  const error = { code: -32000, message: 'Send it again.', data: { code: 'interrupted' } }
  far.onmessage = (message) => {
    if (!('method' in message && 'id' in message)) return
    const answer = message.method === 'initialize' ? { result: greeting } : { error }
    void far.send({ jsonrpc: '2.0', id: message.id, ...answer })
  }
  const connect = () => Object.assign(near, { terminateSession: async () => {} })
  const { client, connected } = await openHost('legacy', { url: 'http://127.0.0.1:1/mcp' }, { connect })
  await connected

  expect(await client.callTool({ name: 'heartbeat', arguments: {} })).toMatchObject({
    isError: true,
    structuredContent: { status: 'error', error_message: expect.stringContaining('Nothing is lost') },
  })
  await expect(client.ping()).rejects.toThrow(/Nothing is lost/)
})
