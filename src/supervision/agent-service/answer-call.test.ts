import { expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { agentIn, ann, callOf, openSupervision } from '../testing/open-supervision.ts'
import type { AgentAnswer, AgentCall } from './agent-service.ts'

test('a call belongs to a session of its own, is activity and stands in the log', async () => {
  const service = openSupervision()
  const agent = agentIn('/srv/shop')

  const first = await service.answerCall(callOf(agent), 'heartbeat', { note: 1 }, async () => ({ acknowledged: true }))
  const second = await service.answerCall(callOf(agent), 'remote_log', {}, async () => ({ posted: false }))

  const [session] = await service.sessions.list({ limit: 10 })
  expect(first).toEqual({ isError: false, answer: { acknowledged: true, session_id: session?.id } })
  expect(second.answer.session_id).toBe(session?.id)
  expect(session?.supervision).toMatchObject({ status: 'active', host: 'claude-code', lastTool: 'remote_log' })
  const types = (await service.events(session?.id ?? '')).map(({ type }) => type)
  const call = ['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT']
  expect(types).toEqual(['RUN_STARTED', ...call, ...call])
})

test('two windows of a host are two sessions', async () => {
  const service = openSupervision()
  const work = async () => ({})

  const one = await service.answerCall(callOf(agentIn('/work')), 'heartbeat', {}, work)
  const two = await service.answerCall(callOf(agentIn('/work', { connectionId: 'window-2' })), 'heartbeat', {}, work)

  expect(one.answer.session_id).not.toBe(two.answer.session_id)
})

test('calls of a new window that come at the same time open one session', async () => {
  const service = openSupervision()
  const beat = () => service.answerCall(callOf(agentIn('/work')), 'heartbeat', {}, async () => ({}))

  const all = await Promise.all(Array.from({ length: 8 }, beat))

  expect(new Set(all.map(({ answer }) => answer.session_id)).size).toBe(1)
})

test('steering rides on every result until the next call proves that the agent has it', async () => {
  const service = openSupervision()
  const agent = agentIn('/work')
  const beat = () => service.answerCall(callOf(agent), 'heartbeat', {}, async () => ({}))
  const { answer } = await beat()
  await service.sessions.steer(ann, String(answer.session_id), 'Use pnpm.')

  const [second, third] = [await beat(), await beat()]

  expect(second.answer.pending_steering).toMatchObject([{ text: 'Use pnpm.', source: 'ann via ctl' }])
  expect(third.answer).not.toHaveProperty('pending_steering')
})

test('a call of the host does not prove that the agent has the steering', async () => {
  const service = openSupervision()
  const agent = agentIn('/work')
  const beat = (reader: 'model' | 'host' = 'model') =>
    service.answerCall(callOf(agent), 'heartbeat', {}, async () => ({}), reader)
  const { answer } = await beat()
  const { id } = await service.sessions.steer(ann, String(answer.session_id), 'Use pnpm.')
  const waiting = async () =>
    (await service.store.supervised.instructions({ kind: 'steering', isWaiting: true, limit: 9 })).map((one) => one.id)

  expect((await beat()).answer.pending_steering).toMatchObject([{ id }])
  expect((await beat('host')).answer).not.toHaveProperty('pending_steering')
  expect(await waiting()).toEqual([id])
  await beat()
  expect(await waiting()).toEqual([])
})

test('a paused session refuses calls in words that a model understands', async () => {
  const service = openSupervision()
  const agent = agentIn('/work')
  const beat = () => service.answerCall(callOf(agent), 'heartbeat', {}, async () => ({ acknowledged: true }))
  const { answer } = await beat()
  await service.sessions.pause(ann, String(answer.session_id))

  expect(await beat()).toMatchObject({ isError: true, answer: { status: 'error', error_code: 'session_paused' } })
  await service.sessions.resume(ann, String(answer.session_id))
  expect(await beat()).toMatchObject({ isError: false, answer: { acknowledged: true } })
})

test('what goes wrong is an answer, and a bug says nothing about itself', async () => {
  const service = openSupervision()
  const fail = (error: Error) =>
    service.answerCall(callOf(agentIn('/work')), 'heartbeat', {}, async () => {
      throw error
    })

  const refused = await fail(new ServerError('invalid_request', 'Send a title.', { details: { field: 'title' } }))
  const bug = await fail(new Error('secret'))

  expect(refused).toMatchObject({
    isError: true,
    answer: { status: 'error', error_code: 'invalid_input', error_message: 'Send a title.', field: 'title' },
  })
  expect(bug).toMatchObject({ isError: true, answer: { status: 'error', error_code: 'internal_error' } })
  expect(JSON.stringify(bug)).not.toContain('secret')
})

test('steering that rode on an answer which nobody read comes again', async () => {
  const service = openSupervision()
  const agent = agentIn('/work')
  const beat = (values = {}) => service.answerCall(callOf(agent, values), 'heartbeat', {}, async () => ({}))
  const { answer } = await beat()
  await service.sessions.steer(ann, String(answer.session_id), 'Use pnpm.')
  await beat({ signal: AbortSignal.abort() })

  expect((await beat()).answer.pending_steering).toMatchObject([{ text: 'Use pnpm.' }])
  expect((await beat()).answer).not.toHaveProperty('pending_steering')
})

test('an agent that asks again and again while it is paused stays paused', async () => {
  const service = openSupervision()
  const beat = () => service.answerCall(callOf(agentIn('/work')), 'heartbeat', {}, async () => ({}))
  const id = String((await beat()).answer.session_id)
  await service.sessions.pause(ann, id)
  for (let i = 0; i < 4; i += 1) {
    await service.clock.advance(1_200_000)
    await beat()
    await service.sessions.sweep()
  }

  expect((await service.sessions.get(id)).supervision.status).toBe('paused')
})

test('what a client can come back for is written in the commits of the call, and no others', async () => {
  const service = openSupervision()
  const connection = { id: service.ids.uuid(), tokenId: 'token-agent', initialize: { protocolVersion: '2025-11-25' } }
  const messageOf = ({ answer }: AgentAnswer) => ({ stream: 's1', message: { id: 1, result: answer } })
  const beat = async (values: Partial<AgentCall> = {}) => {
    const { answer } = await service.answerCall(callOf(agentIn('/work'), values), 'heartbeat', {}, async () => ({}))
    return String(answer.session_id)
  }
  const id = await beat()
  const before = (await service.sessions.get(id)).supervision

  await beat({ resumable: { connection, messageOf } })

  const { version, mcp } = (await service.sessions.get(id)).supervision
  expect([version - before.version, mcp]).toEqual([2, [connection]])
  expect((await service.events(id)).slice(-2)).toMatchObject([
    { type: 'TOOL_CALL_RESULT' },
    { fact: 'mcp_answered', connection: connection.id, ...messageOf({ isError: false, answer: { session_id: id } }) },
  ])

  // The connection of a call that is refused is known too, so that the agent can ask again after a restart.
  const later = { ...connection, id: service.ids.uuid() }
  await service.sessions.pause(ann, id)
  await beat({ resumable: { connection: later, messageOf: () => null } })
  expect((await service.sessions.get(id)).supervision.mcp).toEqual([connection, later])
  expect(await service.store.supervised.sessions({ mcpConnection: later.id, limit: 10 })).toMatchObject([{ id }])
})
