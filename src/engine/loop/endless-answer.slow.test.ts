// Models that write without end, over a real socket.

import { createServer, type ServerResponse } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createIds } from '../../domain/ids.ts'
import { silentLogger } from '../../domain/logger.ts'
import { createComplete } from '../../models/complete.ts'
import { createModel } from '../../models/create-model.ts'
import { openModelHttp } from '../../models/testing/open-model-http.ts'
import { openServer } from '../../outgoing/testing/raw-server.ts'
import { openEngine, outline, testAgent, testTool } from '../testing/open-engine.ts'

const clock = createSystemClock()
const never = new AbortController().signal

const event = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`

/** Sends the pieces again and again until the reader is gone. */
async function endlessModel(...pieces: (object | string)[]) {
  const gone = Promise.withResolvers<void>()
  const text = pieces.map((piece) => (typeof piece === 'string' ? piece : event(piece))).join('')
  const more = (response: ServerResponse): void => {
    while (!response.destroyed && response.write(text));
    response.once('drain', () => more(response))
  }
  const server = createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.on('close', () => gone.resolve())
    request.resume().on('end', () => more(response))
  })
  const { port, close } = await openServer(server)
  const http = openModelHttp(clock)
  const settings = {
    ...testAgent.model,
    provider: 'openai' as const,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: 'none',
  }
  const deps = { http, clock, ids: createIds(() => 0), random: () => 0, log: silentLogger, directory: '/' }
  return {
    model: await createModel(settings, deps),
    /** Resolves when the reader has disconnected. */
    gone: gone.promise,
    [Symbol.asyncDispose]: async () => {
      http.close()
      await close()
    },
  }
}

const agent = { limits: { ...testAgent.limits, answerChars: 50_000 } }
const call = (args: string, name?: string) => ({
  tool_calls: [{ index: 0, id: 'c', function: { arguments: args, name } }],
})

describe('a model that writes without end', () => {
  test('is cut off at the limit, the run says which limit, and the text so far stays', async () => {
    await using endless = await endlessModel({ content: 'word '.repeat(20) })
    const server = openEngine({ model: endless.model, agent })
    const run = await server.start('go')
    const seen = await server.events(run)
    await endless.gone

    expect(seen.at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      code: 'budget_exceeded',
      message:
        'The run reached its limit of 50000 characters written by the model. Raise limits.answer_chars in agent.yaml if it should go on longer.',
    })
    const shown = seen.flatMap((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [event.delta] : [])).join('')
    expect(shown).toBe('word '.repeat(10_000))
    const stored = await server.store.messages.page(run.session.id, 10)
    expect(stored).toMatchObject([{ role: 'user' }, { role: 'assistant', content: shown, brokenOff: true }])
    await server.close()
  })

  test.each([
    ['thinks', [{ reasoning_content: 'hm '.repeat(50) }]],
    ['writes arguments', [call('x'.repeat(100), 'look')]],
    ['calls tools', [{ tool_calls: [{ id: '', function: { name: 'look', arguments: '{}' } }] }]],
  ])('also when it %s', async (_what, pieces) => {
    await using endless = await endlessModel(...pieces)
    const look = testTool({ name: 'look', call: async () => ({ content: '', isError: false }) })
    const server = openEngine({ model: endless.model, agent, tools: [look] })
    expect(outline(await server.events(await server.start('go'))).at(-1)).toBe('RUN_ERROR budget_exceeded')
    await endless.gone
    await server.close()
  })

  test('in one part is cut at the limit', async () => {
    const server = openEngine({ answers: [{ parts: [{ text: '😀'.repeat(100_000) }] }], agent })
    const run = await server.start('go')
    expect(outline(await server.events(run)).at(-1)).toBe('RUN_ERROR budget_exceeded')
    const [, said] = await server.store.messages.page(run.session.id, 10)
    expect(said?.content).toBe('😀'.repeat(25_000))
    await server.close()
  })

  test('is limited for the whole run, not for each step', async () => {
    const words = { parts: [{ text: 'x'.repeat(20_000) }, { tool_call: { name: 'look' } }] }
    const look = testTool({ name: 'look', call: async () => ({ content: '', isError: false }) })
    const server = openEngine({ answers: [words, words, words, words], agent, tools: [look] })
    const seen = outline(await server.events(await server.start('go')))
    expect(seen.at(-1)).toBe('RUN_ERROR budget_exceeded')
    expect(seen.filter((line) => line.startsWith('TOOL_CALL_RESULT')).length).toBe(2)
    await server.close()
  })

  test('in a prompt tool is cut off as well', async () => {
    await using endless = await endlessModel({ content: 'word '.repeat(20) })
    await expect(createComplete(endless.model, 50_000)('go', never, silentLogger)).rejects.toMatchObject({
      code: 'budget_exceeded',
    })
    await endless.gone
  })

  const usage = { usage: { prompt_tokens: 1, completion_tokens: 1 } }
  test.each([
    ['refuses', [{ refusal: 'no '.repeat(10_000) }]],
    ['refuses between words', [{ content: 'x' }, { refusal: 'no '.repeat(100_000) }]],
    ['refuses and counts', [event({ refusal: 'no '.repeat(10_000) }, usage)]],
    ['counts', [event({}, usage).repeat(100)]],
    ['says that it is still there', [': keepalive\n\n'.repeat(1_000)]],
    ['sends nothing', ['\n'.repeat(10_000)]],
    ['names no tool', [{ content: 'x' }, { tool_calls: [{ id: '', function: { arguments: 'x'.repeat(200_000) } }] }]],
  ])('is also stopped when it does not answer: it %s', async (_what, pieces) => {
    await using endless = await endlessModel(...pieces)
    const server = openEngine({ model: endless.model, agent })
    expect(outline(await server.events(await server.start('go'))).at(-1)).toBe('RUN_ERROR model_failed')
    await vi.waitFor(() => endless.gone, { timeout: 60_000 })
    await server.close()
  })
})
