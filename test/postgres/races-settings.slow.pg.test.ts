// Servers that differ: in their agent files, and in what their clocks say.

import { describe, expect, test } from 'vitest'
import { type Clock, createSystemClock } from '../../src/domain/clock.ts'
import { type LogLine, recordingLogger } from '../../src/domain/testing/recording-logger.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import type { ScriptedAnswer } from '../../src/models/scripted/script.ts'
import { serverTool } from '../../src/tools/testing/server-tool.ts'
import {
  type Body,
  BUSY_MS,
  clientTool,
  openReplicas,
  type Replica,
  readLog,
  readSession,
  settledRuns,
  until,
} from './open-replicas.ts'

const answers: ScriptedAnswer[] = [
  { when: { tool: 'act' }, parts: [{ text: 'Acted.' }] },
  { when: { tool: 'locate' }, parts: [{ text: 'Located.' }] },
  { when: 'act', parts: [{ tool_call: { name: 'act' } }] },
  { when: 'locate', parts: [{ tool_call: { name: 'locate' } }] },
  { when: 'hang', parts: [{ text: 'Half' }, { hang: true }] },
  { when: ' ', parts: [{ text: 'Whole.' }] },
]

const tools = () => [
  serverTool({
    name: 'act',
    description: 'Acts.',
    approval: { ask: 'always' },
    binding: 'act',
    call: async () => ({ content: 'done', isError: false }),
  }),
  clientTool('locate'),
]

async function approvalOf(replica: Replica, session: string): Promise<string> {
  const approval = await until(async () => {
    const { body } = await replica.get('/approvals', { as: 'ada' })
    return (body.approvals as Body[]).find((one) => one.session_id === session && one.status === 'pending')
  })
  return String(approval.approval_id)
}

describe('a server that does not have the agent', { timeout: BUSY_MS }, () => {
  test('leaves its runs alone, says so, and takes all that needs no agent', async () => {
    await using house = await openReplicas({ answers, tools })
    const a = await house.open('a')
    const lines: LogLine[] = []
    const c = await house.open('c', { agent: { name: 'other' }, log: recordingLogger(lines) })
    const [session, ended] = [crypto.randomUUID(), crypto.randomUUID()]
    const run = await a.say(session, 'hang here')
    await a.say(ended, 'hang here')
    const reader = readSession(c, session)
    await reader.until('Half')

    await a.close()
    await until(() => lines.some(({ message }) => message.includes('left to other servers')))
    expect((await c.get(`/runs/${run}`)).body.status).toBe('running')
    expect((await c.post(`/sessions/${session}/messages`, { message: 'hello there' })).body).toMatchObject({
      code: 'agent_not_found',
    })

    // To end a run, nobody needs its agent.
    expect((await c.remove(`/sessions/${ended}`)).status).toBe(204)

    const b = await house.open('b')
    await until(
      async () => (await c.get(`/runs/${run}`)).body.status === 'running' && b.engine.stats().activeRuns === 1,
    )
    expect((await c.post(`/runs/${run}/cancel`)).status).toBe(200)
    expect(await settledRuns(c, session, [reader])).toEqual(['cancelled'])
    await reader.leave()

    const asking = crypto.randomUUID()
    await b.say(asking, 'please act')
    const approval = await approvalOf(c, asking)
    expect((await c.post(`/approvals/${approval}`, { decision: 'approve' }, { as: 'ada' })).body).toMatchObject({
      code: 'tool_unavailable',
    })
    expect((await c.post(`/approvals/${approval}`, { decision: 'reject' }, { as: 'ada' })).status).toBe(200)
    expect(await settledRuns(c, asking)).toEqual(['completed', 'completed'])
  })
})

describe('servers whose clocks differ', { timeout: BUSY_MS }, () => {
  const shifted = (ms: number): Clock => {
    const clock = createSystemClock()
    return { ...clock, now: () => clock.now() + ms }
  }
  const expiring = { approval: { ...testAgent.approval, expiresSeconds: 300 } }

  test('agree on what has expired, and on the order of what happened', async () => {
    await using house = await openReplicas({ answers, tools, agent: expiring })
    const behind = await house.open('behind', { clock: shifted(-600_000) })
    const ahead = await house.open('ahead', { clock: shifted(600_000) })

    for (const [asks, decides] of [
      [behind, ahead],
      [ahead, behind],
    ] as const) {
      const session = crypto.randomUUID()
      await asks.say(session, 'please act')
      const reader = readSession(decides, session)
      const approval = await approvalOf(decides, session)
      const decided = await decides.post(`/approvals/${approval}`, { decision: 'approve' }, { as: 'ada' })
      expect([decided.status, decided.body.code]).toEqual([200, undefined])
      expect(await settledRuns(asks, session, [reader])).toEqual(['completed', 'completed'])
      await reader.leave()

      const began = Date.now()
      const located = crypto.randomUUID()
      await asks.say(located, 'hello there')
      await settledRuns(decides, located)
      const thread = await asks.raw('/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ thread_id: located, message: 'locate' }),
      })
      const call = await until(async () => (await decides.engine.waits.openClientCalls(located))[0])
      const result = { execution_id: call.id, result: 'here', execution_time_ms: 1 }
      expect((await decides.post('/tool_result', result)).body).toEqual({ status: 'received' })
      expect(await thread.text()).toContain('Located.')

      await decides.say(located, 'hello there')
      await settledRuns(asks, located)
      const times = (await readLog(asks, located)).flatMap(({ kind, data }) =>
        kind === 'event' ? [Number(JSON.parse(data).timestamp)] : [],
      )
      expect(times).toEqual(times.toSorted((one, other) => one - other))
      expect(times[0]).toBeGreaterThan(began - 60_000)
      expect(times.at(-1)).toBeLessThan(Date.now() + 60_000)
    }
  })
})
