// What a token costs on its way from the model's socket to whoever takes it.

import { createHook } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { createSystemClock } from '../../src/domain/clock.ts'
import { silentLogger } from '../../src/domain/logger.ts'
import { createOpenAiModel } from '../../src/models/openai/openai.ts'
import { createResilientModel } from '../../src/models/resilience/resilient-model.ts'
import { emptyRequest } from '../../src/models/testing/fixtures.ts'
import { openModelHttp } from '../../src/models/testing/open-model-http.ts'
import type { ModelHttp } from '../../src/models/wire/model-http.ts'
import { createPayloadStream } from '../../src/models/wire/payload-stream.ts'
import type { ExchangeHandlers } from '../../src/outgoing/exchange.ts'
import { streamLimits } from './limits.ts'

const READS = 200

test('promises of a token on its way from the socket are counted', async () => {
  const clock = createSystemClock()
  const socket = Promise.withResolvers<ExchangeHandlers>()
  const send = (handlers: ExchangeHandlers) => {
    socket.resolve(handlers)
    return { pause() {}, resume() {}, destroy() {} }
  }
  const http: ModelHttp = {
    ...openModelHttp(clock),
    stream: (_, signal, take) => createPayloadStream(send, clock, signal, take),
  }
  const timeouts = { retries: 0, firstTokenTimeoutMs: 60_000, tokenTimeoutMs: 60_000 }
  const settings = { provider: 'openai', name: 'm', baseUrl: 'http://model.test', contextWindow: 1_000, ...timeouts }
  const model = createResilientModel({
    primary: createOpenAiModel(settings, { http, now: () => 0, newId: () => 'new' }),
    fallback: null,
    settings,
    clock,
    random: () => 0,
    log: silentLogger,
  })
  const done = Promise.resolve()
  let taken = 0
  const streaming = model.stream(emptyRequest, new AbortController().signal, (parts) => {
    taken += parts.length
    return done
  })
  const { head, body, end } = await socket.promise
  head({ status: 200, headers: { 'content-type': 'text/event-stream' } })

  let promises = 0
  const counter = createHook({
    init(_, type) {
      if (type === 'PROMISE') promises += 1
    },
  })
  await new Promise<void>((resolve) => {
    let sent = 0
    counter.enable()
    setImmediate(function read() {
      if (sent++ === READS) return resolve()
      body(Buffer.from(`data: {"choices":[{"index":0,"delta":{"content":"word${sent} "}}]}\n\n`))
      setImmediate(read)
    })
  })
  counter.disable()
  body(Buffer.from('data: [DONE]\n\n'))
  end()
  await streaming

  expect(taken).toBe(READS + 1)
  // Others in this process make a few, too.
  expect(Math.floor(promises / READS)).toBeLessThanOrEqual(streamLimits.promisesPerRead)
})
