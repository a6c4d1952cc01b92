// The official client and the AI SDK's provider are the referees.

import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type LanguageModel, type ModelMessage, streamText } from 'ai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { Tool } from '../../src/tools/tool.ts'
import { startScriptedApp } from './scripted-app.ts'

const look: Tool = {
  name: 'look',
  description: 'Looks out.',
  parameters: { type: 'object' },
  effect: 'read',
  timeoutMs: 1_000,
  call: async () => ({ content: 'a ship', isError: false }),
}

const answers = [
  { when: { user: 'hello' }, parts: [{ text: 'Good ' }, { text: 'day.' }, { usage: { input: 5, output: 2 } }] },
  { when: { tool: 'look' }, parts: [{ text: 'I see a ship.' }] },
  { when: { user: 'look' }, parts: [{ text: 'Let me see.' }, { tool_call: { name: 'look', arguments: {} } }] },
  { when: { user: 'fail' }, parts: [{ text: 'Well' }, { error: { code: 'model_rate_limited' as const } }] },
  { when: { user: 'refuse' }, parts: [{ text: 'Well' }, { error: { code: 'model_refused' as const } }] },
  { when: { user: 'wait' }, parts: [{ text: 'Waiting' }, { hang: true as const }] },
  { when: { user: 'again' }, parts: [{ text: 'Said again.' }] },
]

const open = () => startScriptedApp(answers, [look])

// Both want a key. On this machine none is needed, and one that is wrong is refused.
const withoutKey: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers)
  headers.delete('Authorization')
  return fetch(url, { ...init, headers })
}
const optionsFor = (url: string) => ({ baseURL: `${url}/v1`, apiKey: 'none', fetch: withoutKey })
const connect = (url: string) => new OpenAI({ ...optionsFor(url), maxRetries: 0 })
const say = (content: string) => [{ role: 'user' as const, content }]

describe('the official client', () => {
  test('lists the agents', async () => {
    await using app = await open()
    const client = connect(app.url)

    expect((await client.models.list()).data).toMatchObject([{ id: 'tester', object: 'model' }])
    expect(await client.models.retrieve('tester')).toMatchObject({ id: 'tester' })
    await expect(client.models.retrieve('gpt-4')).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
  })

  test('reads a chat completion', async () => {
    await using app = await open()

    const completion = await connect(app.url).chat.completions.create({ model: 'tester', messages: say('hello') })

    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'tester',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Good day.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    })
  })

  test('reads a chat completion in chunks', async () => {
    await using app = await open()
    const stream = connect(app.url).chat.completions.stream({
      model: 'tester',
      messages: say('hello'),
      stream_options: { include_usage: true },
    })
    const deltas: string[] = []
    stream.on('content', (delta) => deltas.push(delta))

    expect(await stream.finalChatCompletion()).toMatchObject({
      choices: [{ message: { content: 'Good day.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    })
    expect(deltas.join('')).toBe('Good day.')
  })

  test('does not see the tools of the agent, only what it says', async () => {
    await using app = await open()
    const client = connect(app.url)

    const completion = await client.chat.completions.create({ model: 'tester', messages: say('look') })
    const response = await client.responses.create({ model: 'tester', input: 'look' })

    expect(completion.choices[0]?.message.content).toBe('Let me see.\n\nI see a ship.')
    expect(response.output).toMatchObject([
      { type: 'message', content: [{ text: 'Let me see.' }] },
      { type: 'message', content: [{ text: 'I see a ship.' }] },
    ])
  })

  test('reads a response', async () => {
    await using app = await open()

    const response = await connect(app.url).responses.create({ model: 'tester', input: 'hello', metadata: { a: 'b' } })

    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      output_text: 'Good day.',
      metadata: { a: 'b' },
      usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
    })
  })

  test('reads a response as a stream', async () => {
    await using app = await open()
    const stream = connect(app.url).responses.stream({ model: 'tester', input: 'look' })
    const deltas: string[] = []
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta))

    expect(await stream.finalResponse()).toMatchObject({
      status: 'completed',
      output_text: 'Let me see.I see a ship.',
      output: [{ content: [{ text: 'Let me see.' }] }, { content: [{ text: 'I see a ship.' }] }],
    })
    expect(deltas).toEqual(['Let me see.', 'I see a ship.'])
  })

  test('continues a response, a conversation and a session', async () => {
    await using app = await open()
    const client = connect(app.url)
    const model = 'tester'

    const first = await client.responses.create({ model, input: 'hello' })
    const second = await client.responses.create({ model, input: 'again', previous_response_id: first.id })
    expect(second).toMatchObject({ output_text: 'Said again.', previous_response_id: first.id })

    await client.responses.create({ model, input: 'hello', conversation: 'talk' })
    await client.chat.completions.create({ model, messages: say('again'), metadata: { session_id: 'talk' } })
    const session = await app.engine.getSession('local_user', 'talk')
    const messages = await app.engine.messages(session.id, 10)
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'hello'],
      ['assistant', 'Good day.'],
      ['user', 'again'],
      ['assistant', 'Said again.'],
    ])
  })

  test('hears of a failure, before and inside a stream', async () => {
    await using app = await open()
    const client = connect(app.url)
    const chat = { model: 'tester', messages: say('fail') }
    const failure = { code: 'model_rate_limited', type: 'server_error' }

    await expect(client.chat.completions.create(chat)).rejects.toMatchObject({ status: 503, ...failure })
    await expect(client.chat.completions.stream(chat).finalChatCompletion()).rejects.toMatchObject(failure)
    await expect(client.responses.create({ model: 'tester', input: 'fail' })).rejects.toMatchObject(failure)
    const failed = await client.responses.create({ model: 'tester', input: 'fail', stream: true })
    const last = (await all(failed)).at(-1)
    expect(last).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'model_rate_limited' } },
    })
  })

  test('does not say a message again by itself when the model fails', async () => {
    await using app = await open()
    const client = connect(app.url).withOptions({ maxRetries: 2 })

    await expect(
      client.responses.create({ model: 'tester', input: 'fail', conversation: 'talk' }),
    ).rejects.toMatchObject({ status: 503 })

    expect(app.engine.stats().runsStarted).toBe(1)
  })

  test('knows a refusal from an answer', async () => {
    await using app = await open()
    const client = connect(app.url)

    const completion = await client.chat.completions.create({ model: 'tester', messages: say('refuse') })
    const response = await client.responses.stream({ model: 'tester', input: 'refuse' }).finalResponse()

    expect(completion.choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { content: 'Well' } })
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
  })

  test('hears what is wrong with its request', async () => {
    await using app = await open()
    const client = connect(app.url)

    await expect(client.chat.completions.create({ model: 'gpt-4', messages: say('hello') })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    )
    await expect(client.chat.completions.create({ model: 'tester', messages: [] })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'messages',
    })
    await expect(
      client.chat.completions.create({
        model: 'tester',
        messages: say('hello'),
        tools: [{ type: 'function', function: { name: 'look' } }],
      }),
    ).rejects.toMatchObject({ status: 501, code: 'not_available_yet' })
  })

  test('gets the whole text over a connection that breaks', async () => {
    await using app = await open()
    let breaks = 0
    const fetch = createBreakingFetch(() => {
      breaks += 1
    })
    const client = connect(app.url).withOptions({ fetch })

    const response = await client.responses.stream({ model: 'tester', input: 'look' }).finalResponse()

    expect(response.output_text).toBe('Let me see.I see a ship.')
    expect(breaks).toBeGreaterThan(5)
  })
})

