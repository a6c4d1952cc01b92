// The official client and the AI SDK's provider decide what is right.

import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, type LanguageModel, type ModelMessage, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { serverTool } from '../../src/tools/testing/server-tool.ts'
import { startScriptedApp } from './scripted-app.ts'

const look = serverTool({
  name: 'look',
  description: 'Looks out.',
  parameters: { type: 'object' },
  effect: 'read',
  timeoutMs: 1_000,
  call: async () => ({ content: 'a ship', isError: false }),
})

const answers = [
  { when: { user: 'hello' }, parts: [{ text: 'Good ' }, { text: 'day.' }, { usage: { input: 5, output: 2 } }] },
  { when: { tool: 'look' }, parts: [{ text: 'I see a ship.' }] },
  { when: { user: 'look' }, parts: [{ text: 'Let me see.' }, { tool_call: { name: 'look', arguments: {} } }] },
  {
    when: { user: 'fail' },
    parts: [{ text: 'Well' }, { error: { code: 'model_rate_limited' as const, retryable: true } }],
  },
  { when: { user: 'refuse' }, parts: [{ text: 'Well' }, { error: { code: 'model_refused' as const } }] },
  { when: { user: 'wait' }, parts: [{ text: 'Waiting' }, { hang: true as const }] },
  { when: { user: 'again' }, parts: [{ text: 'Said again.' }] },
  { when: { tool: 'paint' }, parts: [{ text: 'It is ' }, { text: 'red.' }] },
  {
    when: { user: 'paint' },
    parts: [
      { text: 'Here goes.' },
      { tool_call: { name: 'look', arguments: {} } },
      { tool_call: { name: 'paint', arguments: { colour: 'red', part: 'door' } } },
      { tool_call: { name: 'paint', arguments: { colour: 'red', part: 'wall' } } },
    ],
  },
]

const paintSchema = {
  type: 'object' as const,
  properties: { colour: { type: 'string' as const }, part: { type: 'string' as const } },
  required: ['colour', 'part'],
  additionalProperties: false as const,
}
const bothParts = ['red door', 'red wall']

const open = () => startScriptedApp(answers, [look])

// Both require a key. On this machine none is needed, but a wrong one is refused.
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
    const retrieved = await connect(app.url).responses.retrieve(response.id)
    expect(retrieved).toMatchObject({ id: response.id, status: 'completed', output_text: 'Good day.' })
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
    const session = await app.engine.sessions.get('local_user', 'talk')
    const messages = await app.engine.messages.page(session.id, 10)
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'hello'],
      ['assistant', 'Good day.'],
      ['user', 'again'],
      ['assistant', 'Said again.'],
    ])
  })

  test('is told about a failure before and inside a stream', async () => {
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

  test('does not resend a message by itself when the model fails', async () => {
    await using app = await open()
    const client = connect(app.url).withOptions({ maxRetries: 2 })

    await expect(
      client.responses.create({ model: 'tester', input: 'fail', conversation: 'talk' }),
    ).rejects.toMatchObject({ status: 503 })

    expect(app.engine.stats().runsStarted).toBe(1)
  })

  test('tells a refusal from an answer', async () => {
    await using app = await open()
    const client = connect(app.url)

    const completion = await client.chat.completions.create({ model: 'tester', messages: say('refuse') })
    const response = await client.responses.stream({ model: 'tester', input: 'refuse' }).finalResponse()

    expect(completion.choices[0]).toMatchObject({ finish_reason: 'content_filter', message: { content: 'Well' } })
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
  })

  test('is told what is wrong with its request', async () => {
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
        tools: [{ type: 'custom', custom: { name: 'paint' } }],
      }),
    ).rejects.toMatchObject({ status: 400, code: 'invalid_request', param: 'tools[0]' })
    await expect(
      client.responses.create({ model: 'tester', input: 'hello', tool_choice: 'required' }),
    ).rejects.toMatchObject({ status: 400, code: 'invalid_request', param: 'tool_choice' })
  })

  test.each([
    ['whole', {}, {}],
    ['in a stream', { stream: true }, {}],
    ['whole, in a conversation that is kept', {}, { 'X-Session-Id': 'talk' }],
    ['in a stream, in a conversation that is kept', { stream: true }, { 'X-Session-Id': 'talk' }],
  ])('runs its tools between two chat completions: %s', async (_how, how, headers) => {
    await using app = await open()
    const painted: unknown[] = []
    const paint = (args: { colour: string; part: string }) => {
      painted.push(`${args.colour} ${args.part}`)
      return `The ${args.part} is ${args.colour}.`
    }
    const request = {
      model: 'tester',
      messages: say('paint'),
      tools: [
        {
          type: 'function' as const,
          function: {
            name: 'paint',
            description: 'Paints a part.',
            parameters: paintSchema,
            parse: JSON.parse,
            function: paint,
          },
        },
      ],
      ...how,
    }

    const { completions } = connect(app.url).chat
    const runner =
      'stream' in request
        ? completions.runTools({ ...request, stream: true }, { headers })
        : completions.runTools(request, { headers })

    expect(await runner.finalContent()).toBe('It is red.')
    expect(painted).toEqual(bothParts)
    const runs = runner.allChatCompletions().map(({ choices }) => choices[0]?.finish_reason)
    expect(runs).toEqual(['tool_calls', 'stop'])
  })

  test('runs its tools between two responses', async () => {
    await using app = await open()
    const { responses } = connect(app.url)
    const tools = [{ type: 'function' as const, name: 'paint', parameters: paintSchema, strict: true }]

    const first = await responses.stream({ model: 'tester', input: 'paint', tools }).finalResponse()
    const calls = first.output.filter((item) => item.type === 'function_call')
    const second = await responses.create({
      model: 'tester',
      previous_response_id: first.id,
      input: calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'Done.' })),
      tools,
    })

    expect(calls.map(({ arguments: args }) => JSON.parse(args))).toEqual([
      { colour: 'red', part: 'door' },
      { colour: 'red', part: 'wall' },
    ])
    expect(second.output_text).toBe('It is red.')
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

/** A fetch whose connection breaks after every event with an id and resumes there. Its caller sees one stream. */
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

  test('continues a conversation with its own history', async () => {
    await using app = await open()
    const model = modelAt(app.url)
    const messages: ModelMessage[] = [...say('hello')]
    const first = await generateText({ model, messages })

    const second = await generateText({ model, messages: [...messages, ...first.response.messages, ...say('again')] })

    expect(second.text).toBe('Said again.')
  })

  test.each(['generates', 'streams'])('runs its tools in a loop: %s', async (how) => {
    await using app = await open()
    const painted: string[] = []
    const paint = tool({
      description: 'Paints a part.',
      inputSchema: jsonSchema<{ colour: string; part: string }>(paintSchema),
      execute: async ({ colour, part }) => {
        painted.push(`${colour} ${part}`)
        return `The ${part} is ${colour}.`
      },
    })
    const request = { model: modelAt(app.url), prompt: 'paint', tools: { paint }, stopWhen: stepCountIs(5) }

    const result = how === 'generates' ? await generateText(request) : streamText(request)

    expect(await result.text).toBe('It is red.')
    expect((await result.steps).map(({ finishReason, text }) => [finishReason, text])).toEqual([
      ['tool-calls', 'Here goes.'],
      ['stop', 'It is red.'],
    ])
    expect(painted).toEqual(bothParts)
  })

  test('is told about a failure inside a stream', async () => {
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
