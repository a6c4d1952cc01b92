import { describe, expect, test } from 'vitest'
import { type ErrorCode, ServerError } from '../../domain/errors.ts'
import { silentLogger } from '../../domain/logger.ts'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import { modelFailure } from '../failure.ts'
import { type Model, type ModelPart, streamOf } from '../model.ts'
import type { ScriptedAnswer, ScriptedPart } from '../scripted/script.ts'
import { collect, emptyRequest, failureFrom } from '../testing/fixtures.ts'
import { createManualClock, type ManualClock } from '../testing/manual-clock.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createResilientModel } from './resilient-model.ts'

const hello: ScriptedAnswer = { parts: [{ text: 'Hello' }] }
const answered: ModelPart[] = [
  { type: 'text', delta: 'Hello' },
  { type: 'finish', reason: 'stop' },
]

const broken = (code: ErrorCode, retryable = true, after?: number): ScriptedAnswer => ({
  parts: [{ error: { code, retryable, ...(after === undefined ? {} : { after }) } }],
})

interface Setup {
  clock: ManualClock
  model: Model
  /** Times, in ms since the start, when the primary and the fallback were asked. */
  asked: number[]
  askedFallback: number[]
  lines: LogLine[]
}

function setUp(
  answers: ScriptedAnswer[],
  options: { retries?: number; random?: number; fallback?: ScriptedAnswer[] } = {},
): Setup {
  const clock = createManualClock()
  const asked: number[] = []
  const askedFallback: number[] = []
  const lines: LogLine[] = []
  const fallback = options.fallback
  const model = createResilientModel({
    primary: scriptedModel({ answers, clock, name: 'first', onRequest: () => asked.push(clock.mono()) }),
    fallback:
      fallback === undefined
        ? null
        : scriptedModel({
            answers: fallback,
            clock,
            name: 'second',
            onRequest: () => askedFallback.push(clock.mono()),
          }),
    settings: { retries: options.retries ?? 2, firstTokenTimeoutMs: 60_000, tokenTimeoutMs: 10_000 },
    clock,
    random: () => options.random ?? 1,
    log: recordingLogger(lines),
  })
  return { clock, model, asked, askedFallback, lines }
}

const never = new AbortController().signal

const modelOf = (parts: (signal: AbortSignal) => AsyncIterable<readonly ModelPart[]>): Model => ({
  provider: 'test',
  name: 'first',
  stream: streamOf((_, signal) => parts(signal)),
  check: () => Promise.resolve(),
})

async function play({ clock, model }: Setup, signal = never): Promise<ModelPart[]> {
  const done = collect(model, emptyRequest, signal)
  done.catch(() => {})
  await clock.advance(600_000)
  return done
}

