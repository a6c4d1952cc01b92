import { describe, expect, test } from 'vitest'
import { outline, testTool } from '../../engine/testing/open-engine.ts'
import type { ModelRequest } from '../../models/model.ts'
import { eventsOf, refusalOf } from '../testing/open-doors.ts'
import { calls, finished, interruptsOf, openGatedDoors, says } from '../testing/open-gated-doors.ts'
import { type Frame, readSse } from '../testing/sse-reader.ts'

type Doors = Awaited<ReturnType<typeof openGatedDoors>>

const pick = { name: 'pick', description: 'Lets the user pick.', parameters: { type: 'object' } }
const user = (id: string) => ({ id, role: 'user', content: `text of ${id}` })
const input = (more: Record<string, unknown> = {}) => ({
  protocolVersion: '1.0',
  threadId: 'thread',
  runId: 'run-1',
  messages: [user('m1')],
  tools: [pick],
  ...more,
})
const result = (toolCallId: string, content = 'red') => ({ id: `of ${toolCallId}`, role: 'tool', toolCallId, content })

/** The calls that a run left to its client. */
function openCalls(frames: readonly Frame[]): string[] {
  const outcome = finished(frames)
  if (outcome?.type !== 'success') throw new Error(`this run has not ended as a success: ${JSON.stringify(outcome)}`)
  return outcome.pendingToolCallIds ?? []
}

async function openPage(answers: Parameters<typeof openGatedDoors>[0] = {}) {
  const requests: ModelRequest[] = []
  const doors = await openGatedDoors({
    answers: [calls(['look'], ['pick']), says('Red it is.')],
    onRequest: (request) => requests.push(request),
    ...answers,
  })
  return { ...doors, requests }
}

const told = (request: ModelRequest | undefined) => request?.messages.map(({ role, content }) => [role, content])

