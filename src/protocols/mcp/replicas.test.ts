// A legacy client whose requests reach two servers on one store: the real door, the real service, a real store.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createIds } from '../../domain/ids.ts'
import { silentLogger } from '../../domain/logger.ts'
import { agentToken } from '../../http/testing/server-fixture.ts'
import { createLocalWake } from '../../log/wake.ts'
import { openReplica } from '../../replicas/replica.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import { openSupervisedDoors } from '../testing/open-supervised-doors.ts'
import { createAgentTools } from './agent-tools.ts'
import { shareConnections } from './share-connections.ts'
import { initialize, messagesIn, openMcpDoor } from './testing/open-mcp-door.ts'

const PRIMED = { 'MCP-Protocol-Version': '2025-11-25' }

async function openTwo() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-replicas-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const workspace = join(folder, 'shop')
  mkdirSync(workspace)
  const clock = createSystemClock()
  const store = openTestStore()
  onTestFinished(() => store.close())
  /** Both servers use it, so neither may close it. */
  const lent = { ...store, async close() {} }
  const shared = createLocalShared(clock)
  const wake = createLocalWake({ clock, pollMs: 1_000 })

  let requests = 10
  async function open(owner: string, aheadMs = 0) {
    const undo = new AsyncDisposableStack()
    onTestFinished(() => undo.disposeAsync())
    const ids = createIds(clock.now)
    const ahead = { ...clock, now: () => clock.now() + aheadMs }
    const replica = openReplica({ shared, owner, place: owner, clock, ids, log: silentLogger }, undo)
    const { elsewhere } = undo.use(await openSupervisedDoors({ store: lent, wake, replica }))
    const mcp = await openMcpDoor({
      door: { tools: createAgentTools(elsewhere.service), connections: elsewhere.mcpConnections, clock: ahead },
      server: { auth: { tokens: () => [{ ...agentToken, workspace }] } },
    })
    const connections = shareConnections(mcp.clients, replica)
    const call = async (id: string, name: string, args: object) => {
      requests += 1
      const body = { jsonrpc: '2.0', id: requests, method: 'tools/call', params: { name, arguments: args } }
      const answer = await mcp.post(body, { 'Mcp-Session-Id': id, ...PRIMED })
      return { status: answer.status, text: await answer.text() }
    }
    /** The stream of what the server says by itself. */
    async function listen(id: string) {
      const leave = new AbortController()
      onTestFinished(() => leave.abort())
      const headers = { Authorization: `Bearer ${agentToken.token}`, Accept: 'text/event-stream', 'Mcp-Session-Id': id }
      const answer = await fetch(mcp.url, { headers: { ...headers, ...PRIMED }, signal: leave.signal })
      return { status: answer.status, reader: answer.body?.getReader(), leave: () => leave.abort() }
    }
    const status = async (id: string) =>
      (await mcp.post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, { 'Mcp-Session-Id': id, ...PRIMED })).status
    const end = (id: string) =>
      fetch(mcp.url, {
        method: 'DELETE',
        headers: { Authorization: `Bearer ${agentToken.token}`, 'Mcp-Session-Id': id },
      })
    return { ...mcp, elsewhere, replica, connections, call, listen, status, end }
  }
  return { a: await open('A', 3_600_000), b: await open('B'), store }
}

test('a client that began at one server goes on at the other, in one session, until it ends at either', async () => {
  const { a, b } = await openTwo()
  const id = await a.begin()

  expect(await b.status(id)).toBe(200)
  const answers = await Promise.all([a, b, a, b].map((server) => server.call(id, 'heartbeat', {})))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const sessions = await a.elsewhere.sessions.list({ limit: 10 })
  expect(sessions.map(({ supervision }) => [supervision.connectionId, supervision.status])).toEqual([[id, 'active']])

  expect((await b.end(id)).status).toBe(200)
  await expect.poll(() => a.status(id), { timeout: 60_000, interval: 50 }).toBe(404)
  expect(await b.status(id)).toBe(404)
})

