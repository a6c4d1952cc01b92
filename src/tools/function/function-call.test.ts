import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { createFunctionCall } from './function-call.ts'
import { callOf, deps } from './testing/fakes.ts'
import type { ToolContext } from './tool-context.ts'
import { ToolError } from './tool-error.ts'

type Run = (args: Record<string, unknown>, context: ToolContext) => unknown

/** Calls a function. */
async function outcomeOf(run: Run, args: Record<string, unknown> = {}, signal = new AbortController().signal) {
  const request = callOf(args)
  const call = createFunctionCall({
    name: 'look_up',
    run: (...all) => Reflect.apply(run, undefined, all),
    check: null,
    strays: deps.strays,
  })
  return { outcome: await call(request, signal), heard: request.heard, request }
}

describe('the result', () => {
  test.each([
    ['a string as it is', 'a "b"\n', 'a "b"\n'],
    ['an empty text for undefined', undefined, ''],
    ['JSON for null', null, 'null'],
    ['JSON for an object', { a: [1, null, {}], b: new Date(0) }, '{"a":[1,null,{}],"b":"1970-01-01T00:00:00.000Z"}'],
    ['JSON for a number', 7, '7'],
    ['JSON for false', false, 'false'],
    ['JSON for an object without a prototype', Object.assign(Object.create(null), {}), '{}'],
  ])('is %s', async (_, value, content) => {
    expect((await outcomeOf(() => value)).outcome).toEqual({ content, isError: false })
    expect((await outcomeOf(async () => value)).outcome).toEqual({ content, isError: false })
  })

  test('is turned into JSON only as far as it is kept, and says that it is cut', async () => {
    let looked = 0
    const row = Object.defineProperty({ a: 1 }, 'b', { enumerable: true, get: () => (looked += 1) })
    const { outcome } = await outcomeOf(() => Array.from({ length: 300_000 }, () => row))
    expect([outcome.content.length, outcome.isCut, looked < 5_000]).toEqual([50_000, true, true])
  })

  const cycle: Record<string, unknown> = { secret: 'x' }
  cycle.self = cycle
  test.each([
    ['a BigInt', { a: 1n }, 'it holds a BigInt or refers to itself'],
    ['a cycle', cycle, 'it holds a BigInt or refers to itself'],
    ['a function', () => 1, 'a function is not JSON'],
    ['a Map', { a: new Map([[1, 2]]) }, 'JSON cannot carry a Map'],
    ['a Response', new Response('x'), 'JSON cannot carry a Response'],
    ['a promise in an object', { a: Promise.resolve(1) }, 'JSON cannot carry a Promise'],
    ['an Error', [new Error('x')], 'JSON cannot carry a Error'],
  ])('is an error for the model and a line in the log when it is %s', async (_, value, problem) => {
    const { outcome, heard } = await outcomeOf(() => value)
    expect(outcome).toEqual({
      content: `The tool has done its work, but its result cannot be sent: ${problem}.`,
      isError: true,
    })
    expect(heard).toEqual([['error', 'a tool gave back what cannot be sent', { call_id: 'call-1', problem }]])
  })
})

describe('a failure', () => {
  test('is shown to the model when it is a ToolError', async () => {
    const thrown = () => {
      throw new ToolError('Rome is closed.')
    }
    expect((await outcomeOf(thrown)).outcome).toEqual({ content: 'Rome is closed.', isError: true })
  })

  test('is shown to the model when another copy of the class was thrown', async () => {
    const copy = Object.assign(new Error('Rome is closed.'), { name: 'ToolError' })
    expect((await outcomeOf(() => Promise.reject(copy))).outcome).toEqual({ content: 'Rome is closed.', isError: true })
  })

  test('is left to the engine when it is any other error', async () => {
    const error = new Error('password=hunter2')
    await expect(outcomeOf(() => Promise.reject(error))).rejects.toBe(error)
    const known = new ServerError('tool_failed', 'The office is closed.')
    await expect(outcomeOf(() => Promise.reject(known))).rejects.toBe(known)
  })

  test('comes before the function runs when the call has already ended', async () => {
    let called = false
    const run = () => {
      called = true
    }
    await expect(outcomeOf(run, {}, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
    expect(called).toBe(false)
  })
})

describe('the context', () => {
  test('says which session, run, user and agent the call belongs to', async () => {
    const given: ToolContext[] = []
    await outcomeOf((_, context) => void given.push(context))
    const { session, run, user, agent, callId, forwardedProps } = given[0] ?? {}
    expect({ session, run, user, agent, callId, forwardedProps }).toEqual({
      session: 'session-1',
      run: 'run-1',
      user: 'ada',
      agent: 'assistant',
      callId: 'call-1',
      forwardedProps: { theme: 'dark' },
    })
  })

  test('has the headers of the trace, or null', async () => {
    const given: ToolContext[] = []
    await outcomeOf((_, context) => void given.push(context))
    expect(given[0]?.trace).toBe(null)
  })

  test('has a signal that aborts with the call, and for the same reason', async () => {
    const stop = new AbortController()
    const reason = new Error('stopped')
    const run = (_: unknown, { signal }: ToolContext) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(String(signal.reason === reason)))
        stop.abort(reason)
      })
    expect((await outcomeOf(run, {}, stop.signal)).outcome.content).toBe('true')
  })

  test('has functions that work without the object', async () => {
    const { heard } = await outcomeOf((_, { emit, activity, progress, log }) => {
      emit('found', { n: 1 })
      activity('plan', 'PLAN', { steps: 2 })
      progress(1)
      progress(2, 3, 'almost')
      log.error('oh', { n: 1 })
    })
    expect(heard).toEqual([
      ['emit', 'found', { n: 1 }],
      ['activity', 'plan', 'PLAN', { steps: 2 }],
      ['progress', 1, undefined, undefined],
      ['progress', 2, 3, 'almost'],
      ['error', 'oh', { n: 1 }],
    ])
  })

  test('shares what a function changed in the state when it returns, and nothing when it throws', async () => {
    const change = (context: ToolContext) => {
      const { state } = context
      if (typeof state === 'object' && state !== null) Object.assign(state, { seen: ['z'] })
    }
    const { heard } = await outcomeOf((_, context) => change(context))
    expect(heard).toEqual([['state', { seen: ['a'] }, { seen: ['z'] }]])
    const { heard: unheard } = await outcomeOf((_, context) => {
      change(context)
      throw new ToolError('No.')
    })
    expect(unheard).toEqual([])
  })

  test('has an empty state if the session has none', async () => {
    const add = (_args: unknown, { state }: ToolContext<{ count?: number }>) => {
      state.count = (state.count ?? 0) + 1
    }
    for (const none of [undefined, null]) {
      const request = callOf({})
      request.voice.setState(none)
      const count = createFunctionCall({
        name: 'count',
        run: (...all) => Reflect.apply(add, undefined, all),
        check: null,
        strays: deps.strays,
      })
      expect(await count(request, new AbortController().signal)).toMatchObject({ isError: false })
      expect(request.heard.slice(1)).toEqual([['state', none, { count: 1 }]])
    }
  })

  test('has the current state, and setState shares at once', async () => {
    const { heard } = await outcomeOf((_, context) => {
      const state = context.state
      if (typeof state !== 'object' || state === null || !('seen' in state) || !Array.isArray(state.seen)) return
      state.seen.push('b')
      context.setState(state)
      context.setState({ last: context.state })
    })
    expect(heard).toEqual([
      ['state', { seen: ['a'] }, { seen: ['a', 'b'] }],
      ['state', { seen: ['a', 'b'] }, { last: { seen: ['a', 'b'] } }],
    ])
  })
})