describe('resilient model', () => {
  test('passes a good answer on unchanged', async () => {
    const setup = setUp([hello])
    expect([setup.model.provider, setup.model.name]).toEqual(['scripted', 'first'])
    expect(await play(setup)).toEqual(answered)
    expect(setup.clock.pending).toBe(0)
  })

  test.each<ErrorCode>(['model_rate_limited', 'model_failed', 'model_unreachable', 'model_stream_dropped'])(
    'asks again after %s, waiting twice as long each time',
    async (code) => {
      const setup = setUp([broken(code), broken(code), broken(code), hello], { retries: 3 })
      expect(await play(setup)).toEqual(answered)
      expect(setup.asked).toEqual([0, 500, 1500, 3500])
    },
  )

  test('makes half of the wait random, and waits at most eight seconds', async () => {
    const answers = Array.from({ length: 6 }, () => broken('model_failed'))
    const lucky = setUp([...answers, hello], { retries: 6, random: 0 })
    await play(lucky)
    expect(lucky.asked).toEqual([0, 250, 750, 1750, 3750, 7750, 11_750])
  })

  test('waits as long as the server asks, up to a minute', async () => {
    const setup = setUp([broken('model_rate_limited', true, 60), broken('model_failed', true, 0.1), hello])
    expect(await play(setup)).toEqual(answered)
    expect(setup.asked).toEqual([0, 60_000, 61_000])
  })

  test('does not wait for more than a minute: it fails over, or fails', async () => {
    const alone = setUp([broken('model_rate_limited', true, 61), hello])
    expect(await failureFrom(play(alone))).toMatchObject({ code: 'model_rate_limited', details: { retryAfter: 61 } })
    const helped = setUp([broken('model_rate_limited', true, 61), hello], { fallback: [hello] })
    expect(await play(helped)).toEqual(answered)
    expect([helped.asked, helped.askedFallback]).toEqual([[0], [0]])
  })

  test('tries a server that could not be connected to again, or asks the fallback at once', async () => {
    const about = { provider: 'test', model: 'first' }
    const unconnected = () =>
      modelFailure('model_unreachable', 'No connection.', about, { retryable: true, connectTimeout: true })
    const clock = createManualClock()
    const asked: number[] = []
    const options = {
      primary: modelOf(async function* () {
        asked.push(clock.mono())
        yield []
        throw unconnected()
      }),
      settings: { retries: 2, firstTokenTimeoutMs: 60_000, tokenTimeoutMs: 10_000 },
      clock,
      random: () => 1,
      log: silentLogger,
    }
    const alone = failureFrom(collect(createResilientModel({ ...options, fallback: null }), emptyRequest, never))
    await clock.advance(60_000)
    expect([(await alone) instanceof ServerError, asked.splice(0)]).toEqual([true, [0, 500, 1500]])
    const fallback = scriptedModel({ answers: [hello], clock, name: 'second' })
    expect(await collect(createResilientModel({ ...options, fallback }), emptyRequest, never)).toEqual(answered)
    expect(asked).toHaveLength(1)
  })

  test('a sign of life restarts the wait, before the first part and between two parts', async () => {
    const clock = createManualClock()
    const silent = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve))
    const model = createResilientModel({
      primary: modelOf(async function* () {
        for (let i = 0; i < 5; i += 1) {
          await silent(50_000)
          yield []
        }
        yield [{ type: 'text', delta: 'Hello' }]
        for (let i = 0; i < 5; i += 1) {
          await silent(9_000)
          yield []
        }
        yield [{ type: 'finish', reason: 'stop' }]
      }),
      fallback: null,
      settings: { retries: 0, firstTokenTimeoutMs: 60_000, tokenTimeoutMs: 10_000 },
      clock,
      random: () => 1,
      log: silentLogger,
    })
    const batches: (readonly ModelPart[])[] = []
    const reading = (async () => {
      await model.stream(emptyRequest, never, (parts) => {
        batches.push(parts)
      })
    })()
    for (let i = 0; i < 40; i += 1) await clock.advance(10_000)
    await reading
    expect(batches).toEqual([[{ type: 'text', delta: 'Hello' }], [{ type: 'finish', reason: 'stop' }]])
  })

  test('gives up after the last attempt with the last failure', async () => {
    const setup = setUp([broken('model_failed'), broken('model_failed'), broken('model_unreachable'), hello])
    expect(await failureFrom(play(setup))).toMatchObject({ code: 'model_unreachable' })
    expect(setup.asked).toHaveLength(3)
  })

  test('does not ask again when it would not help, nor when no retries are allowed', async () => {
    for (const answer of [broken('model_auth_failed', false), broken('model_rate_limited', false)]) {
      const setup = setUp([answer, hello])
      expect(await failureFrom(play(setup))).toBeInstanceOf(ServerError)
      expect(setup.asked).toEqual([0])
    }
    const setup = setUp([broken('model_failed'), hello], { retries: 0 })
    expect(await failureFrom(play(setup))).toMatchObject({ code: 'model_failed' })
  })

  test('asks the fallback when the attempts are used up', async () => {
    const setup = setUp([broken('model_failed'), broken('model_failed')], { retries: 1, fallback: [hello] })
    expect(await play(setup)).toEqual(answered)
    expect([setup.asked, setup.askedFallback]).toEqual([[0, 500], [500]])
  })

  test.each<ErrorCode>(['model_refused', 'model_bad_request', 'model_context_overflow'])(
    'does not ask the fallback after %s',
    async (code) => {
      const setup = setUp([broken(code, false)], { fallback: [hello] })
      expect(await failureFrom(play(setup))).toMatchObject({ code })
      expect(setup.askedFallback).toEqual([])
    },
  )

  test('passes on a failure in the middle of an answer, without another attempt or the fallback', async () => {
    const setup = setUp([{ parts: [{ text: 'Hel' }, { drop: true }] }, hello], { fallback: [hello] })
    const parts: ModelPart[] = []
    const reading = failureFrom(async () => {
      await setup.model.stream(emptyRequest, never, (batch) => {
        parts.push(...batch)
      })
    })
    await setup.clock.advance(60_000)
    expect(await reading).toMatchObject({ code: 'model_stream_dropped' })
    expect(parts).toEqual([{ type: 'text', delta: 'Hel' }])
    expect([setup.asked, setup.askedFallback]).toEqual([[0], []])
  })

  test('asks again when only usage came before the failure, and counts the usage of the good answer', async () => {
    const usage = (input: number): ScriptedPart => ({ usage: { input, output: 0 } })
    const setup = setUp([
      { parts: [usage(1), { error: { code: 'model_failed', retryable: true } }] },
      { parts: [usage(2), { text: 'Hello' }] },
    ])
    expect(await play(setup)).toEqual([{ type: 'usage', usage: { inputTokens: 2, outputTokens: 0 } }, ...answered])
  })

  test('passes on an error that is not a failure of a model', async () => {
    const bug = new TypeError('bug')
    const setup = setUp([hello], { fallback: [hello] })
    const primary: Model = {
      ...setup.model,
      async stream() {
        throw bug
      },
    }
    const { clock } = setup
    const settings = { retries: 2, firstTokenTimeoutMs: 1, tokenTimeoutMs: 1 }
    const model = createResilientModel({
      primary,
      fallback: setup.model,
      settings,
      clock,
      random: () => 1,
      log: silentLogger,
    })
    expect(await failureFrom(collect(model, emptyRequest, never))).toBe(bug)
  })
})

