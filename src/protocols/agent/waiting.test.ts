import { describe, expect, test } from 'vitest'
import { parseUuid } from '../../domain/ids.ts'
import type { TestEngineOptions } from '../../engine/testing/open-engine.ts'
import { until } from '../../http/testing/server-fixture.ts'
import type { ModelRequest } from '../../models/model.ts'
import { askingWork, operator, risky, riskyWork } from '../shared/answer/testing/asking-gate.ts'
import { openRoutes } from '../shared/answer/testing/open-routes.ts'
import { refusalOf } from '../testing/open-doors.ts'
import { namedEvents, takeEvents } from '../testing/sse-reader.ts'
import { createAgentRoutes } from './routes.ts'
import { ChatResponseSchema, streamEventSchemas } from './schema.ts'

const open = (options: TestEngineOptions = riskyWork) => openRoutes(createAgentRoutes, options)
const chat = '/agent/tester/chat'

async function pendingOf({ approvals }: Awaited<ReturnType<typeof open>>) {
  const [approval] = await approvals.list({ by: operator, status: 'pending', limit: 1 })
  if (approval === undefined) throw new Error('nobody is asked')
  return approval
}

describe('an agent that has to ask a person', () => {
  test('is answered with what it waits for', async () => {
    await using doors = await open()

    const response = await doors.post(chat, { message: 'Send it.' })

    const { id, runId } = await pendingOf(doors)
    expect([response.status, await response.json()]).toEqual([
      202,
      { status: 'waiting', run_id: runId, approval_ids: [id] },
    ])
  })

  test('ends its stream with what it waits for', async () => {
    await using doors = await open()

    const events = await takeEvents(namedEvents(await doors.post(`${chat}/stream`, { message: 'Send it.' })))

    const { id, runId } = await pendingOf(doors)
    expect(events.map(({ event }) => event)).toEqual([
      'stream_start',
      'message_delta',
      'tool_call_start',
      'tool_call_args',
      'stream_end',
    ])
    expect(streamEventSchemas.stream_end.parse(events.at(-1)?.data)).toMatchObject({
      status: 'waiting',
      run_id: runId,
      approval_ids: [id],
    })
  })

  test('names the question of a tool, and goes on with its answer', async () => {
    await using doors = await open(askingWork)

    const response = await doors.post(chat, { message: 'A shirt.' })

    const { id, runId, kind, sessionId: session_id } = await pendingOf(doors)
    expect([kind, response.status, await response.json()]).toEqual([
      'question',
      202,
      { status: 'waiting', run_id: runId, approval_ids: [id] },
    ])
    const busy = await refusalOf(await doors.post(chat, { message: 'Well?', session_id }))
    expect(busy).toEqual({ status: 409, code: 'approval_pending' })
    await doors.approvals.decide(operator, id, { decision: 'respond', result: 'L' })
    await until(() => doors.engine.stats().activeRuns === 0)
    const answer = await doors.post(chat, { message: 'Well?', session_id })
    expect(ChatResponseSchema.parse(await answer.json())).toMatchObject({ content: 'Well.' })
    const messages = await doors.engine.messages.page(session_id, 10)
    expect(messages.slice(2, 4).map(({ role, content }) => [role, content])).toEqual([
      ['tool', '{"type":"answered","value":"L"}'],
      ['assistant', 'Done.'],
    ])
  })

  test.each([chat, `${chat}/stream`])('takes no new message meanwhile, and takes one afterwards: %s', async (path) => {
    await using doors = await open()
    await doors.post(chat, { message: 'Send it.' })
    const { id, sessionId: session_id } = await pendingOf(doors)

    const refused = await refusalOf(await doors.post(path, { message: 'Well?', session_id }))
    expect(refused).toEqual({ status: 409, code: 'approval_pending' })
    await doors.approvals.decide(operator, id, { decision: 'approve' })
    await until(() => doors.engine.stats().activeRuns === 0)

    const answer = await doors.post(chat, { message: 'Well?', session_id })
    expect(ChatResponseSchema.parse(await answer.json())).toMatchObject({ content: 'Well.' })
    const messages = await doors.engine.messages.page(session_id, 10)
    expect(messages.slice(0, 4).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Send it.'],
      ['assistant', 'May I?'],
      ['tool', 'Sent.'],
      ['assistant', 'Done.'],
    ])
  })

  test('is offered no tools that run at the client', async () => {
    const requests: ModelRequest[] = []
    const { call: _call, ...rules } = risky
    await using doors = await open({
      tools: [risky, { ...rules, location: 'client', name: 'pick' }],
      onRequest: (request) => requests.push(request),
    })

    const answer = ChatResponseSchema.parse(await (await doors.post(chat, { message: 'Hi' })).json())

    expect(parseUuid(answer.session_id)).not.toBeNull()
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['send'])
  })
})