test('what an operator says at one server reaches the stream that the agent has open at the other', async () => {
  const { a, b } = await openTwo()
  const id = await a.begin()
  await a.call(id, 'heartbeat', {})
  const stream = await a.listen(id)
  expect(stream.status).toBe(200)
  const push = { method: 'quarterdeck/nudge', params: { text: 'Go on' }, message: 'Go on.' }
  expect(await b.connections.push('nobody', push)).toBeNull()

  await a.replica.board.publish()
  expect(await b.connections.push(id, push)).toBe('stream')
  let text = ''
  while (!text.includes('quarterdeck/nudge')) text += new TextDecoder().decode((await stream.reader?.read())?.value)
  const [told] = messagesIn(text)
  expect(told?.message).toMatchObject({ method: 'quarterdeck/nudge', params: { text: 'Go on' } })
  await b.replica.board.listen('mcp connections')
  expect(b.connections.isOpen(id)).toBe(true)

  // The other server knows what was told, and nobody gets it twice.
  stream.leave()
  await b.status(id)
  const headers = { Authorization: `Bearer ${agentToken.token}`, Accept: 'text/event-stream', 'Mcp-Session-Id': id }
  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const before = `${Number(told?.id.split('.')[0]) - 1}._GET_stream`
  const again = await fetch(b.url, {
    headers: { ...headers, ...PRIMED, 'Last-Event-ID': before },
    signal: leave.signal,
  })
  const reader = again.body?.getReader()
  let repeated = ''
  while (!repeated.includes('quarterdeck/nudge')) repeated += new TextDecoder().decode((await reader?.read())?.value)
  expect(messagesIn(repeated)[0]).toEqual(told)
})

test('what a client is told at one server has a higher number than all that it was told at another, whatever their clocks say', async () => {
  const { a, b } = await openTwo()
  const id = await a.begin()
  await a.call(id, 'heartbeat', {})
  // Both know the connection before anything is told.
  expect(await b.status(id)).toBe(200)
  const numbers: number[] = []
  // The clock of the first is ahead.
  for (const server of [a, b]) {
    const stream = await server.listen(id)
    await server.connections.push(id, { method: 'quarterdeck/nudge', params: {}, message: 'Go on.' })
    // A nudge comes as a notification, and as a line for the log of hosts that do not know it.
    let text = ''
    const told = () => messagesIn(text.slice(0, text.lastIndexOf('\n\n') + 1))
    while (told().length < 2) text += new TextDecoder().decode((await stream.reader?.read())?.value)
    numbers.push(...told().map((one) => Number(one.id.split('.')[0])))
    stream.leave()
  }

  expect(new Set(numbers).size).toBe(4)
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
})

test('a client that says much about itself is known at the other server, and one that says too much is refused', async () => {
  const { a, b } = await openTwo()
  const greet = (params: object) => a.post({ ...initialize, params: { ...initialize.params, ...params } })
  const icons = [{ src: `data:image/png;base64,${'A'.repeat(1_200_000)}` }]

  const long = await greet({ clientInfo: { name: 'raw', version: '1', icons } })
  await long.text()
  expect(await b.status(long.headers.get('mcp-session-id') ?? '')).toBe(200)

  const tooLong = await greet({ capabilities: { experimental: { much: { text: 'A'.repeat(1_200_000) } } } })
  expect(tooLong.status).toBe(400)
  expect(await tooLong.text()).toContain(
    'The parameters of \\"initialize\\" are too long. Send at most 2000 characters',
  )
})

test('a session whose agent is connected at another server does not count as left', async () => {
  const { a, b } = await openTwo()
  const id = await a.begin()
  await a.call(id, 'heartbeat', {})
  const [session] = await a.elsewhere.sessions.list({ limit: 1 })
  const leave = a.elsewhere.sessions.arrive(session?.id ?? '')
  await a.replica.board.publish()
  const heard = await b.replica.board.listen('present sessions')
  expect(heard).toEqual([{ replica: 'A', said: [session?.id] }])
  leave()
})