describe('resilient model: log', () => {
  const about = { provider: 'scripted', model: 'first' }

  test('a good answer is one line with its tokens, time and finish reason, and no text of it', async () => {
    const setup = setUp([{ parts: [{ usage: { input: 7, output: 2 } }, { text: 'Hello' }] }])
    await play(setup)
    const fields = { ...about, input_tokens: 7, output_tokens: 2, latency_ms: 0, outcome: 'completed', finish: 'stop' }
    expect(setup.lines).toEqual([{ level: 'info', message: 'model call', fields }])
  })

  test('the lines have the ids of their request', async () => {
    const { model, lines } = setUp([hello])
    const own: LogLine[] = []
    await collect(model, { ...emptyRequest, log: recordingLogger(own, { run_id: 'r' }) }, never)
    expect(lines).toEqual([])
    expect(own).toMatchObject([{ message: 'model call', fields: { run_id: 'r', outcome: 'completed' } }])
  })

  test('a failure is logged with its reason, and so is each attempt before it', async () => {
    const setup = setUp([broken('model_failed'), broken('model_auth_failed', false)])
    await failureFrom(play(setup))
    const reason = expect.any(String)
    const again = { ...about, code: 'model_failed', reason, attempt: 1, wait_ms: 500 }
    const failed = { ...about, latency_ms: 500, outcome: 'failed', code: 'model_auth_failed', reason }
    expect(setup.lines).toEqual([
      { level: 'warn', message: 'model is asked again', fields: again },
      { level: 'warn', message: 'model call', fields: failed },
    ])
  })

  test('the text of a refusal is not logged', async () => {
    const setup = setUp([{ parts: [{ error: { code: 'model_refused', message: 'It asked for a bomb.' } }] }])
    await failureFrom(play(setup))
    expect(setup.lines).toMatchObject([
      { level: 'warn', fields: { code: 'model_refused', reason: 'The model declined to answer.' } },
    ])
  })

  test.each([
    ['later', () => Promise.reject(new Error('full'))],
    [
      'at once',
      () => {
        throw new Error('full')
      },
    ],
  ])(
    'a taker that fails %s ends the answer with its own error, which is not a failure of the model',
    async (_, take) => {
      const setup = setUp([hello], { fallback: [hello] })
      expect(await failureFrom(setup.model.stream(emptyRequest, never, take))).toEqual(new Error('full'))
      expect(setup.lines).toMatchObject([{ level: 'info', message: 'model call', fields: { outcome: 'stopped' } }])
      expect([setup.asked, setup.askedFallback, setup.clock.pending]).toEqual([[0], [], 0])
    },
  )
})

