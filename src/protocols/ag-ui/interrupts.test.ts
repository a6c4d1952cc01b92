import { EventSchema } from '@ag-ui/core/schemas'
import { describe, expect, test } from 'vitest'
import { sameForEveryRisk } from '../../domain/supervision/quorum.ts'
import { outline, type TestEngineOptions, testAgent, testTool } from '../../engine/testing/open-engine.ts'
import type { ModelRequest } from '../../models/model.ts'
import { asAda, asOperator, eventsOf, openDoors, refusalOf } from '../testing/open-doors.ts'
import { calls, finished, interruptsOf, openGatedDoors, says } from '../testing/open-gated-doors.ts'
import { readSse } from '../testing/sse-reader.ts'

type Doors = Awaited<ReturnType<typeof openGatedDoors>>

const user = (id: string) => ({ id, role: 'user', content: `text of ${id}` })
const input = (more: Record<string, unknown> = {}) => ({
  protocolVersion: '1.0',
  threadId: 'thread',
  runId: 'run-1',
  messages: [user('m1')],
  ...more,
})
const yes = (interruptId: string, more: Record<string, unknown> = {}) => ({
  interruptId,
  status: 'resolved',
  payload: { approved: true, ...more },
})
const no = (interruptId: string, reason: string) => ({
  interruptId,
  status: 'resolved',
  payload: { approved: false, reason },
})
const answer = (runId: string, ...resume: unknown[]) => input({ runId, messages: [], resume })

const pending = (doors: Doors) =>
  doors.approvals.list({ by: { user: '', role: 'operator' }, status: 'pending', limit: 100 })

/** Asks for something that must be allowed; gives the ids of the interrupts. */
async function ask(doors: Doors, headers: Record<string, string> = {}): Promise<string[]> {
  return interruptsOf(await doors.run('/', input(), headers)).map(({ id }) => id)
}

const sending = { answers: [calls(['send', 'bob']), says('Done.')] }
const firing = { answers: [calls(['fire', 'bob']), says('Done.')] }
const noting = { answers: [calls(['note', 'bob']), says('Done.')] }
const goesOn = (result: string) => [
  'RUN_STARTED',
  `TOOL_CALL_RESULT ${result}`,
  'STEP_STARTED step_1',
  'TEXT_MESSAGE_START',
  'TEXT_MESSAGE_CONTENT Done.',
  'TEXT_MESSAGE_END',
  'STEP_FINISHED step_1',
  'RUN_FINISHED success',
]

