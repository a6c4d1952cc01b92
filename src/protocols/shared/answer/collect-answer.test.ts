import { describe, expect, test } from 'vitest'
import { openEngine } from '../../../engine/testing/open-engine.ts'
import { ClientGone } from '../../../http/client-gone.ts'
import { until } from '../../../http/testing/server-fixture.ts'
import { serverTool } from '../../../tools/testing/server-tool.ts'
import { createGatedModel, stop, text } from '../../testing/gated-model.ts'
import { collectAnswer } from './collect-answer.ts'

const forEver = new AbortController().signal

const flaky = serverTool({
  name: 'flaky',
  description: 'Fails when told to.',
  parameters: { type: 'object' },
  effect: 'read',
  timeoutMs: 1_000,
  call: async ({ arguments: { fail } }) => ({
    content: fail === true ? 'It broke.' : 'It went well.',
    isError: fail === true,
  }),
})

describe('waiting for an answer', () => {
  test('gives what the run said and which of its calls failed', async () => {
    const opened = openEngine({
      tools: [flaky],
      answers: [
        {
          parts: [
            { text: 'Trying.' },
            { tool_call: { name: 'flaky', arguments: { fail: true } } },
            { tool_call: { name: 'flaky', arguments: { fail: false } } },
          ],
        },
        { parts: [{ text: 'Done.' }, { usage: { input: 5, output: 6 } }] },
      ],
    })

    const answer = await collectAnswer(opened.engine, await opened.start('go'), forEver)

    expect(answer).toMatchObject({
      outcome: 'completed',
      text: 'Trying.\n\nDone.',
      error: null,
      usage: [{ inputTokens: 5, outputTokens: 6, totalTokens: 11 }],
    })
    expect(
      answer.toolCalls.map(({ name, arguments: args, status, result, error }) => [name, args, status, result, error]),
    ).toEqual([
      ['flaky', { fail: true }, 'error', null, 'It broke.'],
      ['flaky', { fail: false }, 'success', 'It went well.', null],
    ])
    await opened.close()
  })

  test('gives a failed run as an answer', async () => {
    const opened = openEngine({ answers: [{ parts: [{ error: { code: 'model_refused', message: 'No.' } }] }] })

    expect(await collectAnswer(opened.engine, await opened.start('go'), forEver)).toMatchObject({
      outcome: 'failed',
      text: '',
      error: { code: 'model_refused', message: 'No.' },
    })
    await opened.close()
  })

  test('gives the answer of a run that has ended long ago', async () => {
    const opened = openEngine()
    const accepted = await opened.start('go')
    await opened.events(accepted)
    const run = await opened.engine.runs.get('local_user', accepted.run.id)

    expect(await collectAnswer(opened.engine, { run }, forEver)).toMatchObject({ outcome: 'completed', text: 'Hello.' })
    await opened.close()
  })

  test('ends when the client has gone, and leaves the run alone', async () => {
    const model = createGatedModel()
    const opened = openEngine({ model })
    const accepted = await opened.start('go')
    const client = new AbortController()
    const waiting = collectAnswer(opened.engine, accepted, client.signal)
    await until(() => opened.engine.stats().readers === 1)

    client.abort()

    await expect(waiting).rejects.toBeInstanceOf(ClientGone)
    expect(opened.engine.stats()).toMatchObject({ readers: 0, activeRuns: 1 })
    model.say(text('Hello.'), stop)
    expect(await collectAnswer(opened.engine, accepted, forEver)).toMatchObject({ text: 'Hello.' })
    await opened.close()
  })

  test('says where to read on when the server stops before the end of a background run', async () => {
    const opened = openEngine({ model: createGatedModel() })
    const accepted = await opened.start('go')
    const waiting = collectAnswer(opened.engine, accepted, forEver)
    const refused = expect(waiting).rejects.toMatchObject({
      code: 'shutting_down',
      message: `The server is stopping. The run continues after its restart: read GET /runs/${accepted.run.id}/events.`,
    })

    await opened.engine.drain(0)

    await refused
    await opened.close()
  })
})
