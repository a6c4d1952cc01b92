import { describe, expect, test } from 'vitest'
import { ServerError } from '../domain/errors.ts'
import type { RunEvent } from '../domain/session/event.ts'
import type { ModelRequest } from '../models/model.ts'
import { createManualClock } from '../models/testing/manual-clock.ts'
import type { ServerTool, Tool } from '../tools/tool.ts'
import { createRedaction, createToolFilter } from './middleware/middleware.ts'
import type { AcceptedRun } from './ports/runs.ts'
import { eventsOf, openEngine, outline, testAgent, testTool, userInput } from './testing/open-engine.ts'

const echo = (effect: Tool['effect'] = 'read') =>
  testTool({
    name: 'echo',
    description: 'Repeats its arguments.',
    effect,
    timeoutMs: 1_000,
    call: async ({ arguments: args }) => ({ content: JSON.stringify(args), isError: false }),
  })

const stepsIn = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'STEP_FINISHED' ? [[event.stepName, event.metadata]] : []))

describe('a run', () => {
  test('streams an answer, stores it, and ends with one terminal event', async () => {
    const { engine, start, events, close } = openEngine({
      answers: [
        { parts: [{ reasoning: 'Hm.' }, { text: 'Hello ' }, { text: 'you.' }, { usage: { input: 7, output: 3 } }] },
      ],
    })
    const accepted = await start('Hi')
    const seen = await events(accepted)

    expect(outline(seen)).toEqual([
      'RUN_STARTED',
      'STEP_STARTED step_1',
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT Hm.',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT Hello ',
      'TEXT_MESSAGE_CONTENT you.',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'RUN_FINISHED success',
    ])
    const run = await engine.runs.get('local_user', accepted.run.id)
    expect([run.status, run.usage]).toEqual([
      'completed',
      [{ provider: 'scripted', model: 'script', inputTokens: 7, outputTokens: 3, totalTokens: 10 }],
    ])
    const stored = await engine.messages.page(accepted.session.id, 10)
    expect(stored.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Hi'],
      ['reasoning', 'Hm.'],
      ['assistant', 'Hello you.'],
    ])
    await close()
  })

  test('calls tools until the model has its answer', async () => {
    const requests: ModelRequest[] = []
    const { start, events, close } = openEngine({
      tools: [echo()],
      onRequest: (request) => requests.push(request),
      answers: [
        { parts: [{ text: 'Let me see. ' }, { tool_call: { name: 'echo', arguments: { a: 1 } } }] },
        { parts: [{ text: 'It is 1.' }] },
      ],
    })
    const seen = outline(await events(await start('What is a?')))

    expect(seen).toEqual([
      'RUN_STARTED',
      'STEP_STARTED step_1',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT Let me see. ',
      'TEXT_MESSAGE_END',
      'TOOL_CALL_START echo',
      'TOOL_CALL_ARGS {"a":1}',
      'TOOL_CALL_END',
      'STEP_FINISHED step_1',
      'TOOL_CALL_RESULT {"a":1}',
      'STEP_STARTED step_2',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT It is 1.',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_2',
      'RUN_FINISHED success',
    ])
    expect(requests[1]?.messages.map((message) => [message.role, message.content])).toEqual([
      ['user', 'What is a?'],
      ['assistant', 'Let me see. '],
      ['tool', '{"a":1}'],
    ])
    await close()
  })

  test('says at the end of each step what the model reported for it, and nothing if it reported nothing', async () => {
    const { start, events, close } = openEngine({
      tools: [echo()],
      answers: [
        {
          parts: [
            { tool_call: { name: 'echo', arguments: { a: 1 } } },
            { usage: { input: 7, output: 3, reasoning: 2, cached: 4 } },
          ],
        },
        { parts: [{ tool_call: { name: 'echo', arguments: { a: 2 } } }] },
        { parts: [{ text: 'It is 1.' }, { usage: { input: 20, output: 5 } }] },
      ],
    })
    const seen = await events(await start('What is a?'))
    const model = { provider: 'scripted', model: 'script' }
    const first = { inputTokens: 7, outputTokens: 3, reasoningTokens: 2, cachedInputTokens: 4, totalTokens: 10 }

    expect(stepsIn(seen)).toEqual([
      ['step_1', { quarterdeck: { usage: { ...model, ...first } } }],
      ['step_2', undefined],
      ['step_3', { quarterdeck: { usage: { ...model, inputTokens: 20, outputTokens: 5, totalTokens: 25 } } }],
    ])
    expect(seen.at(-1)).toMatchObject({
      usage: [{ ...model, ...first, inputTokens: 27, outputTokens: 8, totalTokens: 35 }],
    })
    await close()
  })

  test('says of a step that broke off what the model had reported by then', async () => {
    const { start, events, close } = openEngine({
      answers: [{ parts: [{ usage: { input: 9, output: 1 } }, { text: 'Half of ' }, { drop: true }] }],
    })
    const usage = [{ provider: 'scripted', model: 'script', inputTokens: 9, outputTokens: 1, totalTokens: 10 }]
    const seen = await events(await start('one'))

    expect(stepsIn(seen)).toEqual([['step_1', { quarterdeck: { usage: usage[0] } }]])
    expect(seen.at(-1)).toMatchObject({ type: 'RUN_ERROR', usage })
    await close()
  })

  test('gives an unknown tool and broken arguments back to the model as errors', async () => {
    const { start, events, close } = openEngine({
      tools: [echo()],
      answers: [
        { parts: [{ tool_call: { name: 'nope' } }, { tool_call: { name: 'echo', arguments: '{"a":' } }] },
        { parts: [{ text: 'Sorry.' }] },
      ],
    })
    const results = outline(await events(await start('go'))).filter((line) => line.startsWith('TOOL_CALL_RESULT'))
    expect(results).toEqual([
      'TOOL_CALL_RESULT There is no tool nope. Tools: echo.',
      'TOOL_CALL_RESULT The arguments are not a JSON object. Send the call again with valid JSON.',
    ])
    await close()
  })

  test('keeps a filtered tool from running and leaves no event of it', async () => {
    let calls = 0
    const tool = { ...echo(), call: async () => ({ content: String(++calls), isError: false }) }
    const requests: ModelRequest[] = []
    const { start, events, close } = openEngine({
      tools: [tool],
      middleware: [createToolFilter({ deny: ['echo'] })],
      onRequest: (request) => requests.push(request),
      answers: [{ parts: [{ tool_call: { name: 'echo' } }] }, { parts: [{ text: 'Fine.' }] }],
    })
    const seen = outline(await events(await start('go')))
    expect(seen.filter((line) => line.startsWith('TOOL'))).toEqual([])
    expect(seen.at(-1)).toBe('RUN_FINISHED success')
    expect(calls).toBe(0)
    expect(requests[1]?.aside).toContain('Your call of echo was refused')
    await close()
  })

  test('stores the text as the middleware changed it, and gives tools the arguments that the model wrote', async () => {
    let seen: unknown
    const tool: ServerTool = {
      ...echo(),
      call: async ({ arguments: args }) => {
        seen = args
        return { content: JSON.stringify(args), isError: false }
      },
    }
    const { engine, start, events, close } = openEngine({
      tools: [tool],
      middleware: [createRedaction([/secret/])],
      answers: [
        {
          parts: [
            { reasoning: 'a secret' },
            { text: 'my secret' },
            { tool_call: { name: 'echo', arguments: { a: 'secret' } } },
          ],
        },
        { parts: [{ text: 'done' }] },
      ],
    })
    const accepted = await start('go')
    await events(accepted)
    const stored = await engine.messages.page(accepted.session.id, 10)
    expect(stored.map(({ content, toolCalls }) => [content, toolCalls?.[0]?.function.arguments])).toEqual([
      ['go', undefined],
      ['a [redacted]', undefined],
      ['my [redacted]', '{"a":"[redacted]"}'],
      ['{"a":"[redacted]"}', undefined],
      ['done', undefined],
    ])
    expect(seen).toEqual({ a: 'secret' })
    await close()
  })

  test('that fails half-way keeps its text, marked as broken off, and never shows it to the model again', async () => {
    const requests: ModelRequest[] = []
    const { engine, start, events, close } = openEngine({
      onRequest: (request) => requests.push(request),
      answers: [{ parts: [{ text: 'Half of ' }, { drop: true }] }, { parts: [{ text: 'Whole.' }] }],
    })
    const first = await start('one')
    const seen = await events(first)
    expect(outline(seen).slice(-3)).toEqual([
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'RUN_ERROR model_stream_dropped',
    ])
    expect(seen.find((event) => event.type === 'TEXT_MESSAGE_END')?.metadata).toEqual({
      quarterdeck: { brokenOff: true },
    })
    await events(await start('two', { session: { existing: first.session } }))
    const stored = await engine.messages.page(first.session.id, 10)
    expect(stored.map(({ content, brokenOff }) => [content, brokenOff ?? false])).toEqual([
      ['one', false],
      ['Half of ', true],
      ['two', false],
      ['Whole.', false],
    ])
    expect(requests[1]?.messages.map((message) => message.content)).toEqual(['one', 'two'])
    await close()
  })

  test('ends with a fixed text when something unexpected is thrown', async () => {
    const model = {
      provider: 'broken',
      name: 'broken',
      async stream() {
        throw new TypeError('secret internals')
      },
      check: async () => {},
    }
    const { start, events, close } = openEngine({ model })
    const accepted = await start('go')
    const last = (await events(accepted)).at(-1)
    expect(last).toMatchObject({
      type: 'RUN_ERROR',
      code: 'internal_error',
      message: `Something went wrong in the server. The log has the details under run ${accepted.run.id}.`,
    })
    await close()
  })
})