describe('a call that a person must allow', () => {
  test('ends the run with an interrupt that AG-UI can read and a person can judge', async () => {
    await using doors = await openGatedDoors(sending)
    const frames = await doors.run('/', input())
    const [approval] = await pending(doors)
    const last = eventsOf(frames).at(-1)

    expect(finished(frames)).toEqual({
      type: 'interrupt',
      interrupts: [
        {
          id: approval?.id,
          reason: 'tool_call',
          message: expect.stringContaining('Call send'),
          toolCallId: approval?.callId,
          responseSchema: expect.objectContaining({ type: 'object', required: ['approved'] }),
          expiresAt: new Date(approval?.expiresAt ?? 0).toISOString(),
          metadata: {
            quarterdeck: {
              tool: 'send',
              arguments: { to: 'bob' },
              risk: 'high',
              answerableBy: 'owner',
              digest: approval?.digest,
            },
          },
        },
      ],
    })
    expect(EventSchema.parse(last)).toEqual(last)
    expect(doors.delivered).toEqual([])
  })

  test('runs when `resume` says yes, in a run of its own that repeats no call', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)

    const frames = await doors.run('/', answer('run-2', yes(id)))

    expect(outline(eventsOf(frames))).toEqual(goesOn('note: bob'))
    expect(eventsOf(frames)[0]).toMatchObject({ runId: 'run-2', parentRunId: 'run-1', threadId: 'thread' })
    expect(doors.delivered).toEqual([['note', 'bob']])
    const run = await (await doors.get('/runs/run-1')).json()
    expect(run).toMatchObject({ status: 'completed', error: null })
  })

  test('that needs two yeses shows the thread and the same interrupt again after the first', async () => {
    const approval = { ...testAgent.approval, quorum: sameForEveryRisk(2) }
    await using doors = await openGatedDoors({ ...noting, agent: { approval } })
    const [id = ''] = await ask(doors, asOperator)

    const frames = await doors.run('/', answer('run-2', yes(id)), asOperator)

    expect(eventsOf(frames).map(({ type }) => type)).toEqual([
      'RUN_STARTED',
      'MESSAGES_SNAPSHOT',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
      'RUN_FINISHED',
    ])
    expect(eventsOf(frames)[0]).toMatchObject({ runId: 'run-2', threadId: 'thread' })
    expect(finished(frames)).toMatchObject({
      type: 'interrupt',
      interrupts: [{ id, metadata: { quarterdeck: { quorum: 2, decisions: [{ channel: 'http' }] } } }],
    })
    expect(EventSchema.parse(eventsOf(frames).at(-1))).toEqual(eventsOf(frames).at(-1))
    const again = await doors.post('/', answer('run-3', yes(id)), asOperator)
    expect(await refusalOf(again)).toEqual({ status: 409, code: 'conflict' })
    expect(doors.delivered).toEqual([])

    await doors.approvals.decide({ user: 'ben', role: 'operator' }, id, { decision: 'approve' })
    // The same runId again, and a late answer: both attach to the run that went on.
    expect(outline(eventsOf(await doors.run('/', answer('run-2', yes(id)), asOperator)))).toEqual(goesOn('note: bob'))
    expect(doors.delivered).toEqual([['note', 'bob']])
  })

  test('is told to the model as refused when `resume` says no', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)

    const [, result] = outline(eventsOf(await doors.run('/', answer('run-2', no(id, 'Bob has left.')))))

    expect(result).toContain('A person refused this call, so it was not run. Reason: Bob has left.')
    expect(doors.delivered).toEqual([])
  })

  test('is refused when its interrupt is cancelled', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)

    const frames = await doors.run('/', answer('run-2', { interruptId: id, status: 'cancelled' }))

    expect(outline(eventsOf(frames)).at(-1)).toBe('RUN_FINISHED success')
    expect(doors.delivered).toEqual([])
  })

  test('runs with edited arguments; those that the tool does not take are refused with their place', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)

    const wrong = await doors.post('/', answer('run-2', yes('unknown'), yes(id, { editedArgs: { to: 7 } })))
    expect(await wrong.json()).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ pointer: '/resume/1/payload/editedArgs' }],
    })
    const frames = await doors.run('/', answer('run-2', yes(id, { editedArgs: { to: 'eve' } })))

    expect(outline(eventsOf(frames))[1]).toContain('note: eve')
    expect(doors.delivered).toEqual([['note', 'eve']])
  })

  test('runs for the digest that was shown; for another `resume` is refused before the stream', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)
    const [approval] = await pending(doors)
    const stale = [yes(id, { digest: 'other' }), { interruptId: id, status: 'cancelled', payload: { digest: 'other' } }]

    for (const one of stale) {
      const refused = await doors.post('/', answer('run-2', one))
      expect(await refused.json()).toMatchObject({ status: 409, code: 'approval_changed', approval_id: id })
    }
    const frames = await doors.run('/', answer('run-2', yes(id, { digest: approval?.digest })))

    expect(outline(eventsOf(frames))).toEqual(goesOn('note: bob'))
  })

  test('is answered with the history that a client always sends, which is not taken again', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)
    const { id: sessionId } = await doors.engine.sessions.get('local_user', 'thread')
    const history = (await doors.engine.messages.page(sessionId, 10)).map(({ id, role, content, toolCalls }) => ({
      id,
      role,
      content,
      ...(toolCalls === undefined ? {} : { toolCalls }),
    }))

    await doors.run('/', input({ runId: 'run-2', messages: history, resume: [yes(id)] }))

    const stored = await doors.engine.messages.page(sessionId, 10)
    expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })
})