describe('resilient model: time', () => {
  test('waits for the first part up to the timeout, then asks the fallback without a retry', async () => {
    const late = (ms: number): ScriptedAnswer => ({ parts: [{ delay_ms: ms }, { text: 'Hello' }] })
    expect(await play(setUp([late(59_999)]))).toEqual(answered)
    const setup = setUp([{ parts: [{ hang: true }] }, hello], { fallback: [hello] })
    expect(await play(setup)).toEqual(answered)
    expect([setup.asked, setup.askedFallback]).toEqual([[0], [60_000]])
  })

  test('says which setting to change', async () => {
    expect(await failureFrom(play(setUp([{ parts: [{ hang: true }] }])))).toMatchObject({
      code: 'model_timeout',
      message:
        'The model first did not begin to answer within 60 s. A slow model needs a longer model.first_token_timeout.',
      details: { provider: 'scripted', model: 'first', retryable: true },
    })
    expect(await failureFrom(play(setUp([{ parts: [{ text: 'a' }, { hang: true }] }])))).toMatchObject({
      code: 'model_timeout',
      message:
        'The model first sent nothing for 10 s in the middle of its answer. A slow model needs a longer model.token_timeout.',
    })
  })

  test('limits the silence between parts, not the length of the answer', async () => {
    const steady = setUp([{ parts: [{ text: 'x', repeat: 20, delay_ms: 9_999 }] }])
    expect(await play(steady)).toHaveLength(21)
    const setup = setUp([
      { parts: [{ text: 'a' }, { delay_ms: 9_000 }, { text: 'b' }, { delay_ms: 10_001 }, { text: 'c' }] },
    ])
    const parts: ModelPart[] = []
    const reading = failureFrom(async () => {
      await setup.model.stream(emptyRequest, never, (batch) => {
        parts.push(...batch)
      })
    })
    await setup.clock.advance(18_999)
    expect(parts).toHaveLength(2)
    await setup.clock.advance(1)
    expect(await reading).toMatchObject({ code: 'model_timeout' })
    expect(setup.clock.pending).toBe(0)
  })

  test('does not count the time its reader takes', async () => {
    const { clock, model } = setUp([{ parts: [{ text: 'a' }, { text: 'b' }, { delay_ms: 9_999 }] }])
    const taken: ModelPart[] = []
    const reading = model.stream(emptyRequest, never, (parts) => {
      taken.push(...parts)
      return new Promise<void>((resolve) => clock.after(3_600_000, resolve))
    })
    await clock.advance(3 * 3_600_000 + 9_999)
    await reading
    expect(taken).toEqual([
      { type: 'text', delta: 'a' },
      { type: 'text', delta: 'b' },
      { type: 'finish', reason: 'stop' },
    ])
  })
})