describe('limits', () => {
  const loop = [{ when: { user: 'go' }, parts: [{ tool_call: { name: 'echo', arguments: { n: 1 } } }] }]

  test.each([
    ['steps', { steps: 4 }, 4],
    ['identical_calls', { identicalCalls: 3 }, 4],
    ['tool_calls', { toolCalls: 2, identicalCalls: 10 }, 3],
  ])('end a run exactly at %s', async (limit, limits, requests) => {
    let asked = 0
    const { start, events, close, engine } = openEngine({
      tools: [echo()],
      answers: loop,
      onRequest: () => void asked++,
      agent: {
        limits: {
          ...testAgent.limits,
          steps: 25,
          tokens: null,
          durationMs: 900_000,
          cost: null,
          toolCalls: 100,
          identicalCalls: 99,
          answerChars: 1_000_000,
          storedMessageChars: 1_000,
          ...limits,
        },
      },
    })
    const accepted = await start('go')
    const last = (await events(accepted)).at(-1)
    expect(last).toMatchObject({
      type: 'RUN_ERROR',
      code: 'budget_exceeded',
      message: expect.stringContaining(`limits.${limit}`),
    })
    expect(asked).toBe(requests)
    expect((await engine.runs.get('local_user', accepted.run.id)).status).toBe('failed')
    await close()
  })

  test('count tokens and cost over all steps', async () => {
    const parts = [{ usage: { input: 60, output: 40 } }, { tool_call: { name: 'echo', arguments: {} } }]
    const limits = { ...testAgent.limits, identicalCalls: 99, storedMessageChars: 1_000 }
    for (const [limit, agent] of [
      ['tokens', { limits: { ...limits, tokens: 250, cost: null } }],
      [
        'cost',
        {
          limits: { ...limits, tokens: null, cost: 0.00025 },
          model: {
            provider: 's',
            name: 's',
            contextWindow: 10_000,
            retries: 0,
            firstTokenTimeoutMs: 1,
            tokenTimeoutMs: 1,
            prices: { input: 1, output: 1 },
          },
        },
      ],
    ] as const) {
      let asked = 0
      const { start, events, close } = openEngine({
        tools: [echo()],
        answers: [{ when: { user: 'go' }, parts }],
        onRequest: () => void asked++,
        agent,
      })
      const last = (await events(await start('go'))).at(-1)
      expect([limit, last]).toEqual([
        limit,
        expect.objectContaining({ code: 'budget_exceeded', message: expect.stringContaining(`limits.${limit}`) }),
      ])
      expect(asked).toBe(3)
      await close()
    }
  })

  test('of wall time end a run that hangs, and abort its model call', async () => {
    const clock = createManualClock()
    const { start, events, close } = openEngine({ clock, answers: [{ parts: [{ text: 'a' }, { hang: true }] }] })
    const starting = start('go')
    await clock.advance(10)
    const seeing = events(await starting)
    await clock.advance(900_000)
    const seen = outline(await seeing)
    expect(seen.at(-1)).toBe('RUN_ERROR budget_exceeded')
    const closing = close()
    await clock.advance(10_000)
    await closing
  })

  test('of the context never cut off the user message of a long run', async () => {
    const requests: ModelRequest[] = []
    const steps = 30
    const { start, events, close } = openEngine({
      tools: [echo()],
      agent: {
        context: { maxMessages: 5, mode: 'window' },
        limits: { ...testAgent.limits, steps: 100, toolCalls: 100, identicalCalls: 100 },
      },
      onRequest: (request) => requests.push(request),
      answers: [
        ...Array.from({ length: steps }, () => ({ parts: [{ tool_call: { name: 'echo' } }] })),
        { parts: [{ text: 'done' }] },
      ],
    })
    await events(await start('go'))
    const shown = requests.at(-1)?.messages ?? []
    expect(shown.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool'])
    expect(shown[0]?.content).toBe(
      `go\n\n[Note from the server: ${steps - 2} earlier steps were left out here, with calls and results, because the conversation is too long.]`,
    )
    await close()
  })

  test('of the context keep the newest exchange, and never separate a call from its result', async () => {
    const requests: ModelRequest[] = []
    const { start, events, close } = openEngine({
      tools: [echo()],
      agent: { context: { maxMessages: 3, mode: 'window' } },
      onRequest: (request) => requests.push(request),
      answers: [
        { parts: [{ text: 'one' }] },
        { parts: [{ tool_call: { name: 'echo' } }] },
        { parts: [{ text: 'two' }] },
        { parts: [{ text: 'three' }] },
      ],
    })
    const first = await start('a')
    await events(first)
    await events(await start('b', { session: { existing: first.session } }))
    await events(await start('c', { session: { existing: first.session } }))
    const shown = requests.map((request) => request.messages.map((message) => message.role).join(' '))
    expect(shown).toEqual(['user', 'user assistant user', 'user assistant tool', 'user'])
    await close()
  })
})

describe('a user who may begin nothing more', () => {
  const usedUp = () => new ServerError('quota_exceeded', 'You have used everything for today.')

  test('is refused new work, and is told again what was taken before', async () => {
    const settled: boolean[] = []
    let left = 1
    const { start, events, close } = openEngine({
      async admit() {
        if (left === 0) throw usedUp()
        left -= 1
        return (isTaken) => void settled.push(isTaken)
      },
    })
    const idempotency = { key: 'key-1', digest: 'd' }
    const first = await start('Hi', { wireRunId: 'run-1', idempotency })
    await events(first)
    const existing = { session: { existing: first.session } }

    for (const more of [{}, { wireRunId: 'run-2' }, { idempotency: { key: 'key-2', digest: 'd' } }]) {
      await expect(start('More', { ...existing, ...more })).rejects.toMatchObject({ code: 'quota_exceeded' })
    }
    for (const same of [{ wireRunId: 'run-1' }, { idempotency }]) {
      const again = await start('Hi', { ...existing, ...same })
      expect([again.existing, again.run.id]).toEqual([true, first.run.id])
    }
    expect(settled).toEqual([true])
    await close()
  })

  test('may still answer what an agent asks', async () => {
    let isUsedUp = false
    const { start, events, approvals, close } = openEngine({
      answers: [{ parts: [{ tool_call: { name: 'delete_all' } }] }, { parts: [{ text: 'Done.' }] }],
      tools: [
        testTool({
          name: 'delete_all',
          approval: { ask: 'always' },
          call: async () => ({ content: 'ok', isError: false }),
        }),
      ],
      async admit() {
        if (isUsedUp) throw usedUp()
        return () => {}
      },
    })
    const asked = await start('Delete')
    await events(asked)
    isUsedUp = true
    const by = { user: 'ada', role: 'operator' } as const
    const [approval] = await approvals.list({ by, status: 'pending', limit: 1 })
    const { run } = await approvals.decide(by, approval?.id ?? '', { decision: 'approve' })
    expect(outline(await events({ ...asked, run })).at(-1)).toMatch(/^RUN_FINISHED/)
    await close()
  })

  test('whose run is not taken after all has not used it', async () => {
    const settled: boolean[] = []
    const { start, close } = openEngine({
      limits: { sessions: 0 },
      admit: async () => (isTaken) => void settled.push(isTaken),
    })
    await expect(start('Hi')).rejects.toMatchObject({ code: 'too_many_sessions' })
    expect(settled).toEqual([false])
    await close()
  })
})

test('a token that is bound to an agent starts runs of no other', async () => {
  const { start, close } = openEngine()
  await expect(start('Hi', { onlyAgent: 'another' })).rejects.toMatchObject({ code: 'forbidden' })
  expect((await start('Hi', { onlyAgent: testAgent.name })).run.agent).toBe(testAgent.name)
  await close()
})

describe('a busy session', () => {
  const slow = [{ parts: [{ text: 'tick ', repeat: 3, delay_ms: 20 }] }]

  test('queues runs and takes them in order', async () => {
    const { engine, start, events, close } = openEngine({ answers: slow })
    const first = await start('1')
    const rest = await Promise.all(['2', '3'].map((text) => start(text, { session: { existing: first.session } })))
    expect([first.run.status, ...rest.map((one) => one.run.status)]).toEqual(['running', 'queued', 'queued'])
    for (const one of [first, ...rest]) expect(outline(await events(one)).at(-1)).toBe('RUN_FINISHED success')
    const stored = await engine.messages.page(first.session.id, 10)
    expect(stored.map((message) => message.content)).toEqual([
      '1',
      'tick tick tick ',
      '2',
      'tick tick tick ',
      '3',
      'tick tick tick ',
    ])
    await close()
  })

  test('refuses the ninth queued run, and a second run at once when told to reject', async () => {
    const { start, close } = openEngine({ answers: [{ parts: [{ hang: true }] }] })
    const first = await start('1')
    const session = { existing: first.session }
    for (let i = 0; i < 8; i += 1) expect((await start('more', { session })).run.status).toBe('queued')
    await expect(start('ninth', { session })).rejects.toMatchObject({ code: 'queue_full' })
    await expect(start('now', { session, onBusy: 'reject' })).rejects.toMatchObject({ code: 'run_in_progress' })
    await close()
  })

  test('interrupts the first run for the second when told to', async () => {
    const { start, events, close } = openEngine({
      answers: [{ parts: [{ text: 'a' }, { hang: true }] }, { parts: [{ text: 'b' }] }],
    })
    const first = await start('1')
    const second = await start('2', { session: { existing: first.session }, onBusy: 'interrupt' })
    expect(outline(await events(first)).at(-1)).toBe('RUN_FINISHED cancelled')
    expect(outline(await events(second)).at(-1)).toBe('RUN_FINISHED success')
    await close()
  })

  test('lets a queued run be cancelled before it begins', async () => {
    const { engine, start, events, close } = openEngine({ answers: [{ parts: [{ hang: true }] }] })
    const first = await start('1')
    const second = await start('2', { session: { existing: first.session } })
    await engine.runs.cancel(second.run, 'test')
    expect(outline(await events(second))).toEqual(['RUN_STARTED', 'RUN_FINISHED cancelled'])
    expect((await engine.messages.page(first.session.id, 10)).map((message) => message.content)).toEqual(['1'])
    await engine.runs.cancel(first.run, 'test')
    expect(outline(await events(first)).at(-1)).toBe('RUN_FINISHED cancelled')
    await close()
  })
})

describe('asking twice', () => {
  test('with one idempotency key makes one run, and another body with that key is refused', async () => {
    const { engine, start, close } = openEngine()
    const idempotency = { key: 'k', digest: 'd' }
    const first = await start('1', { idempotency })
    const again = await start('1', { idempotency })
    expect([again.existing, again.run.id]).toEqual([true, first.run.id])
    await expect(start('2', { idempotency: { key: 'k', digest: 'other' } })).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    })
    const asked = (await engine.messages.page(first.session.id, 10)).filter((message) => message.role === 'user')
    expect(asked).toHaveLength(1)
    await close()
  })

  test('with one run id attaches to the existing run', async () => {
    const { start, events, close } = openEngine()
    const first = await start('1', { wireRunId: 'r' })
    const again = await start('1', { wireRunId: 'r' })
    expect([again.existing, again.run.id]).toEqual([true, first.run.id])
    expect(await events(again)).toEqual(await events(first))
    await close()
  })
})