describe('who may decide', () => {
  test('an answer without standing is 403 before any stream and leaves it pending', async () => {
    await using doors = await openGatedDoors(firing)
    const [id = ''] = await ask(doors)

    const refused = await doors.post('/', answer('run-2', yes(id)))

    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(await refusalOf(refused)).toEqual({ status: 403, code: 'forbidden' })
    expect((await pending(doors)).map((one) => one.id)).toEqual([id])
    expect(doors.delivered).toEqual([])
    expect(outline(eventsOf(await doors.run('/', answer('run-2', yes(id)), asOperator)))).toEqual(goesOn('fire: bob'))
  })

  // An agent's own tool could send it.
  test.each([['note'], ['send'], ['fire']])(
    'without a token nobody decides about %s, on loopback neither',
    async (tool) => {
      await using doors = await openGatedDoors({ answers: [calls([tool, 'bob']), says('Done.')] })
      const [id = ''] = await ask(doors, {})

      for (const headers of [{}, { Authorization: 'Bearer none' }])
        for (const given of [yes(id), no(id, 'No.'), { interruptId: id, status: 'cancelled' }]) {
          const refused = await doors.post('/', answer('run-2', given), headers)
          expect(refused.headers.get('content-type')).toBe('application/problem+json')
          expect(await refused.json()).toMatchObject({
            status: 403,
            code: 'forbidden',
            detail: expect.stringMatching(/Send an? \w+'s token .*`headers` of HttpAgent .*quarterdeck tokens create/),
          })
        }

      expect((await pending(doors)).map((one) => one.id)).toEqual([id])
      expect(doors.delivered).toEqual([])
    },
  )

  test('the owner decides about risk low and high, with their token', async () => {
    await using doors = await openGatedDoors({ answers: [calls(['note', 'bob'], ['send', 'eve']), says('Done.')] })
    const [low = '', high = ''] = await ask(doors, asAda)

    const frames = await doors.run('/', answer('run-2', yes(low), yes(high)), asAda)

    expect(outline(eventsOf(frames)).at(-1)).toBe('RUN_FINISHED success')
    expect(doors.delivered.toSorted()).toEqual([
      ['note', 'bob'],
      ['send', 'eve'],
    ])
  })

  test('somebody else cannot even tell that there is something to answer', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)

    const refusals = [answer('run-2', yes(id)), answer('run-2', yes(doors.ids.uuid()))].map(async (body) =>
      refusalOf(await doors.post('/', body, asAda)),
    )

    const refused = { status: 404, code: 'session_not_found' }
    expect(await Promise.all(refusals)).toEqual([refused, refused])
    expect((await pending(doors)).map((one) => one.id)).toEqual([id])
  })

  test('somebody else’s answer is refused also with the history that a client sends with it', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)

    const response = await doors.post('/', input({ runId: 'run-2', resume: [yes(id)] }), asAda)

    expect(await refusalOf(response)).toEqual({ status: 404, code: 'approval_not_found' })
    expect((await pending(doors)).map((one) => one.id)).toEqual([id])
    expect(doors.engine.stats().runsStarted).toBe(1)
  })

  test.each(['of their own', 'that is new'])('nobody answers in another thread %s than asked', async (which) => {
    await using doors = await openGatedDoors({ answers: [says('Hello.'), calls(['send', 'bob']), says('Done.')] })
    if (which === 'of their own') await doors.run('/', { ...input(), threadId: 'other' }, asOperator)
    else await doors.run('/', { ...input(), threadId: 'any' }, asOperator)
    const [id = ''] = await ask(doors, asAda)
    const elsewhere = { ...input({ runId: 'run-2', messages: [user('m2')], resume: [yes(id)] }), threadId: 'other' }

    const response = await doors.post('/', elsewhere, asOperator)

    expect(await refusalOf(response)).toEqual({ status: 404, code: 'approval_not_found' })
    expect((await pending(doors)).map((one) => one.id)).toEqual([id])
    expect(doors.engine.stats().runsStarted).toBe(2)
  })
})

