import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import type { ModelSettings } from '../../domain/agent/agent.ts'
import { createSystemClock } from '../../domain/clock.ts'
import type { ExchangeHandlers } from '../../outgoing/exchange.ts'
import { turn, turns } from '../../outgoing/testing/ask.ts'
import { createAnthropicModel } from '../anthropic/anthropic.ts'
import { createGoogleModel } from '../google/google.ts'
import type { Model } from '../model.ts'
import { createOpenAiModel } from '../openai/openai.ts'
import { collect, emptyRequest, failureFrom } from '../testing/fixtures.ts'
import { listen, sendStream } from '../testing/loopback.ts'
import { openModelHttp } from '../testing/open-model-http.ts'
import { createPayloadStream } from './payload-stream.ts'

const clock = createSystemClock()
const never = new AbortController().signal

/**
 * A socket that sends `chunks`, one per turn of the event loop, and none while it is paused. `sendsOnResume`: it sends the next one
 * before `resume` returns, as undici does.
 */
function senderOf(chunks: readonly Buffer[], sendsOnResume = false) {
  let most = 0
  let unpausedBytes = 0
  const send = (handlers: ExchangeHandlers) => {
    let at = 0
    let paused = false
    let over = false
    const step = () => {
      if (over || paused) return
      const chunk = chunks[at++]
      if (chunk === undefined) {
        over = true
        return handlers.end()
      }
      unpausedBytes += chunk.length
      most = Math.max(most, unpausedBytes)
      handlers.body(chunk)
      setImmediate(step)
    }
    setImmediate(() => {
      handlers.head({ status: 200, headers: { 'content-type': 'text/event-stream' } })
      step()
    })
    return {
      pause() {
        paused = true
      },
      resume() {
        unpausedBytes = 0
        if (!paused) return
        paused = false
        if (sendsOnResume) step()
        else setImmediate(step)
      },
      destroy() {
        over = true
      },
    }
  }
  return { send, most: () => most }
}

describe('the payloads of an answer', () => {
  test('all arrive, whatever their sizes, wherever the bytes are cut, however slow the reader is', async () => {
    const size = fc.oneof(fc.nat(200), fc.integer({ min: 60_000, max: 70_000 }), fc.integer({ min: 1, max: 600_000 }))
    const answer = fc.record({
      sizes: fc.array(size, { minLength: 1, maxLength: 5 }),
      cut: fc.integer({ min: 700, max: 65_536 }),
      letter: fc.constantFrom('x', 'ü', '日', '😀'),
      pauses: fc.array(fc.nat(12), { minLength: 1, maxLength: 6 }),
      sendsOnResume: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(answer, async ({ sizes, cut, letter, pauses, sendsOnResume }) => {
        const payloads = sizes.map((length) => letter.repeat(Math.ceil(length / Buffer.byteLength(letter))))
        const bytes = Buffer.from(payloads.map((payload) => `data: ${payload}\n\n`).join(''))
        const chunks = Array.from({ length: Math.ceil(bytes.length / cut) }, (_, i) =>
          bytes.subarray(i * cut, (i + 1) * cut),
        )
        const got: string[] = []
        let takes = 0
        const { send } = senderOf(chunks, sendsOnResume)
        await createPayloadStream(send, clock, never, (batch) => {
          got.push(...batch)
          const pause = pauses[takes++ % pauses.length]
          return pause === 0 ? undefined : turns(pause)
        }).taken
        expect(got).toEqual(payloads.filter((payload) => payload !== ''))
      }),
      { numRuns: runs(60) },
    )
  })

  test('a reader that does not read pauses the socket, even in the middle of a long event', async () => {
    const chunks = [Buffer.from('data: 1\n\n'), ...Array.from({ length: 100 }, () => Buffer.alloc(10_000, 'x'))]
    const sender = senderOf(chunks)
    const batches: (readonly string[])[] = []
    createPayloadStream(sender.send, clock, never, (batch) => {
      batches.push(batch)
      return new Promise(() => {})
    })
    for (let i = 0; i < 200; i += 1) await turn()
    expect(batches).toEqual([['1']])
    expect(sender.most()).toBeLessThan(100_000)
  })

  test.each([
    ['after an abort', (controller: AbortController) => controller.abort()],
    ['after the end', () => {}],
  ])('%s the stream is over when what it had passed on is taken, and not before', async (_, stop) => {
    const controller = new AbortController()
    const taking = Promise.withResolvers<void>()
    const got: (readonly string[])[] = []
    let isOver = false
    const { taken } = createPayloadStream(
      senderOf([Buffer.from('data: 1\n\n')]).send,
      clock,
      controller.signal,
      (batch) => {
        got.push(batch)
        return taking.promise
      },
    )
    const over = taken.then(() => {
      isOver = true
    })
    await turns(3)
    stop(controller)
    await turns(3)
    expect([got, isOver]).toEqual([[['1']], false])
    taking.resolve()
    await over
  })

  test('a taker that fails is called no more, also when the answer had ended in the meantime', async () => {
    const taking = Promise.withResolvers<void>()
    const got: string[] = []
    const { send } = senderOf([Buffer.from('data: 1\n\n'), Buffer.from('data: 2\n\n')])
    const { taken } = createPayloadStream(send, clock, never, (batch) => {
      got.push(...batch)
      return taking.promise
    })
    await turns(5)
    taking.reject(new Error('full'))
    expect([await failureFrom(taken), got]).toEqual([new Error('full'), ['1']])
  })
})

const settings = (provider: string, baseUrl: string): ModelSettings => ({
  provider,
  name: 'm',
  baseUrl,
  apiKey: 'k',
  contextWindow: 1_000,
  retries: 0,
  firstTokenTimeoutMs: 1_000,
  tokenTimeoutMs: 1_000,
})

const ARGUMENTS = (size: number) => JSON.stringify({ text: 'x'.repeat(size) })

/** The events of an answer that calls a tool. The arguments come in one piece. */
const wires: { name: string; make: typeof createOpenAiModel; events(size: number): unknown[] }[] = [
  {
    name: 'openai',
    make: createOpenAiModel,
    events: (size) => [
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'One moment.' } }] },
      {
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [
                { index: 0, id: 'c1', type: 'function', function: { name: 'save', arguments: ARGUMENTS(size) } },
              ],
            },
          },
        ],
      },
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ],
  },
  {
    name: 'anthropic',
    make: createAnthropicModel,
    events: (size) => [
      { type: 'message_start', message: { id: 'm1', usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'c1', name: 'save', input: {} } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: ARGUMENTS(size) },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
  },
  {
    name: 'google',
    make: createGoogleModel,
    events: (size) => [
      { candidates: [{ content: { parts: [{ text: 'One moment.' }] } }] },
      {
        candidates: [
          {
            content: { parts: [{ functionCall: { name: 'save', args: { text: 'x'.repeat(size) } } }] },
            finishReason: 'STOP',
          },
        ],
      },
    ],
  },
]

