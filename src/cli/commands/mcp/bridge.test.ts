import { createServer, type Server, type Socket } from 'node:net'
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { agentToken, createManualClock, type ManualClock, turn, until } from '../../../http/testing/server-fixture.ts'
import { openMcpDoor } from '../../../protocols/mcp/testing/open-mcp-door.ts'
import { type BridgeOptions, fetchForBridge, runBridge } from './bridge.ts'

/** A host that speaks over a pipe, with a bridge to the server at `where.url`. */
async function openHost(
  era: 'legacy' | 'modern',
  where: { url: string; token?: string },
  more: Partial<BridgeOptions> = {},
  onConnect: (url: string) => void = () => {},
) {
  const [hostEnd, bridgeEnd] = InMemoryTransport.createLinkedPair()
  const said: string[] = []
  const reach = fetchForBridge(createSystemClock())
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
      // As a server that is started again at the same address.
      fetch: (_url, init) => reach(`${where.url}?bridge_id=bridge-1234`, init),
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
    where.url = await nobody()
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

  test('sends a call again that a starting or stopping server refused', async () => {
    const first = await openMcpDoor()
    const where = { url: first.url }
    const tries: string[] = []
    const { client, connected } = await openHost(era, where, {}, (url) => tries.push(url))
    await connected
    const starting = await openMcpDoor({ server: { ready: false } })
    where.url = starting.url
    const before = tries.length
    const answer = client.callTool({ name: 'echo', arguments: { text: 'once' } })
    await until(() => tries.length > before)
    starting.server.state.advance('ready')

    expect(await answer).toMatchObject({ structuredContent: { text: 'once' } })
  })

  test('tells a call within 5 s that no server came, and carries the next one', async () => {
    const clock = createManualClock()
    const first = await openMcpDoor()
    const where = { url: first.url }
    const tries: string[] = []
    const { client, connected } = await openHost(era, where, { clock }, (url) => tries.push(url))
    await connected
    where.url = await nobody()
    const answer = client.callTool({ name: 'echo', arguments: { text: 'lost' } }, { timeout: 600_000 })
    await passing(clock, 5_000, answer)

    expect(await answer).toMatchObject(CALL_AGAIN)
    where.url = first.url
    const next = client.callTool({ name: 'echo', arguments: { text: 'found' } }, { timeout: 600_000 })
    await passing(clock, 5_000, next)
    expect(await next).toMatchObject({ structuredContent: { text: 'found' } })
  })

  test('tells a call within 5 s that the server accepts connections and does not answer', async () => {
    const clock = createManualClock()
    const first = await openMcpDoor()
    const where = { url: first.url }
    const { client, connected } = await openHost(era, where, { clock })
    await connected
    where.url = await listenInSilence()
    const answers = Array.from({ length: 20 }, () =>
      client.callTool({ name: 'echo', arguments: { text: 'lost' } }, { timeout: 600_000 }),
    )
    await passing(clock, 5_000, Promise.all(answers))

    expect(await Promise.all(answers)).toMatchObject(answers.map(() => CALL_AGAIN))
    where.url = first.url
    expect(await client.callTool({ name: 'echo', arguments: { text: 'found' } })).toMatchObject({
      structuredContent: { text: 'found' },
    })
  })

  test('does not repeat a call that a server took and never answered', async () => {
    const { url, hold, server } = await openMcpDoor()
    const where = { url }
    const { client, connected } = await openHost(era, where)
    await connected
    const answers = Array.from({ length: 20 }, () => client.callTool({ name: 'hold', arguments: {} }))
    await until(() => hold.calls.length === 20)
    const second = await openMcpDoor()
    where.url = second.url
    await server.server.close({ drainMs: 0 })

    expect(await Promise.all(answers)).toMatchObject(answers.map(() => CALL_AGAIN))
    expect(second.hold.calls).toEqual([])
  })

  test('asks again by itself for what only reads', async () => {
    const first = await openMcpDoor()
    const where = { url: await cutEveryAnswer() }
    const { client, connected } = await openHost(era, where)
    where.url = first.url
    await connected
    where.url = await cutEveryAnswer()
    const listed = client.listTools()
    where.url = first.url

    expect((await listed).tools.length).toBe(4)
  })

  test('ends with the host while it greets a server that does not answer', async () => {
    const first = await openMcpDoor()
    const where = { url: first.url }
    const { client, connected, ended } = await openHost(era, where)
    await connected
    where.url = await listenInSilence()
    await first.server.server.close({ drainMs: 0 })
    const answer = client.callTool({ name: 'echo', arguments: { text: 'lost' } }).catch(() => 'closed')

    await client.close()
    await ended

    expect(await answer).toBe('closed')
  })

  test('waits for a server that comes late, and says so when it never comes', async () => {
    const where = { url: await nobody() }
    const { client, connected } = await openHost(era, where)
    const late = await openMcpDoor()
    where.url = late.url
    await connected
    expect((await client.listTools()).tools.length).toBe(4)

    const never = await openHost(era, { url: await nobody() }, { patienceMs: 100 })
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

const CALL_AGAIN = {
  isError: true,
  structuredContent: {
    error_code: 'operator_unreachable',
    error_message: expect.stringContaining('Call the same tool again'),
  },
}

/** Lets the time pass in small steps, because the work between two timers is real. Throws if it takes longer. */
async function passing(clock: ManualClock, ms: number, work: Promise<unknown>): Promise<void> {
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  for (let left = ms; !isDone; left -= 50) {
    if (left <= 0) throw new Error(`it is not done after ${ms} ms`)
    clock.advance(50)
    for (let turns = 0; turns < 20 && !isDone; turns++) await turn()
  }
}

/** The address of something that accepts connections and says nothing. */
const listenInSilence = () => listen(() => {})
/** The address of something that ends every connection when a request has come. */
const cutEveryAnswer = () => listen((socket) => void socket.once('data', () => socket.destroy()))

/** An address where nobody listens. */
async function nobody(): Promise<string> {
  const server = createServer()
  const url = await addressOf(server)
  await new Promise((resolve) => server.close(resolve))
  return url
}

async function listen(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    onSocket(socket)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return await addressOf(server)
}

async function addressOf(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/mcp`
}

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
  const { client, connected } = await openHost('legacy', { url: await nobody() }, { connect, patienceMs: 500 })
  await connected

  expect(await client.callTool({ name: 'heartbeat', arguments: {} })).toMatchObject({
    isError: true,
    structuredContent: { status: 'error', error_message: expect.stringContaining('Nothing is lost') },
  })
  await expect(client.ping()).rejects.toThrow(/Nothing is lost/)
})