describe('a tool that the client brings', () => {
  test('ends the run as a success that names the open calls, after the server’s tools have run', async () => {
    await using doors = await openPage()
    const frames = await doors.run('/', input())
    const events = eventsOf(frames)
    const started = events.flatMap((event) => (event.type === 'TOOL_CALL_START' ? [event.toolCallId] : []))

    expect(outline(events).filter((line) => line.startsWith('TOOL_CALL_RESULT'))).toEqual([
      'TOOL_CALL_RESULT Nothing there.',
    ])
    expect(finished(frames)).toEqual({ type: 'success', pendingToolCallIds: [started[1]] })
    expect(await (await doors.get('/runs/run-1')).json()).toMatchObject({ status: 'waiting', finished_at: null })
  })

  test('is answered by a tool message of the next run; the question is not told to the model again', async () => {
    await using doors = await openPage()
    const [call = ''] = openCalls(await doors.run('/', input()))

    const frames = await doors.run('/', input({ runId: 'run-2', messages: [user('m1'), result(call)] }))

    expect(outline(eventsOf(frames)).at(-1)).toBe('RUN_FINISHED success')
    expect(eventsOf(frames)[0]).toMatchObject({ runId: 'run-2', parentRunId: 'run-1' })
    expect(told(doors.requests[1])).toEqual([
      ['user', 'text of m1'],
      ['assistant', ''],
      ['tool', 'Nothing there.'],
      ['tool', 'red'],
    ])
    expect(await (await doors.get('/runs/run-1')).json()).toMatchObject({ status: 'completed' })
  })

  test('may fail at the client, and the model hears how', async () => {
    await using doors = await openPage()
    const [call = ''] = openCalls(await doors.run('/', input()))
    const failed = { ...result(call, 'It failed.'), error: 'no palette' }

    await doors.run('/', input({ runId: 'run-2', messages: [failed] }))

    expect(doors.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'It failed.' })
  })

  test.each([
    ['empty content', { content: '' }],
    ['blank content', { content: ' \n' }],
    ['no parts', { content: [] }],
    ['null content', { content: null }],
    ['no content', { content: undefined }],
  ])('that failed is told with its error where it has %s', async (_, content) => {
    await using doors = await openPage()
    const [call = ''] = openCalls(await doors.run('/', input()))

    await doors.run('/', input({ runId: 'run-2', messages: [{ ...result(call), ...content, error: 'no palette' }] }))

    expect(doors.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'no palette', isError: true })
  })

  test('one of two that is answered leaves the other open', async () => {
    await using doors = await openPage({ answers: [calls(['pick'], ['pick']), says('Both.')] })
    const [one = '', two = ''] = openCalls(await doors.run('/', input()))

    const half = await doors.run('/', input({ runId: 'run-2', messages: [result(two)] }))
    expect(openCalls(half)).toEqual([one])
    expect(doors.requests).toHaveLength(1)

    const whole = await doors.run('/', input({ runId: 'run-3', messages: [result(one, 'blue')] }))
    expect(openCalls(whole)).toEqual([])
    // In the order of the calls, as providers want it.
    expect(told(doors.requests[1])?.slice(-2)).toEqual([
      ['tool', 'blue'],
      ['tool', 'red'],
    ])
  })

  test('is given up when the user sends a new message', async () => {
    await using doors = await openPage()
    const [call = ''] = openCalls(await doors.run('/', input()))

    const frames = await doors.run('/', input({ runId: 'run-2', messages: [user('m2')] }))
    expect(outline(eventsOf(frames)).at(-1)).toBe('RUN_FINISHED success')

    const late = await doors.run('/', input({ runId: 'run-3', messages: [result(call)] }))
    expect(outline(eventsOf(late))).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED success'])
  })

  describe('called while another message is in the queue', () => {
    /** `run-1` waits for its client, and `run-2` with m2 stands behind it. */
    async function openQueue() {
      const { promise: isQueued, resolve: go } = Promise.withResolvers<void>()
      const look = testTool({
        name: 'look',
        call: async () => {
          await isQueued
          return { content: 'Nothing there.', isError: false }
        },
      })
      const answers = [calls(['look'], ['pick']), says('One.'), says('Two.')]
      const doors = await openPage({ answers, tools: [look] })
      const first = readSse(await doors.post('/', input()))
      await first.until('RUN_STARTED')
      const second = readSse(await doors.post('/', input({ runId: 'run-2', messages: [user('m2')] })))
      go()
      const [call = ''] = openCalls(await first.rest())
      const lastTold = () => doors.requests.map((request) => told(request)?.at(-1))
      return { ...doors, call, queued: () => second.rest(), lastTold }
    }

    test('is answered first: the page may have done already what it was asked', async () => {
      await using doors = await openQueue()

      await doors.run('/', input({ runId: 'run-3', messages: [result(doors.call)] }))

      expect(outline(eventsOf(await doors.queued())).at(-1)).toBe('RUN_FINISHED success')
      expect(doors.lastTold().slice(1)).toEqual([
        ['tool', 'red'],
        ['user', 'text of m2'],
      ])
    })

    test.each([
      ['a newer message', (doors: Doors) => doors.run('/', input({ runId: 'run-3', messages: [user('m3')] }))],
      ['cancelling the run', (doors: Doors) => doors.post('/runs/run-1/cancel', undefined)],
    ])('is given up by %s, and the message has its turn', async (_what, giveUp) => {
      await using doors = await openQueue()

      await giveUp(doors)

      expect(outline(eventsOf(await doors.queued())).at(-1)).toBe('RUN_FINISHED success')
      expect(doors.lastTold().at(-1)).toEqual(['user', 'text of m2'])
    })
  })

  test('is named again to a client that comes back', async () => {
    await using doors = await openPage({ answers: [calls(['pick'], ['pick'])] })
    const open = openCalls(await doors.run('/', input()))

    const frames = await doors.run('/', input({ runId: 'look', messages: [] }))

    expect(openCalls(frames)).toEqual(open)
  })

  test('ends for a 0.x client without an outcome, whenever it looks: assistant-ui would take a success for the end', async () => {
    await using doors = await openPage()
    const { protocolVersion: _none, ...old } = input()
    const ends = (frames: readonly Frame[]) =>
      eventsOf(frames).flatMap((event) => (event.type === 'RUN_FINISHED' ? [event.outcome] : []))
    const kit = '/copilotkit/agent/default'

    const frames = await doors.run('/', old)
    expect(ends(frames)).toEqual([undefined])
    expect(ends(await doors.run('/', old))).toEqual([undefined])
    expect(ends(await doors.run('/', old, { 'Last-Event-ID': frames.at(-2)?.id ?? '' }))).toEqual([undefined])
    expect(ends(await doors.run('/', { ...old, runId: 'look', messages: [] }))).toEqual([undefined])
    expect(ends(await doors.run(`${kit}/run`, old))).toEqual([undefined])
    expect(ends(await doors.run(`${kit}/connect`, { ...old, messages: [] }))).toEqual([undefined])
    const call = frames.flatMap(({ data }) => /"toolCallId":"([^"]+)","toolCallName":"pick"/.exec(data)?.[1] ?? [])[0]
    const answered = { ...old, runId: 'run-2', messages: [user('m1'), result(call ?? '')] }
    expect(ends(await doors.run('/', answered))).toEqual([{ type: 'success' }])
  })

  test('has the arguments checked before the client sees an open call', async () => {
    const parameters = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    await using doors = await openPage({ answers: [calls(['pick']), says('Sorry.')] })

    const frames = await doors.run('/', input({ tools: [{ ...pick, parameters }] }))

    expect(openCalls(frames)).toEqual([])
    expect(outline(eventsOf(frames)).find((line) => line.startsWith('TOOL_CALL_RESULT'))).toContain('do not fit')
  })

  test('does not replace one of the agent', async () => {
    await using doors = await openPage({ answers: [calls(['look']), says('Nothing.')] })

    const frames = await doors.run('/', input({ tools: [{ ...pick, name: 'look' }] }))

    expect(openCalls(frames)).toEqual([])
    expect(outline(eventsOf(frames))).toContain('TOOL_CALL_RESULT Nothing there.')
  })
})