describe('readers', () => {
  test('that resume at any event see the rest once', async () => {
    const { engine, start, events, close } = openEngine({ answers: [{ parts: [{ text: 'word ', repeat: 30 }] }] })
    const accepted = await start('go')
    const all = await events(accepted)
    const entries = await engine.sessions.entries(accepted.session.id, 0, 100)
    for (const { seq } of entries) {
      const rest = entries.filter((entry) => entry.seq > seq)
      expect(await events(accepted, seq)).toEqual(eventsOf(rest))
    }
    expect(all).toEqual(eventsOf(entries))
    await expect(events(accepted, 999)).rejects.toMatchObject({ code: 'events_gone' })
    await close()
  })

  test('that have all left end the run they started after the grace time, and no other run', async () => {
    const clock = createManualClock()
    const { engine, start, close } = openEngine({ clock, answers: [{ parts: [{ text: 'a' }, { hang: true }] }] })
    const [one, two] = [start('1', { origin: 'reader' }), start('2', { session: { create: { alias: 'other' } } })]
    await clock.advance(10)
    const reader = new AbortController()
    const accepted = await one
    const reading = (async () => {
      for await (const _ of engine.runs.follow(
        { sessionId: accepted.session.id, runId: accepted.run.id, after: 0 },
        reader.signal,
      ));
    })()
    await clock.advance(60_000)
    expect((await engine.runs.get('local_user', accepted.run.id)).status).toBe('running')
    reader.abort()
    await reading
    await clock.advance(9_000)
    expect((await engine.runs.get('local_user', accepted.run.id)).status).toBe('running')
    await clock.advance(2_000)
    expect((await engine.runs.get('local_user', accepted.run.id)).status).toBe('cancelled')
    expect((await engine.runs.get('local_user', (await two).run.id)).status).toBe('running')
    const closing = close()
    await clock.advance(10_000)
    await closing
  })
})