/** Its connection breaks behind every event with an id, and it goes on there; to its caller it is one stream. */
function createBreakingFetch(onBreak: () => void): typeof fetch {
  async function* resumed(first: Response, url: string | URL | Request, init: RequestInit | undefined) {
    for (let response = first; response.status === 200; ) {
      const { text, id } = await readToId(response)
      yield new TextEncoder().encode(text)
      if (id === null) return
      onBreak()
      const headers = new Headers(init?.headers)
      headers.set('Last-Event-ID', id)
      response = await withoutKey(url, { ...init, headers })
    }
  }
  return async (url, init) => {
    const first = await withoutKey(url, init)
    return new Response(ReadableStream.from(resumed(first, url, init)), first)
  }
}

async function readToId(response: Response): Promise<{ text: string; id: string | null }> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    const [block, id] = /^id: (.*)\n(?:.+\n)+\n/m.exec(text) ?? []
    if (block !== undefined && id !== undefined) return { text: text.slice(0, text.indexOf(block) + block.length), id }
  }
  return { text, id: null }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const providers: [string, (url: string) => LanguageModel][] = [
  ['chat completions', (url) => createOpenAI(optionsFor(url)).chat('tester')],
  ['responses', (url) => createOpenAI(optionsFor(url)).responses('tester')],
]

describe.each(providers)('the AI SDK over %s', (_name, modelAt) => {
  test('generates a text', async () => {
    await using app = await open()

    const { text, finishReason, usage } = await generateText({ model: modelAt(app.url), prompt: 'hello' })

    expect({ text, finishReason, usage }).toMatchObject({
      text: 'Good day.',
      finishReason: 'stop',
      usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
    })
  })

  test('streams a text', async () => {
    await using app = await open()
    const result = streamText({ model: modelAt(app.url), prompt: 'hello' })

    expect(await all(result.textStream)).toEqual(['Good ', 'day.'])
    expect(await result.finishReason).toBe('stop')
    expect(await result.usage).toMatchObject({ inputTokens: 5, outputTokens: 2, totalTokens: 7 })
  })

  test('carries a conversation on with its own history', async () => {
    await using app = await open()
    const model = modelAt(app.url)
    const messages: ModelMessage[] = [...say('hello')]
    const first = await generateText({ model, messages })

    const second = await generateText({ model, messages: [...messages, ...first.response.messages, ...say('again')] })

    expect(second.text).toBe('Said again.')
  })

  test('hears of a failure inside a stream', async () => {
    await using app = await open()
    const errors: unknown[] = []
    const result = streamText({
      model: modelAt(app.url),
      prompt: 'fail',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    })

    for await (const _part of result.fullStream) {
      // Read to the end.
    }

    expect(errors).toHaveLength(1)
    expect(await result.finishReason).toBe('error')
  })
})