describe.each(wires)('$name', ({ name, make, events }) => {
  async function argumentsFrom(size: number, pace: () => Promise<unknown>): Promise<string> {
    const server = await listen((response) =>
      sendStream(
        response,
        events(size).map((event) => JSON.stringify(event)),
      ),
    )
    const http = openModelHttp(clock)
    const model: Model = make(settings(name, server.url), { http, now: () => 0, newId: () => 'new' })
    try {
      let text = ''
      await model.stream(emptyRequest, never, async (parts) => {
        for (const part of parts) if (part.type === 'tool_call_args') text += part.delta
        await pace()
      })
      return text
    } finally {
      http.close()
      await server.close()
    }
  }

  test.each([100_000, 130_000, 1_000_000, 8_000_000])(
    'reads the arguments of a call that come in one piece of %i characters',
    async (size) => {
      expect((await argumentsFrom(size, turn)).length).toBe(ARGUMENTS(size).length)
      expect((await argumentsFrom(size, () => turns(50))) === ARGUMENTS(size)).toBe(true)
    },
  )

  test('tells the server of the trace', async () => {
    const server = await listen((response) =>
      sendStream(
        response,
        events(1).map((event) => JSON.stringify(event)),
      ),
    )
    const http = openModelHttp(clock)
    const model: Model = make(settings(name, server.url), { http, now: () => 0, newId: () => 'new' })
    const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=1' }
    for (const request of [emptyRequest, { ...emptyRequest, trace }]) await collect(model, request, never)
    http.close()
    await server.close()

    expect(server.requests.map(({ headers }) => [headers.traceparent, headers.tracestate])).toEqual([
      [undefined, undefined],
      [trace.traceparent, 'a=1'],
    ])
  })

  test('an event over the limit is an error that says so', async () => {
    expect(await failureFrom(argumentsFrom(17_000_000, turn))).toMatchObject({
      code: 'model_failed',
      message: expect.stringContaining('sent an event of more than 16 million characters'),
    })
  })
})
