// A host behind the bridge, or connected without it, while the real server is restarted on the same data.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, InMemoryTransport, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createSystemClock } from '../../../domain/clock.ts'
import { agentToken } from '../../../http/testing/server-fixture.ts'
import { createAgentTools } from '../../../protocols/mcp/agent-tools.ts'
import { openMcpDoor } from '../../../protocols/mcp/testing/open-mcp-door.ts'
import type { McpTool } from '../../../protocols/mcp/tool-table.ts'
import { openSupervisedDoors } from '../../../protocols/testing/open-supervised-doors.ts'
import { fetchForBridge, RECONNECTION, runBridge } from './bridge.ts'

const ada = { user: 'ada', role: 'operator' } as const
const clock = createSystemClock()
const later = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms))

type Era = 'legacy' | 'modern'
type Way = 'through the bridge' | 'over HTTP'

/** A server that can be stopped, killed and started again on the same data, and one address for all of them. */
function openYard() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-bridge-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const workspace = join(folder, 'shop')
  mkdirSync(workspace)
  const done: string[] = []
  /** Has its effect at once. */
  const act: McpTool = {
    name: 'act',
    title: 'Act',
    description: 'Does something that must be done once.',
    input: z.object({ what: z.string() }),
    async call({ what }) {
      done.push(String(what))
      return { structured: { done: what }, isError: false }
    },
  }
  /** Never answers. */
  const linger: McpTool = {
    ...act,
    name: 'linger',
    call: (_input, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ structured: {}, isError: true }))
      }),
  }
  const where = { url: '' }
  return {
    where,
    /** What was done, by all servers. */
    done,
    async start() {
      const doors = await openSupervisedDoors({ path: join(folder, 'data.db') })
      onTestFinished(() => doors[Symbol.asyncDispose]())
      const { service, mcpConnections } = doors.elsewhere
      const mcp = await openMcpDoor({
        door: { clock, tools: [...createAgentTools(service), act, linger], connections: mcpConnections },
        server: { auth: { tokens: () => [{ ...agentToken, workspace }] } },
      })
      where.url = mcp.url
      return {
        ...mcp,
        prompts: async () => await doors.store.waits.list({ limit: 100 }),
        decide: (id: string) => doors.elsewhere.prompts.decide(ada, id, { decision: 'continue' }),
        async end(how: 'stop' | 'kill') {
          if (how === 'stop') await mcp.door.close()
          // As the program does it: what the door has answered gets a moment to leave.
          await mcp.server.server.close({ drainMs: how === 'stop' ? 2_500 : 0 })
        },
      }
    },
  }
}

async function connect(era: Era, way: Way, where: { url: string }) {
  const said: string[] = []
  const reach = fetchForBridge(clock)
  const http = () =>
    new StreamableHTTPClientTransport(new URL(where.url), {
      requestInit: { headers: { Authorization: `Bearer ${agentToken.token}` } },
      reconnectionOptions: RECONNECTION,
      fetch: (_url, init) => reach(`${where.url}?bridge_id=bridge-1234`, init),
    })
  const client = new Client(
    { name: 'host', version: '1' },
    { capabilities: {}, versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } },
  )
  let transport: Transport = http()
  if (way === 'through the bridge') {
    const [hostEnd, bridgeEnd] = InMemoryTransport.createLinkedPair()
    void runBridge({ host: bridgeEnd, connect: http, clock, say: (text) => said.push(text) })
    transport = hostEnd
  }
  await client.connect(transport)
  onTestFinished(() => client.close())
  /** What became of a call. It never rejects. */
  const call = async (name: string, args: Record<string, unknown>) => {
    const began = clock.mono()
    const result = await client
      .callTool({ name, arguments: args }, { timeout: 3_600_000 })
      .catch((error) => ({ error }))
    return { result, tookMs: clock.mono() - began }
  }
  return { client, call, said }
}

type Call = Awaited<ReturnType<typeof connect>>['call']
/** As many as a session may have side by side. */
const PROMPTS = 16
const askAll = (call: Call) =>
  Array.from({ length: PROMPTS }, (_, i) => call('forward_prompt', { prompt_text: `Go on with ${i}?` }))

const isAnswered = ({ result }: { result: object }) => !('error' in result) && !('isError' in result && result.isError)

test('a call between the return of the server and the new connection is answered', async () => {
  const yard = openYard()
  const one = await yard.start()
  const { call, said } = await connect('legacy', 'through the bridge', yard.where)
  expect(isAnswered(await call('heartbeat', {}))).toBe(true)
  await one.end('kill')
  // A call on a socket that breaks fails at once, and the next server would know its session. One that found nobody has waited: the
  // bridge has given up the old connection, and tries new ones.
  await expect.poll(async () => (await call('heartbeat', {})).tookMs).toBeGreaterThan(1_000)

  const two = await yard.start()
  const asked = askAll(call)
  await expect.poll(() => said).toContain('Connected to the server again.')
  await expect.poll(async () => (await two.prompts()).length).toBe(PROMPTS)
  for (const { id } of await two.prompts()) await two.decide(id)

  const answers = await Promise.all(asked)
  expect(answers.filter((one) => !isAnswered(one))).toEqual([])
})

describe.each<Way>(['through the bridge', 'over HTTP'])('%s', (way) => {
  describe.each<Era>(['legacy', 'modern'])('a %s host', (era) => {
    test.each(['stop', 'kill'] as const)('has no call left open, and nothing done twice, after: %s', async (how) => {
      const yard = openYard()
      let server = await yard.start()
      const { call } = await connect(era, way, yard.where)
      await call('heartbeat', {})
      const waiting = [...askAll(call), ...Array.from({ length: 4 }, () => call('linger', { what: '' }))]
      await expect.poll(async () => (await server.prompts()).length).toBe(PROMPTS)

      const acts: ReturnType<Call>[] = []
      let isOver = false
      const acting = (async () => {
        for (let i = 0; !isOver; i++) {
          acts.push(call('act', { what: `deed ${i}` }))
          await later(100)
        }
      })()
      // Twice, because the second restart meets what the first one has left.
      for (let restarts = 0; restarts < 2; restarts++) {
        await later(500)
        await server.end(how)
        await later(1_000)
        server = await yard.start()
      }
      await later(1_500)
      isOver = true
      await acting

      // A client of the SDK that has lost the stream of a killed server does not notice: its own time limit ends the call.
      const isTold = way === 'through the bridge' || how === 'stop'
      const answers = await Promise.all([...acts, ...(isTold ? waiting : [])])
      expect(yard.done).toEqual([...new Set(yard.done)])
      expect(answers.filter(isAnswered).length).toBeGreaterThan(10)
      // 5 s are promised. A busy machine may need more, but not for ever.
      expect(Math.max(...answers.map(({ tookMs }) => tookMs))).toBeLessThan(60_000)

      const again = askAll(call)
      for (const { id } of await server.prompts()) await server.decide(id)
      expect((await Promise.all(again)).filter((one) => !isAnswered(one))).toEqual([])
      // The same questions, not new ones.
      expect(await server.prompts()).toHaveLength(PROMPTS)
    })
  })
})