describe('an answer that is late, repeated or unknown', () => {
  test('attaches to the continuation that the first answer started', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)
    const first = await doors.run('/', answer('run-2', yes(id)))

    expect(await doors.run('/', answer('run-3', no(id, 'No!')))).toEqual(first)
    expect(doors.delivered).toEqual([['note', 'bob']])
  })

  test('attaches also where an operator answered what its sender may not', async () => {
    await using doors = await openGatedDoors(firing)
    const [id = ''] = await ask(doors)
    const decided = await doors.post(`/approvals/${id}`, { decision: 'approve' }, asOperator)
    expect(decided.status).toBe(200)

    expect(outline(eventsOf(await doors.run('/', answer('run-2', yes(id)))))).toEqual(goesOn('fire: bob'))
    expect(doors.delivered).toEqual([['fire', 'bob']])
  })

  test('answers at the same time start one run, which all of them see', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)

    const seen = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        doors.run('/', answer(`run-${i + 2}`, i % 2 === 0 ? yes(id) : no(id, 'No.'))),
      ),
    )

    const [first, ...others] = seen.map((frames) => JSON.stringify(frames))
    expect(others.every((one) => one === first)).toBe(true)
    expect(doors.engine.stats().runsStarted).toBe(2)
    expect(doors.delivered.length).toBeLessThan(2)
  })

  test('under the runId of the run that asked is an answer, and repeated it attaches', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)

    const first = await doors.run('/', answer('run-1', yes(id)))
    expect(outline(eventsOf(first))).toEqual(goesOn('note: bob'))
    const [started] = eventsOf(first)
    expect(started).toMatchObject({ parentRunId: 'run-1', runId: expect.not.stringMatching('^run-1$') })

    // With the history that CopilotKit sends, and while the run that asked has long finished.
    const repeated = { id: 'x', role: 'tool', toolCallId: 'c', content: '{"approved":true}' }
    const again = input({ messages: [user('m1'), repeated], resume: [no(id, 'No!')] })
    expect(await doors.run('/', again)).toEqual(first)
    expect(await doors.run('/copilotkit/agent/default/run', again)).toEqual(first)
    expect(doors.delivered).toEqual([['note', 'bob']])
    expect(doors.engine.stats().runsStarted).toBe(2)
  })

  test('under that runId answers also what is asked after the first answer', async () => {
    await using doors = await openGatedDoors({
      answers: [calls(['note', 'bob']), calls(['note', 'eve']), says('Done.')],
    })
    const [id = ''] = await ask(doors)
    const [next] = interruptsOf(await doors.run('/', answer('run-1', yes(id))))

    const frames = await doors.run('/', answer('run-1', yes(next?.id ?? '')))

    expect(outline(eventsOf(frames))).toEqual(goesOn('note: eve'))
    expect(doors.delivered).toEqual([
      ['note', 'bob'],
      ['note', 'eve'],
    ])
  })

  test('under the same runId attaches to its own run', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)
    const first = await doors.run('/', answer('run-2', yes(id)))

    expect(await doors.run('/', answer('run-2', yes(id)))).toEqual(first)
    expect(doors.engine.stats().runsStarted).toBe(2)
  })

  test('counts as refused when the time is up, and its sender sees what went on', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)
    doors.wait(3_600_001)

    const seen = outline(eventsOf(await doors.run('/', answer('run-2', yes(id)))))

    expect(seen[1]).toContain('Nobody allowed this call in time')
    expect(seen.at(-1)).toBe('RUN_FINISHED success')
    expect(doors.delivered).toEqual([])
  })

  test('is ignored with a warning if its interrupt is unknown', async () => {
    await using doors = await openGatedDoors({ answers: [says('Hello.')] })

    const body = input({ resume: [yes('nobody knows'), yes(doors.ids.uuid())] })
    const frames = await doors.run('/', body)

    expect(outline(eventsOf(frames)).at(-1)).toBe('RUN_FINISHED success')
    const [started, first, second, next] = eventsOf(frames)
    const why = 'The answer to the interrupt "nobody knows" was ignored: there is no interrupt with this id.'
    expect([started?.type, next?.type]).toEqual(['RUN_STARTED', 'STEP_STARTED'])
    expect([first, second]).toEqual([
      {
        type: 'CUSTOM',
        name: 'quarterdeck:warning',
        value: { code: 'unknown_interrupt', message: why, interruptId: 'nobody knows' },
        timestamp: expect.any(Number),
      },
      expect.objectContaining({ type: 'CUSTOM', name: 'quarterdeck:warning' }),
    ])
    expect(frames.map(({ id }) => id === undefined).slice(0, 4)).toEqual([false, true, true, false])
    const warned = doors.lines.find(({ message }) => message === 'parts of an AG-UI input were left out')
    expect(warned?.warnings).toEqual([why, expect.stringContaining('was ignored')])
    const stored = await readSse(await doors.get('/runs/run-1/events')).rest()
    expect(stored).toEqual(frames.filter(({ id }) => id !== undefined))
    // Whoever attaches or looks is told, too.
    expect((await doors.run('/', body)).map(({ data }) => data.replaceAll(/"timestamp":\d+/g, ''))).toEqual(
      frames.map(({ data }) => data.replaceAll(/"timestamp":\d+/g, '')),
    )
    const looked = outline(eventsOf(await doors.run('/', answer('look', yes('nobody knows')))))
    expect(looked).toEqual(['RUN_STARTED', 'CUSTOM', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED success'])
  })

  test('does not stand in the way of a new message', async () => {
    await using doors = await openGatedDoors({ answers: [calls(['note', 'bob']), says('Done.'), says('Yes?')] })
    const [id = ''] = await ask(doors)
    await doors.run('/', answer('run-2', yes(id)))

    const frames = await doors.run('/', input({ runId: 'run-3', messages: [user('m2')], resume: [yes(id)] }))

    expect(outline(eventsOf(frames))).toContain('TEXT_MESSAGE_CONTENT Yes?')
  })
})

