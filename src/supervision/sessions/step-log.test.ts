import { expect, test } from 'vitest'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import { createRecords } from '../records/records.ts'
import { createSignInAlerts } from '../sign-ins/sign-in-alerts.ts'
import { createStalls } from '../stalls/create-stalls.ts'
import { agentIn, ann, callOf, openSupervision } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'

function openLogged() {
  const lines: LogLine[] = []
  const folder = makeWorkspace({ 'a.txt': 'one\n' })
  return { ...openSupervision({ logger: recordingLogger(lines) }), lines, folder, agent: agentIn(folder) }
}

const shown = (lines: readonly LogLine[]) => lines.map(({ level, message, fields }) => [level, message, fields])
const some = { string: expect.any(String), number: expect.any(Number) }

test('a session, a call, its question and its decision are one line each, without what anybody said', async () => {
  const service = openLogged()
  const input = { command: 'deploy --password hunter2' }
  const call = { tool_name: 'Bash', input, tool_use_id: 'toolu_1' }
  const answer = service.tools.approve_tool(callOf(service.agent), call)
  const { id } = await service.nextWaiting()
  await service.approvals.decide(ann, id, { decision: 'reject', reason: 'Not with that password.' })
  await answer
  const [session] = await service.sessions.list({ limit: 1 })
  await service.sessions.pause(ann, session?.id ?? '')
  await service.answerCall(callOf(service.agent), 'heartbeat', {}, async () => ({ acknowledged: true }))
  await service.sessions.interrupt(session?.id ?? '', 'It has gone.')

  const who = { session_id: session?.id, agent: 'claude-code', folder: service.folder }
  expect(shown(service.lines)).toEqual([
    ['info', 'agent session', { ...who, outcome: 'opened', by: 'ann' }],
    [
      'info',
      'waiting for a person',
      { ...who, tool: 'Bash', call_id: 'toolu_1', approval_id: id, kind: 'permission', risk: 'high' },
    ],
    [
      'info',
      'decision',
      { ...who, tool: 'Bash', outcome: 'rejected', by: 'ann', channel: 'ctl', approval_id: id, kind: 'permission' },
    ],
    [
      'info',
      'tool call',
      {
        ...who,
        tool: 'approve_tool',
        host_tool: 'Bash',
        call_id: some.string,
        outcome: 'deny',
        latency_ms: some.number,
      },
    ],
    ['info', 'agent session', { ...who, outcome: 'paused', by: 'ann', channel: 'ctl' }],
    [
      'info',
      'tool call',
      {
        ...who,
        tool: 'heartbeat',
        call_id: some.string,
        outcome: 'failed',
        code: 'session_paused',
        latency_ms: some.number,
      },
    ],
    ['info', 'agent session', { ...who, outcome: 'interrupted', by: 'server' }],
  ])
  expect(JSON.stringify(service.lines)).not.toMatch(/hunter2|password|gone/)
})

test('alerts and nudges are one line each', async () => {
  const service = openLogged()
  const records = createRecords({ waits: service.store.waits, log: service.log })
  const settings = {
    enabled: true,
    inactivityMs: 300_000,
    escalationMs: 120_000,
    maxRetries: 3,
    nudgeMessage: 'Go on.',
  }
  const stalls = createStalls({ ...service.parts, records, settings, push: async () => 'stream' })
  const beat = () => service.answerCall(callOf(service.agent), 'heartbeat', {}, async () => ({ acknowledged: true }))
  await beat()
  service.lines.length = 0
  await service.clock.advance(300_000)
  await stalls.sweep()
  await service.clock.advance(120_000)
  await stalls.sweep()
  await beat()

  const [alert] = await records.list('alert', { by: ann, limit: 1 })
  const who = { session_id: alert?.sessionId, agent: 'claude-code', folder: service.folder }
  const silence = { alert_id: alert?.id, last_tool: 'heartbeat', idle_seconds: 300 }
  expect(shown(service.lines)).toEqual([
    ['warn', 'stall alert', { ...who, ...silence, outcome: 'pending', nudge_count: 0 }],
    ['warn', 'stall alert', { ...who, ...silence, outcome: 'nudged', nudge_count: 1 }],
    ['info', 'nudge', { ...who, outcome: 'stream', by: 'quarterdeck', nudge_count: 1 }],
    ['warn', 'stall alert', { ...who, ...silence, outcome: 'self_recovered', nudge_count: 1 }],
    ['info', 'tool call', expect.objectContaining({ ...who, tool: 'heartbeat', outcome: 'completed' })],
  ])
})

test('the alert that an MCP server needs a sign-in does not say that an agent is silent', async () => {
  const service = openLogged()
  await service.answerCall(callOf(service.agent), 'heartbeat', {}, async () => ({ acknowledged: true }))
  const [session] = await service.sessions.list({ limit: 1 })
  if (session === undefined) throw new Error('there is a session')
  const alerts = createSignInAlerts({ ...service.parts, sessionOf: async () => session })
  const crm = { name: 'crm', url: 'https://crm.example.com/mcp' }
  service.lines.length = 0
  await alerts.needed(crm, null, 'It needs a sign-in.')
  await alerts.done(crm, null)

  const who = { session_id: session.id, agent: 'claude-code', folder: service.folder }
  expect(shown(service.lines)).toEqual([
    ['warn', 'sign-in alert', { ...who, alert_id: some.string, outcome: 'pending', mcp_server: 'crm' }],
    ['warn', 'sign-in alert', { ...who, alert_id: some.string, outcome: 'self_recovered', mcp_server: 'crm' }],
  ])
})
