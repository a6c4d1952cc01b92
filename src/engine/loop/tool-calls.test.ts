import { describe, expect, test } from 'vitest'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import type { ModelRequest } from '../../models/model.ts'
import { createSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { type CallRules, createCallRules } from '../../supervision/approvals/call-rules.ts'
import { createRealPath } from '../../supervision/policy/real-path.ts'
import { createAssessWork } from '../../supervision/risk/assess-work.ts'
import type { ToolVoice } from '../../tools/tool.ts'
import { createToolFilter } from '../middleware/middleware.ts'
import { openEngine, outline, testAgent, testTool } from '../testing/open-engine.ts'
import { difference } from './shared-state.ts'

const call = (name: string, args: Record<string, unknown> = {}) => ({
  parts: [{ tool_call: { name, arguments: args } }],
})
const done = { parts: [{ text: 'Done.' }] }
const results = (events: readonly RunEvent[]) => outline(events).filter((line) => line.startsWith('TOOL_CALL_RESULT'))

describe('a call', () => {
  for (const which of ['first', 'last']) {
    test(`does not take effect if its run is stopped while its beginning is stored (${which} of two)`, async () => {
      const seen: unknown[] = []
      const act = testTool({
        name: 'act',
        effect: 'once',
        call: async ({ arguments: { n } }) => {
          seen.push(n)
          return { content: 'ok', isError: false }
        },
      })
      const durationMs = 123_456
      const clock = createSystemClock()
      let endOfTime = () => {}
      const after: Clock['after'] = (ms, fire, hold) => {
        if (ms !== durationMs) return clock.after(ms, fire, hold)
        endOfTime = fire
        return () => {}
      }
      const inner = createSqliteStore({ path: ':memory:', fatal: () => {} })
      let intents = 0
      const commit: typeof inner.commit = async (commands) => {
        const stored = await inner.commit(commands)
        intents += JSON.stringify(commands).split('tool_intent').length - 1
        if (intents === (which === 'first' ? 1 : 2)) endOfTime()
        return stored
      }
      const both = { parts: [1, 2].map((n) => ({ tool_call: { name: 'act', arguments: { n } } })) }
      const server = openEngine({
        tools: [act],
        answers: [both, done],
        clock: { ...clock, after },
        store: { ...inner, commit },
        agent: { limits: { ...testAgent.limits, durationMs, parallelCalls: 1 } },
      })

      const events = await server.events(await server.start('go'))

      expect(outline(events).at(-1)).toContain('RUN_ERROR')
      expect(seen).toEqual(which === 'first' ? [] : [1])
      const trail = (await inner.audit.entries(0, 100)).map(({ text }) => JSON.parse(text))
      const lines = trail.map(({ kind, details }) => `${kind} ${details.status ?? ''}`.trim())
      expect(lines).toEqual([
        ...(which === 'first' ? [] : ['call_started', 'call_finished success']),
        ...['call_started', 'call_finished stopped'],
      ])
      await server.close()
    })
  }

  test('whose arguments do not fit goes back to the model, which can correct it', async () => {
    const seen: unknown[] = []
    const weather = testTool({
      name: 'weather',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer', default: 3 } },
        required: ['city'],
      },
      call: async ({ arguments: args }) => {
        seen.push(args)
        return { content: 'Sunny.', isError: false }
      },
    })
    const server = openEngine({
      tools: [weather],
      answers: [call('weather', { days: 'x' }), call('weather', { city: 'Ulm' }), done],
    })
    const [wrong, right] = results(await server.events(await server.start('go')))
    expect(wrong).toContain('The arguments do not fit')
    expect(wrong).toContain('city')
    expect(right).toBe('TOOL_CALL_RESULT Sunny.')
    expect(seen).toEqual([{ city: 'Ulm', days: 3 }])
    await server.close()
  })

  test('with the id of another call is still a separate call, in the same answer and in the next', async () => {
    const seen: unknown[] = []
    const requests: ModelRequest[] = []
    const add = testTool({
      name: 'add',
      call: async ({ callId, arguments: args }) => {
        seen.push(args.n)
        return { content: `${String(args.n)} ${callId}`, isError: false }
      },
    })
    const same = (...numbers: number[]) => ({
      parts: numbers.map((n) => ({ tool_call: { id: 'call_0', name: 'add', arguments: { n } } })),
    })
    const server = openEngine({
      tools: [add],
      answers: [same(1, 2), same(3), done],
      onRequest: (request) => requests.push(request),
    })
    const events = await server.events(await server.start('go'))
    expect(seen).toEqual([1, 2, 3])
    const ended = events.filter(({ type }) => type === 'TOOL_CALL_END').map((event) => Object(event).toolCallId)
    expect(new Set(ended).size).toBe(3)
    // The model sees each result after its own call.
    const shown = requests.at(-1)?.messages.flatMap((message) => (message.role === 'tool' ? [message] : [])) ?? []
    expect(shown.map(({ content, toolCallId }) => content === `${content[0]} ${toolCallId}`)).toEqual([
      true,
      true,
      true,
    ])
    expect(new Set(shown.map(({ toolCallId }) => toolCallId)).size).toBe(3)
    await server.close()
  })

  test('that fails is tried again if that is harmless, and never if it is not', async () => {
    for (const [effect, expected] of [
      ['read', 3],
      ['once', 1],
    ] as const) {
      let tries = 0
      const flaky = testTool({
        name: 'flaky',
        effect,
        retries: 2,
        call: async () => {
          tries += 1
          throw new ServerError('tool_failed', 'Not now.')
        },
      })
      const server = openEngine({ tools: [flaky], answers: [call('flaky'), done] })
      expect(results(await server.events(await server.start('go')))).toEqual(['TOOL_CALL_RESULT Not now.'])
      expect([effect, tries]).toEqual([effect, expected])
      await server.close()
    }
  })

  test('whose arguments take too long to check does not run, and the model reads why', async () => {
    const level = (i: number) => ({ allOf: [{ $ref: `#/$defs/d${i}` }, { $ref: `#/$defs/d${i}` }] })
    const levels = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`d${i}`, i === 0 ? { minLength: 1 } : level(i - 1)]),
    )
    const parameters = { type: 'object', properties: { text: { $ref: '#/$defs/d19' } }, $defs: levels }
    const hostile = testTool({ name: 'hostile', parameters, call: async () => ({ content: 'ran', isError: false }) })
    const long = { parts: [{ tool_call: { name: 'hostile', arguments: { text: 'x'.repeat(20_000) } } }] }
    const server = openEngine({ tools: [hostile], answers: [long, done] })
    expect(results(await server.events(await server.start('go')))).toEqual([
      'TOOL_CALL_RESULT The arguments do not fit: the value is too large to be checked against its schema; send less at once. Send the call again with arguments that fit.',
    ])
    await server.close()
  })

  test('runs although its schema has a pattern in the syntax of another language', async () => {
    const parameters = { type: 'object', properties: { a: { type: 'string', pattern: '(?i)^abc$' } } }
    const find = testTool({ name: 'find', parameters, call: async () => ({ content: 'Found.', isError: false }) })
    const server = openEngine({ tools: [find], answers: [call('find'), done] })
    expect(results(await server.events(await server.start('go')))).toEqual(['TOOL_CALL_RESULT Found.'])
    await server.close()
  })

  test('is checked in its turn, and other work runs between two calls of one answer', async () => {
    let turns = 0
    let isOver = false
    const serve = () => {
      turns += 1
      if (!isOver) setImmediate(serve)
    }
    const judged: number[] = []
    const unasked = createCallRules({
      grants: { list: async () => [] },
      realPath: createRealPath,
      clock: createSystemClock(),
      assess: createAssessWork({ serverPaths: [], home: '/home/ann' }),
    })
    const rules: CallRules = {
      ...unasked,
      judge(call) {
        judged.push(turns)
        return unasked.judge(call)
      },
    }
    const tool = testTool({ name: 'slow', call: async () => ({ content: 'ok', isError: false }) })
    const parts = Array.from({ length: 7 }, (_, i) => ({ tool_call: { name: 'slow', arguments: { i } } }))
    const server = openEngine({ rules, tools: [tool], answers: [{ parts }, done] })
    serve()
    await server.events(await server.start('go'))
    isOver = true
    expect(new Set(judged).size).toBe(7)
    await server.close()
  })

  test('tells the model nothing of an unexpected error', async () => {
    const broken = testTool({
      name: 'broken',
      call: async () => {
        throw new Error('password is hunter2')
      },
    })
    const server = openEngine({ tools: [broken], answers: [call('broken'), done] })
    expect(results(await server.events(await server.start('go')))).toEqual(['TOOL_CALL_RESULT The tool failed.'])
    await server.close()
  })

  test('with a result over the limit gets a cut result that says so', async () => {
    const long = testTool({ name: 'long', call: async () => ({ content: 'x'.repeat(50), isError: false }) })
    const agent = { limits: { ...testAgent.limits, toolResultChars: 10 } }
    const server = openEngine({ agent, tools: [long], answers: [call('long'), done] })
    expect(results(await server.events(await server.start('go')))).toEqual([
      `TOOL_CALL_RESULT ${'x'.repeat(10)}\n[The result was cut here: 10 of 50 characters are shown.]`,
    ])
    await server.close()
  })

  test('is recorded with its status and how long it took', async () => {
    const look = testTool({ name: 'look', call: async () => ({ content: 'Nothing.', isError: true }) })
    const server = openEngine({ tools: [look], answers: [call('look'), done] })
    const accepted = await server.start('go')
    const event = (await server.events(accepted)).find(({ type }) => type === 'TOOL_CALL_RESULT')
    const recorded = { quarterdeck: { status: 'error', durationMs: expect.any(Number) } }
    expect(event?.metadata).toEqual(recorded)
    const stored = await server.engine.messages.page(accepted.session.id, 10)
    expect(stored.find(({ role }) => role === 'tool')?.metadata).toEqual(recorded)
    await server.close()
  })

  test('runs beside the others of its step, up to the limit', async () => {
    let now = 0
    let most = 0
    const slow = testTool({
      name: 'slow',
      call: async () => {
        now += 1
        most = Math.max(most, now)
        await new Promise((resolve) => setImmediate(resolve))
        now -= 1
        return { content: 'ok', isError: false }
      },
    })
    const parts = Array.from({ length: 7 }, (_, i) => ({ tool_call: { name: 'slow', arguments: { i } } }))
    const agent = { limits: { ...testAgent.limits, parallelCalls: 3 } }
    const server = openEngine({ agent, tools: [slow], answers: [{ parts }, done] })
    expect(results(await server.events(await server.start('go')))).toHaveLength(7)
    expect(most).toBe(3)
    await server.close()
  })
})