describe('a run whose readers have left', () => {
  test('stops after the grace time even if another is queued behind it, which then starts', async () => {
    const clock = createManualClock()
    const { engine, start, close } = openEngine({
      clock,
      answers: [{ parts: [{ text: 'a' }, { hang: true }] }, { parts: [{ text: 'b' }] }],
    })
    const read = ({ session, run }: AcceptedRun, signal: AbortSignal) =>
      (async () => {
        for await (const _ of engine.runs.follow({ sessionId: session.id, runId: run.id, after: 0 }, signal));
      })()
    const statusOf = async ({ run }: AcceptedRun) => (await engine.runs.get('local_user', run.id)).status
    const first = await start('1', { origin: 'reader' })
    const leaving = new AbortController()
    const reading = read(first, leaving.signal)
    const starting = start('2', { origin: 'reader', session: { existing: first.session } })
    await clock.advance(10)
    const second = await starting
    const waiting = read(second, new AbortController().signal)
    await clock.advance(60_000)
    expect([await statusOf(first), await statusOf(second)]).toEqual(['running', 'queued'])

    leaving.abort()
    await reading
    await clock.advance(9_000)
    expect([await statusOf(first), await statusOf(second)]).toEqual(['running', 'queued'])
    await clock.advance(2_000)
    await clock.advance(1_000)
    await waiting

    expect([await statusOf(first), await statusOf(second)]).toEqual(['cancelled', 'completed'])
    await close()
  })

  test('goes on while somebody watches the whole session', async () => {
    const clock = createManualClock()
    const { engine, start, close } = openEngine({ clock, answers: [{ parts: [{ text: 'a' }, { hang: true }] }] })
    const { session, run } = await start('1', { origin: 'reader' })
    const watcher = new AbortController()
    const watching = (async () => {
      for await (const _ of engine.runs.follow({ sessionId: session.id, after: 0 }, watcher.signal));
    })()
    await clock.advance(60_000)
    expect((await engine.runs.get('local_user', run.id)).status).toBe('running')

    watcher.abort()
    await watching
    await clock.advance(11_000)

    expect((await engine.runs.get('local_user', run.id)).status).toBe('cancelled')
    await close()
  })
})