describe('several interrupts', () => {
  const both = { answers: [calls(['note', 'bob'], ['look'], ['note', 'eve']), says('Done.')] }

  test('wait side by side in the order of their calls', async () => {
    await using doors = await openGatedDoors(both)
    const frames = await doors.run('/', input())

    const asked = eventsOf(frames).flatMap((event) => (event.type === 'TOOL_CALL_START' ? [event.toolCallId] : []))
    expect(interruptsOf(frames).map(({ toolCallId }) => toolCallId)).toEqual([asked[0], asked[2]])
    expect(outline(eventsOf(frames)).filter((line) => line.startsWith('TOOL_CALL_RESULT'))).toEqual([
      'TOOL_CALL_RESULT Nothing there.',
    ])
  })

  test('one that is answered is carried out, and the run interrupts again with the other', async () => {
    await using doors = await openGatedDoors(both)
    const [bob = '', eve = ''] = await ask(doors)

    const half = await doors.run('/', answer('run-2', yes(eve)))

    expect(interruptsOf(half).map(({ id }) => id)).toEqual([bob])
    expect(doors.delivered).toEqual([['note', 'eve']])
    expect(outline(eventsOf(await doors.run('/', answer('run-3', yes(bob))))).at(-1)).toBe('RUN_FINISHED success')
    expect(doors.delivered).toEqual([
      ['note', 'eve'],
      ['note', 'bob'],
    ])
  })

  test('answered together are carried out in one run', async () => {
    await using doors = await openGatedDoors(both)
    const [bob = '', eve = ''] = await ask(doors)

    const frames = await doors.run('/', answer('run-2', yes(bob), no(eve, 'Not her.')))

    expect(outline(eventsOf(frames)).at(-1)).toBe('RUN_FINISHED success')
    expect(doors.delivered).toEqual([['note', 'bob']])
  })
})

