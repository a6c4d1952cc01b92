// Popular clients send a request again by themselves. With their default settings, an end that a repeat cannot change is met once:
// one run, one effect, one message.

import { createOpenAI } from '@ai-sdk/openai'
import { HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'
import { generateText } from 'ai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { serverTool } from '../../../src/tools/testing/server-tool.ts'
import { startScriptedApp } from '../../e2e/scripted-app.ts'

const answers = [
  { when: { tool: 'pay' }, parts: [{ error: { code: 'model_auth_failed' as const } }] },
  { when: { user: 'pay' }, parts: [{ tool_call: { name: 'pay', arguments: {} } }] },
  { when: { user: 'refund' }, parts: [{ tool_call: { name: 'refund', arguments: {} } }] },
  { when: { user: 'wait' }, parts: [{ text: 'Well' }, { hang: true as const }] },
  { when: { user: 'empty' }, parts: [{ error: { code: 'model_rate_limited' as const, message: 'No quota left.' } }] },
]

async function open() {
  let effects = 0
  const call = async () => {
    effects += 1
    return { content: 'done', isError: false }
  }
  const pay = serverTool({ name: 'pay', description: 'Pays.', call })
  const refund = serverTool({ name: 'refund', description: 'Pays back.', call, approval: { ask: 'always' } })
  const app = await startScriptedApp(answers, [pay, refund])
  return { ...app, effects: () => effects }
}

const options = (url: string) => ({ baseURL: `${url}/v1`, apiKey: 'sk-anything' })

const clients: [string, (url: string, text: string) => Promise<unknown>][] = [
  [
    'openai, chat completions',
    (url, content) =>
      new OpenAI(options(url)).chat.completions.create({ model: 'tester', messages: [{ role: 'user', content }] }),
  ],
  ['openai, responses', (url, input) => new OpenAI(options(url)).responses.create({ model: 'tester', input })],
  ['ai, chat completions', (url, prompt) => generateText({ model: createOpenAI(options(url)).chat('tester'), prompt })],
  ['ai, responses', (url, prompt) => generateText({ model: createOpenAI(options(url))('tester'), prompt })],
  [
    'LangChain, chat completions',
    (url, text) =>
      new ChatOpenAI({ model: 'tester', apiKey: 'sk-anything', configuration: options(url) }).invoke([
        new HumanMessage(text),
      ]),
  ],
  [
    'LangChain, responses',
    (url, text) =>
      new ChatOpenAI({
        model: 'tester',
        apiKey: 'sk-anything',
        configuration: options(url),
        useResponsesApi: true,
      }).invoke(text),
  ],
  ...[true, false].map((useResponses): (typeof clients)[number] => [
    `@openai/agents, ${useResponses ? 'responses' : 'chat completions'}`,
    (url, text) => {
      const modelProvider = new OpenAIProvider({ ...options(url), useResponses })
      const runner = new Runner({ modelProvider, tracingDisabled: true })
      return runner.run(new Agent({ name: 'a', instructions: 'Help.', model: 'tester' }), text)
    },
  ]),
]

describe.each(clients)('%s', (_name, ask) => {
  test.each([
    ['that a person must approve', 'refund', 0],
    ['whose model fails for good after a tool has had its effect', 'pay', 1],
    ['whose model has no quota left', 'empty', 0],
  ])('sends a request once %s', async (_what, text, effects) => {
    await using app = await open()

    await expect(ask(app.url, text)).rejects.toThrow()

    expect(await traces(app)).toEqual({ runs: 1, effects, said: [text] })
  })

  test('sends a request once that an operator cancels', async () => {
    await using app = await open()
    const asked = ask(app.url, 'wait').catch((error: unknown) => error)
    await expect.poll(() => app.engine.stats().runsStarted).toBe(1)

    for (const { id } of await sessionsOf(app)) {
      for (const run of await app.engine.runs.open(id)) await app.engine.runs.cancel(run, 'operator')
    }

    expect(await asked).toBeInstanceOf(Error)
    expect(await traces(app)).toEqual({ runs: 1, effects: 0, said: ['wait'] })
  })
})

type App = Awaited<ReturnType<typeof open>>

const sessionsOf = (app: App) => app.engine.sessions.list({ owner: 'local_user', limit: 10 })

async function traces(app: App) {
  const pages = (await sessionsOf(app)).map(({ id }) => app.engine.messages.page(id, 10))
  const said = (await Promise.all(pages)).flat().filter(({ role }) => role === 'user')
  return { runs: app.engine.stats().runsStarted, effects: app.effects(), said: said.map(({ content }) => content) }
}