describe('regenerating', () => {
  test('branches after the user message and leaves the old answer behind', async () => {
    const { engine, start, events, close } = openEngine({
      answers: [{ parts: [{ text: 'first' }] }, { parts: [{ text: 'second' }] }],
    })
    const first = await start('q', { input: userInput('m1', 'q') })
    await events(first)
    const input = { messages: [], instructions: [], context: [], clientTools: [], regenerateAfter: 'm1' }
    await events(await start('', { session: { existing: first.session }, input }))
    expect((await engine.messages.page(first.session.id, 10)).map((message) => message.content)).toEqual([
      'q',
      'second',
    ])
    await close()
  })
})

describe('deleting a session', () => {
  test('stops its run and leaves nothing; doing it again does nothing', async () => {
    const { engine, start, close } = openEngine({ answers: [{ parts: [{ text: 'a' }, { hang: true }] }] })
    const { session, run } = await start('1')
    await engine.sessions.remove(session)
    await engine.sessions.remove(session)
    expect(await engine.sessions.find('local_user', 'thread')).toBeNull()
    await expect(engine.runs.get('local_user', run.id)).rejects.toBeInstanceOf(ServerError)
    expect(await engine.sessions.entries(session.id, 0, 10)).toEqual([])
    await close()
  })
})

describe('a session', () => {
  test('is found by its owner only, by either spelling of its id and by its name', async () => {
    const { engine, start, close } = openEngine()
    const { session } = await start('1')
    expect((await engine.sessions.find('local_user', session.id.toUpperCase()))?.id).toBe(session.id)
    expect((await engine.sessions.find('local_user', 'thread'))?.id).toBe(session.id)
    expect(await engine.sessions.find('someone', session.id)).toBeNull()
    await expect(engine.sessions.get('local_user', '\u0000')).rejects.toMatchObject({ code: 'malformed_id' })
    await close()
  })
})