describe('while a session waits', () => {
  test('a new message is refused and says what to do', async () => {
    await using doors = await openGatedDoors(sending)
    await ask(doors)

    const response = await doors.post('/', input({ runId: 'run-2', messages: [user('m2')] }))

    expect(await response.json()).toMatchObject({
      status: 409,
      code: 'approval_pending',
      detail: expect.stringContaining('Answer it, or cancel the run that waits'),
    })
  })

  test('a yes together with a new message is refused: which comes first is the client’s to say', async () => {
    await using doors = await openGatedDoors(noting)
    const [id = ''] = await ask(doors)

    const response = await doors.post('/', input({ runId: 'run-2', messages: [user('m2')], resume: [yes(id)] }))

    expect(await refusalOf(response)).toEqual({ status: 400, code: 'invalid_request' })
    expect((await pending(doors)).map((one) => one.id)).toEqual([id])
  })

  describe('“not that, but this”: an interrupt is cancelled with a new message', () => {
    const cancelled = (interruptId: string) => ({ interruptId, status: 'cancelled' })
    async function openSteered(answers: TestEngineOptions['answers'] = [calls(['note', 'bob']), says('Then this.')]) {
      const requests: ModelRequest[] = []
      const doors = await openGatedDoors({ answers, onRequest: (request) => void requests.push(request) })
      return { ...doors, requests }
    }
    const refusedText = expect.stringContaining('A person refused this call')

    test.each(['run-2', 'run-1'])('and the message is answered, under the runId %s', async (runId) => {
      await using doors = await openSteered()
      const [id = ''] = await ask(doors)

      const body = input({ runId, messages: [user('m1'), user('m2')], resume: [cancelled(id)] })
      const frames = await doors.run('/', body)

      expect(outline(eventsOf(frames))).toContain('TEXT_MESSAGE_CONTENT Then this.')
      expect(finished(frames)).toEqual({ type: 'success' })
      expect(doors.requests[1]?.messages.map(({ role, content }) => [role, content])).toEqual([
        ['user', 'text of m1'],
        ['assistant', ''],
        ['tool', refusedText],
        ['user', 'text of m2'],
      ])
      expect(await (await doors.get(`/approvals/${id}`)).json()).toMatchObject({ status: 'rejected' })
      expect(doors.delivered).toEqual([])
      // Sent again it says nothing new.
      expect(await doors.run('/', body)).toEqual(frames)
      expect(doors.engine.stats().runsStarted).toBe(2)
    })

    test('is refused while something else is left to decide', async () => {
      await using doors = await openSteered([calls(['note', 'bob'], ['note', 'eve']), says('Then this.')])
      const [one = '', other = ''] = await ask(doors)
      const steer = (...ids: string[]) =>
        doors.post('/', input({ runId: 'run-2', messages: [user('m2')], resume: ids.map(cancelled) }))

      expect(await refusalOf(await steer(one))).toEqual({ status: 409, code: 'approval_pending' })
      expect(await pending(doors)).toHaveLength(2)
      const frames = await readSse(await steer(one, other)).rest()

      expect(outline(eventsOf(frames)).at(-1)).toBe('RUN_FINISHED success')
      expect(doors.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user'])
    })

    test('needs the standing that a refusal needs', async () => {
      await using doors = await openGatedDoors(firing)
      const [id = ''] = await ask(doors)

      const steered = input({ runId: 'run-2', messages: [user('m2')], resume: [cancelled(id)] })
      const response = await doors.post('/', steered, {})

      expect(await refusalOf(response)).toEqual({ status: 403, code: 'forbidden' })
      expect((await pending(doors)).map((one) => one.id)).toEqual([id])
    })

    test('loses nothing where somebody else has just answered', async () => {
      await using doors = await openSteered([calls(['note', 'bob']), says('Done.'), says('Then this.')])
      const [id = ''] = await ask(doors)
      const steer = doors.run('/', input({ runId: 'run-2', messages: [user('m2')], resume: [cancelled(id)] }))
      const decided = doors.post(`/approvals/${id}`, { decision: 'approve' }, asOperator)

      const frames = await steer
      await decided

      expect(finished(frames)).toEqual({ type: 'success' })
      const session = await doors.engine.sessions.get('local_user', 'thread')
      expect((await doors.engine.messages.page(session.id, 100)).map(({ id }) => id)).toContain('m2')
      expect(doors.requests.at(-1)?.messages.at(-1)?.content).toBe('text of m2')
    })

    test('may edit the message that led to it', async () => {
      await using doors = await openSteered([says('Hello.'), calls(['note', 'bob']), says('Then this.')])
      await doors.run('/', input({ runId: 'run-0', messages: [user('m0')] }))
      const [id = ''] = await ask(doors)

      await doors.run('/', input({ runId: 'run-2', messages: [user('m0'), user('edited')], resume: [cancelled(id)] }))

      expect(doors.requests[2]?.messages.map(({ content }) => content)).toEqual(['text of m0', 'text of edited'])
    })
  })

  test('a client that comes back is shown what was said and what is asked', async () => {
    await using doors = await openGatedDoors({ answers: [calls(['note', 'bob'], ['send', 'eve'])] })
    const first = interruptsOf(await doors.run('/', input()))

    const frames = await doors.run('/', input({ runId: 'look', messages: [] }))

    expect(outline(eventsOf(frames))).toEqual([
      'RUN_STARTED',
      'MESSAGES_SNAPSHOT',
      ...['TOOL_CALL_START note', 'TOOL_CALL_ARGS {"to":"bob"}', 'TOOL_CALL_END'],
      ...['TOOL_CALL_START send', 'TOOL_CALL_ARGS {"to":"eve"}', 'TOOL_CALL_END'],
      'RUN_FINISHED interrupt',
    ])
    expect(interruptsOf(frames)).toEqual(first)
    expect(frames.every(({ id }) => id === undefined)).toBe(true)
  })

  test('a second POST with the runId of the waiting run shows that run to its end', async () => {
    await using doors = await openGatedDoors(sending)
    const first = await doors.run('/', input())

    expect(await doors.run('/', input())).toEqual(first)
    expect(doors.engine.stats().runsStarted).toBe(1)
  })

  test('a reader that has seen the end is told that nothing more comes', async () => {
    await using doors = await openGatedDoors(sending)
    const frames = await doors.run('/', input())
    const lastEventId = frames.at(-1)?.id ?? ''

    const goOn = () => doors.post('/', input(), { 'Last-Event-ID': lastEventId })

    expect((await goOn()).status).toBe(204)
    await doors.post('/runs/run-1/cancel', undefined)
    expect((await goOn()).status).toBe(204)
  })

  test('a 0.x client is told of the interrupt in words it knows', async () => {
    await using doors = await openGatedDoors(noting)
    const { protocolVersion: _none, ...old } = input()

    const [{ id } = { id: '' }] = interruptsOf(await doors.run('/', old))
    const { protocolVersion: _too, ...resume } = answer('run-2', yes(id))

    expect(outline(eventsOf(await doors.run('/', resume)))).toEqual(goesOn('note: bob'))
  })
})

test('an approved call runs even if the person who approved it disconnects', async () => {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const slow = testTool({
    name: 'note',
    effect: 'once',
    approval: { ask: 'always' },
    call: async () => {
      begun.resolve()
      await end.promise
      return { content: 'Noted.', isError: false }
    },
  })
  await using doors = await openGatedDoors({ ...noting, tools: [slow], limits: { disconnectGraceMs: 0 } })
  const [id = ''] = await ask(doors)
  const reader = readSse(await doors.post('/', answer('run-2', yes(id))))
  await begun.promise

  await reader.close()
  await expect.poll(() => doors.engine.stats().readers).toBe(0)
  end.resolve()

  const rest = await readSse(await doors.get('/runs/run-2/events')).rest()
  expect(outline(eventsOf(rest))).toEqual(goesOn('Noted.'))
})

test('without tools nothing waits: an input with an empty `resume` is like any other', async () => {
  await using doors = await openDoors()

  expect(outline(eventsOf(await doors.run('/', input({ resume: [] })))).at(-1)).toBe('RUN_FINISHED success')
})