describe('resilient model: abort', () => {
  test.each<[string, ScriptedAnswer[]]>([
    ['while it waits for the first part', [{ parts: [{ hang: true }] }]],
    ['between two attempts', [broken('model_rate_limited', true, 30), hello]],
    ['in the middle of an answer', [{ parts: [{ text: 'a' }, { hang: true }] }]],
  ])('ends at once %s and leaves nothing behind', async (_, answers) => {
    const setup = setUp(answers, { fallback: [hello] })
    const controller = new AbortController()
    const reading = collect(setup.model, emptyRequest, controller.signal)
    await setup.clock.advance(100)
    controller.abort()
    expect((await reading).filter((part) => part.type === 'finish')).toEqual([])
    expect([setup.asked, setup.askedFallback, setup.clock.pending]).toEqual([[0], [], 0])
  })

  test('does not hide that the parts before it could not be taken', async () => {
    const clock = createManualClock()
    const primary: Model = {
      ...modelOf(async function* () {}),
      // After an abort a model may end in any way.
      stream: async (_, __, take) => void (await take([{ type: 'text', delta: 'a' }])?.catch(() => {})),
    }
    const settings = { retries: 0, firstTokenTimeoutMs: 1000, tokenTimeoutMs: 1000 }
    const model = createResilientModel({ primary, fallback: null, settings, clock, random: () => 0, log: silentLogger })
    const controller = new AbortController()
    const reading = model.stream(emptyRequest, controller.signal, () => {
      controller.abort()
      return Promise.reject(new Error('full'))
    })
    expect(await failureFrom(reading)).toEqual(new Error('full'))
  })

  test('passes the abort on to the model it asks', async () => {
    const clock = createManualClock()
    let seen: AbortSignal | undefined
    const primary = modelOf(async function* (signal) {
      seen = signal
      yield [{ type: 'text', delta: 'a' }]
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    })
    const settings = { retries: 0, firstTokenTimeoutMs: 1000, tokenTimeoutMs: 1000 }
    const model = createResilientModel({ primary, fallback: null, settings, clock, random: () => 0, log: silentLogger })
    const controller = new AbortController()
    const reading = collect(model, emptyRequest, controller.signal)
    await clock.advance(0)
    expect(seen?.aborted).toBe(false)
    controller.abort()
    expect(seen?.aborted).toBe(true)
    expect(await reading).toEqual([{ type: 'text', delta: 'a' }])
  })
})

describe('resilient model: check', () => {
  const checking = (check: Model['check']): Model => ({ ...setUp([]).model, check })
  const down = () =>
    Promise.reject(modelFailure('model_unreachable', 'down', { provider: 'p', model: 'm' }, { retryable: true }))

  function checked(primary: Model['check'], fallback: Model['check'] | null) {
    const clock = createManualClock()
    const settings = { retries: 2, firstTokenTimeoutMs: 5_000, tokenTimeoutMs: 1 }
    const model = createResilientModel({
      primary: checking(primary),
      fallback: fallback === null ? null : checking(fallback),
      settings,
      clock,
      random: () => 0,
      log: silentLogger,
    })
    const result = failureFrom(model.check(never))
    return clock.advance(5_000).then(() => result)
  }

  test('passes when one of the two models can answer, and otherwise throws the failure of the first', async () => {
    const up = () => Promise.resolve()
    expect(await checked(up, null)).toBeNull()
    expect(await checked(down, up)).toBeNull()
    expect(await checked(down, null)).toMatchObject({ code: 'model_unreachable' })
    expect(await checked(down, () => Promise.reject(new Error('other')))).toMatchObject({ code: 'model_unreachable' })
  })

  test('does not take longer than an answer may take to begin', async () => {
    const hang = (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    expect(await checked(hang, null)).toMatchObject({ code: 'model_timeout' })
  })
})