describe('a client’s call and a person’s approval in one step', () => {
  const both = { answers: [calls(['pick'], ['note', 'bob']), says('Done.')] }

  async function ask(doors: Doors): Promise<{ interrupt: string; call: string }> {
    const frames = await doors.run('/', input())
    const [{ id } = { id: '' }] = interruptsOf(frames)
    const session = await doors.engine.sessions.get('local_user', 'thread')
    const [call] = await doors.engine.waits.openClientCalls(session.id)
    return { interrupt: id, call: call?.callId ?? '' }
  }
  const approve = (interruptId: string) => [{ interruptId, status: 'resolved', payload: { approved: true } }]

  test('are answered together', async () => {
    await using doors = await openPage(both)
    const { interrupt, call } = await ask(doors)

    const frames = await doors.run('/', input({ runId: 'run-2', messages: [result(call)], resume: approve(interrupt) }))

    expect(openCalls(frames)).toEqual([])
    expect(told(doors.requests[1])?.slice(2)).toEqual([
      ['tool', 'red'],
      ['tool', 'note: bob'],
    ])
  })

  test('are answered one after the other, in either order', async () => {
    await using doors = await openPage(both)
    const { interrupt, call } = await ask(doors)
    const asksAgain = await doors.run('/', input({ runId: 'run-2', messages: [result(call)] }))
    expect(interruptsOf(asksAgain).map(({ id }) => id)).toEqual([interrupt])
    const done = await doors.run('/', input({ runId: 'run-3', messages: [], resume: approve(interrupt) }))
    expect(openCalls(done)).toEqual([])
    expect(doors.delivered).toEqual([['note', 'bob']])

    await using others = await openPage(both)
    const asked = await ask(others)
    const left = await others.run('/', input({ runId: 'run-2', messages: [], resume: approve(asked.interrupt) }))
    expect(openCalls(left)).toEqual([asked.call])
    const rest = await others.run('/', input({ runId: 'run-3', messages: [result(asked.call)] }))
    expect(openCalls(rest)).toEqual([])
    expect(others.delivered).toEqual([['note', 'bob']])
  })

  test('a new word that comes with the client’s result does not pass over the person', async () => {
    await using doors = await openPage(both)
    const { interrupt, call } = await ask(doors)

    const response = await doors.post('/', input({ runId: 'run-2', messages: [result(call), user('m2')] }))

    expect(await refusalOf(response)).toEqual({ status: 409, code: 'approval_pending' })
    const [approval] = await doors.approvals.list({
      by: { user: 'local_user', role: 'user' },
      status: 'pending',
      limit: 1,
    })
    expect(approval?.id).toBe(interrupt)
  })
})