test('an answer is stored although its calls, which the middleware filters out, reach a limit', async () => {
  const server = openEngine({
    answers: [{ parts: [{ text: 'Let me look.' }, { tool_call: { name: 'look', arguments: {} } }] }],
    middleware: [createToolFilter({ deny: ['look'] })],
    agent: { limits: { ...testAgent.limits, identicalCalls: 1 } },
  })
  const accepted = await server.start('go')
  expect(outline(await server.events(accepted)).at(-1)).toBe('RUN_ERROR budget_exceeded')
  const stored = await server.store.messages.page(accepted.session.id, 10)
  expect(stored.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'go'],
    ['assistant', 'Let me look.'],
    ['assistant', 'Let me look.'],
  ])
  await server.close()
})

describe('what a tool says while it works', () => {
  test('reaches the client as events, until the call has ended', async () => {
    let late: () => void = () => {}
    const talkative = testTool({
      name: 'talk',
      call: async ({ voice }) => {
        voice.progress(1, 2, 'half')
        voice.emit('greeting', { hello: 'world' })
        voice.setState({ count: 1, list: [1] })
        voice.setState({ count: 2, list: [1] })
        late = () => voice.emit('late', 1)
        return { content: JSON.stringify(voice.state()), isError: false }
      },
    })
    const server = openEngine({ tools: [talkative], answers: [call('talk'), done] })
    const accepted = await server.start('go')
    const seen = await server.events(accepted)
    late()
    const said = seen.filter(({ type }) => /ACTIVITY|CUSTOM|STATE|RESULT/.test(type))
    expect(said).toMatchObject([
      { type: 'ACTIVITY_SNAPSHOT', activityType: 'PROGRESS', content: { done: 1, total: 2, message: 'half' } },
      { type: 'CUSTOM', name: 'greeting', value: { hello: 'world' } },
      { type: 'STATE_SNAPSHOT', snapshot: { count: 1, list: [1] } },
      { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/count', value: 2 }] },
      { type: 'TOOL_CALL_RESULT', content: '{"count":2,"list":[1]}' },
    ])
    expect((await server.engine.sessions.get('local_user', 'thread')).state).toEqual({ count: 2, list: [1] })
    await server.close()
  })

  test('cannot make the state too large: the call fails with the reason, and the state stays as it was', async () => {
    const greedy = testTool({
      name: 'fill',
      call: async ({ voice }) => {
        voice.setState({ small: true })
        voice.setState({ list: Array.from({ length: 300_000 }, (_, id) => ({ id, text: 'x'.repeat(80) })) })
        return { content: 'Filled.', isError: false }
      },
    })
    const server = openEngine({ tools: [greedy], answers: [call('fill'), done] })
    const seen = await server.events(await server.start('go'))
    expect(results(seen)).toEqual([
      'TOOL_CALL_RESULT The shared state was not changed, because it would be too large. It holds more than 100000 values.',
    ])
    expect(seen.filter(({ type }) => type.startsWith('STATE'))).toMatchObject([{ snapshot: { small: true } }])
    expect((await server.engine.sessions.get('local_user', 'thread')).state).toEqual({ small: true })
    await server.close()
  })

  test.each<[string, (voice: ToolVoice, value: string) => void]>([
    ['emit', (voice, value) => voice.emit('name', value)],
    ['activity', (voice, value) => voice.activity('id', 'type', { value })],
  ])('through %s has the same limit', async (_how, show) => {
    const loud = testTool({
      name: 'shout',
      call: async ({ voice }) => {
        show(voice, 'x'.repeat(2_000_000))
        return { content: 'Shown.', isError: false }
      },
    })
    const server = openEngine({ tools: [loud], answers: [call('shout'), done] })
    const seen = await server.events(await server.start('go'))
    expect(results(seen)).toEqual([
      'TOOL_CALL_RESULT The tool tried to show something that is too large. It is longer than 1 MB as JSON.',
    ])
    expect(seen.filter(({ type }) => /ACTIVITY|CUSTOM/.test(type))).toEqual([])
    await server.close()
  })

  test('is sent as the whole state if it changes in many places', async () => {
    const before = Array.from({ length: 2_000 }, (_, n) => n)
    const after = before.map((n) => n + 1)
    const busy = testTool({
      name: 'busy',
      call: async ({ voice }) => {
        voice.setState(before)
        voice.setState(after)
        return { content: 'Done.', isError: false }
      },
    })
    const server = openEngine({ tools: [busy], answers: [call('busy'), done] })
    const seen = await server.events(await server.start('go'))
    expect(seen.filter(({ type }) => type.startsWith('STATE'))).toMatchObject([
      { type: 'STATE_SNAPSHOT', snapshot: before },
      { type: 'STATE_SNAPSHOT', snapshot: after },
    ])
    await server.close()
  })

  test('is announced before the model writes, if a tool predicts state', async () => {
    const write = testTool({
      name: 'write',
      predictState: [{ stateKey: 'document', toolArgument: 'text' }],
      call: async () => ({ content: 'ok', isError: false }),
    })
    const server = openEngine({ tools: [write] })
    const [, announced] = await server.events(await server.start('go'))
    expect(announced).toMatchObject({
      type: 'CUSTOM',
      name: 'PredictState',
      value: [{ state_key: 'document', tool: 'write', tool_argument: 'text' }],
    })
    await server.close()
  })
})

test('the difference of two states is a patch', () => {
  expect(difference({ a: 1, 'b/c': [1, 2], d: { e: null } }, { 'b/c': [1, 3], d: { e: null, f: 1 } })).toEqual([
    { op: 'remove', path: '/a' },
    { op: 'replace', path: '/b~1c/1', value: 3 },
    { op: 'add', path: '/d/f', value: 1 },
  ])
  expect(difference([1], [1, 2])).toEqual([{ op: 'replace', path: '', value: [1, 2] }])
  expect(difference({ a: 1 }, { a: 1 })).toEqual([])
  expect(difference([1, 2, 3], [2, 3, 4], 2)).toBe(null)
  const below = (value: number) => ({ ['k'.repeat(100_000)]: Array(20).fill(value) })
  expect(difference(below(1), below(2))).toBe(null)
})

describe('an answer with a response format', () => {
  const responseFormat = { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] }
  const say = (text: string) => ({ parts: [{ text }] })

  test('that fits ends the run', async () => {
    const server = openEngine({ agent: { responseFormat }, answers: [say('{"answer":4}')] })
    expect(outline(await server.events(await server.start('go'))).at(-1)).toBe('RUN_FINISHED success')
    await server.close()
  })

  test('that does not fit is corrected in one more step', async () => {
    const requests: ModelRequest[] = []
    const server = openEngine({
      agent: { responseFormat },
      answers: [say('It is 4.'), say('{"answer":4}')],
      onRequest: (request) => requests.push(request),
    })
    const accepted = await server.start('go')
    expect(outline(await server.events(accepted)).at(-1)).toBe('RUN_FINISHED success')
    expect(requests[1]?.aside).toContain('It does not fit the required JSON Schema: it is not JSON.')
    const stored = await server.engine.messages.page(accepted.session.id, 10)
    expect(stored.map(({ content, brokenOff }) => [content, brokenOff ?? false])).toEqual([
      ['go', false],
      ['It is 4.', true],
      ['{"answer":4}', false],
    ])
    await server.close()
  })

  test('that does not fit twice ends the run with a clear error', async () => {
    const server = openEngine({ agent: { responseFormat }, answers: [say('It is 4.'), say('{"answer":"4"}')] })
    const last = (await server.events(await server.start('go'))).at(-1)
    expect(last).toMatchObject({
      type: 'RUN_ERROR',
      code: 'invalid_answer',
      message: expect.stringContaining('answer'),
    })
    await server.close()
  })
})