test('a function that changes its arguments changes its own copy', async () => {
  const { outcome, request } = await outcomeOf(
    (args) => {
      args.city = 'Oslo'
      return args
    },
    { city: 'Rome' },
  )
  expect([outcome.content, request.arguments]).toEqual(['{"city":"Oslo"}', { city: 'Rome' }])
})

describe('an error that the function does not catch', () => {
  /** What the process does when it hears of one, in the context of that one. */
  const hear = (error: unknown) => deps.strays.take(error)

  test('ends the open call and aborts its signal', async () => {
    const { promise: stopped, resolve } = Promise.withResolvers<unknown>()
    const error = new Error('password=hunter2')
    const run = async (_: unknown, { signal }: ToolContext) => {
      signal.addEventListener('abort', () => resolve(signal.reason))
      setImmediate(() => hear(error))
      await new Promise(() => {})
    }
    await expect(outcomeOf(run)).rejects.toBe(error)
    expect(await stopped).toBe(error)
  })

  test('goes to the model when it is a ToolError', async () => {
    const run = async () => {
      queueMicrotask(() => hear(new ToolError('Rome is closed.')))
      await new Promise(() => {})
    }
    expect((await outcomeOf(run)).outcome).toEqual({ content: 'Rome is closed.', isError: true })
  })

  test('is logged and counted when the call has ended, a few lines at most', async () => {
    const { promise: later, resolve } = Promise.withResolvers<boolean[]>()
    const before = deps.strays.late.look_up ?? 0
    const { outcome, heard } = await outcomeOf(() => {
      setImmediate(() => resolve(Array.from({ length: 10 }, () => hear(new Error('late')))))
      return 'done'
    })
    expect([outcome.content, await later]).toEqual(['done', Array.from({ length: 10 }, () => true)])
    expect(deps.strays.late.look_up).toBe(before + 10)
    expect(heard).toHaveLength(3)
    expect(heard[0]).toEqual([
      'error',
      expect.stringContaining('after its call had ended'),
      { error: new Error('late') },
    ])
  })

  test('counts as late when the call was stopped in the meantime', async () => {
    const stop = new AbortController()
    const taken: boolean[] = []
    const before = deps.strays.late.look_up ?? 0
    const run = async () => {
      stop.abort(new Error('stopped'))
      taken.push(hear(new Error('late')))
      throw new Error('stopped')
    }
    await expect(outcomeOf(run, {}, stop.signal)).rejects.toThrow('stopped')
    expect([taken, (deps.strays.late.look_up ?? 0) - before]).toEqual([[true], 1])
  })

  test('does not belong to the call when the server’s own code made it', async () => {
    expect(hear(new Error('ours'))).toBe(false)
    const taken: boolean[] = []
    const request = callOf({})
    const voice = { ...request.voice, emit: () => void taken.push(hear(new Error('ours'))) }
    const call = createFunctionCall({
      name: 'look_up',
      run: (_, context) => Reflect.get(Object(context), 'emit')('x', 1),
      check: null,
      strays: deps.strays,
    })
    await call({ ...request, voice }, new AbortController().signal)
    expect(taken).toEqual([false])
  })
})
