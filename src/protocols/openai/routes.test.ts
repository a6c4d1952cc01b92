import { describe, expect, test } from 'vitest'
import { testAgent } from '../../engine/testing/open-engine.ts'
import { until, userToken } from '../../http/testing/server-fixture.ts'
import type { ModelRequest } from '../../models/model.ts'
import { serverTool } from '../../tools/testing/server-tool.ts'
import { createGatedModel, stop, text } from '../testing/gated-model.ts'
import { readSse } from '../testing/sse-reader.ts'
import { ChatCompletionSchema } from './chat-schema.ts'
import { ResponseSchema } from './response-schema.ts'
import { createOpenAiRoutes } from './routes.ts'
import { ask, CHAT, type framesOf, openOpenAi, RESPONSES } from './testing/open-openai.ts'
import { responseId } from './wire-ids.ts'

const asAda = { Authorization: `Bearer ${userToken.token}` }
const doors = [
  [CHAT, { messages: ask('hello') }],
  [RESPONSES, { input: 'hello' }],
] as const

const completion = async (response: Response) => ChatCompletionSchema.parse(await response.json())
const contentOf = async (response: Response) => (await completion(response)).choices[0]?.message.content
const responseOf = async (response: Response) => ResponseSchema.parse(await response.json())

/** What a refusal says, once it is certain that it has OpenAI's shape. */
async function refusal(response: Response) {
  const body: unknown = await response.json()
  expect(body).toEqual({
    error: {
      message: expect.any(String),
      type: expect.any(String),
      param: expect.toBeOneOf([null, expect.any(String)]),
      code: expect.any(String),
    },
  })
  const { error } = JSON.parse(JSON.stringify(body))
  return [response.status, error.code, error.param]
}

/** Answers with what it was asked last, and keeps what it was shown. */
function recording() {
  const requests: ModelRequest[] = []
  return { requests, onRequest: (request: ModelRequest) => void requests.push(request) }
}

const shown = (request: ModelRequest | undefined) => request?.messages.map(({ role, content }) => `${role}: ${content}`)

describe('metadata', () => {
  test.each(doors)('at %s has at most 16 KiB: it is kept with the run, and sent back', async (path, body) => {
    await using door = await openOpenAi()
    const withMetadata = (chars: number) => door.post(path, { ...body, metadata: { a: 'x'.repeat(chars) } })

    expect((await withMetadata(16_000)).status).toBe(200)
    expect(await refusal(await withMetadata(17_000))).toEqual([400, 'invalid_request', 'metadata'])
  })
})

describe('a conversation that nobody names', () => {
  test('is what the request says, with its instructions', async () => {
    const { requests, onRequest } = recording()
    await using door = await openOpenAi({ onRequest })

    const answer = await door.post(CHAT, {
      model: 'tester',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'One?' },
        { role: 'assistant', content: [{ type: 'text', text: 'Two.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And' },
            { type: 'text', text: 'then?' },
          ],
        },
      ],
      temperature: 0.3,
      nobody_knows: true,
    })

    expect(await contentOf(answer)).toBe('Hello.')
    expect(requests).toMatchObject([{ system: 'You are a test.\n\nBe brief.' }])
    expect(shown(requests[0])).toEqual(['user: One?', 'assistant: Two.', 'user: And\nthen?'])
  })

  test('is an ordinary session that lists show', async () => {
    await using door = await openOpenAi()
    await door.post(CHAT, { messages: ask('hello') })

    expect(await door.store.sessions.list({ owner: 'local_user', limit: 10 })).toMatchObject([
      { unlisted: false, messageCount: 2, alias: null },
    ])
  })

  test('may refer to what was said in an earlier response', async () => {
    const { requests, onRequest } = recording()
    await using door = await openOpenAi({ onRequest })
    const first = await responseOf(await door.post(RESPONSES, { input: 'One?' }))

    await door.post(RESPONSES, {
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'Use digits.' },
        { role: 'user', content: [{ type: 'input_text', text: 'One?' }] },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { type: 'item_reference', id: first.output[0]?.id },
        { type: 'message', role: 'user', content: 'Two?' },
      ],
    })

    expect(requests[1]).toMatchObject({ system: 'You are a test.\n\nBe brief.\n\nUse digits.' })
    expect(shown(requests[1])).toEqual(['user: One?', 'assistant: Hello.', 'user: Two?'])
  })

  test("may not refer to somebody else's", async () => {
    await using door = await openOpenAi()
    const first = await responseOf(await door.post(RESPONSES, { input: 'One?' }, asAda))
    const id = first.output[0]?.id
    const input = [{ type: 'item_reference', id }, ...ask('Two?')]

    expect(await refusal(await door.post(RESPONSES, { input }))).toEqual([400, 'invalid_request', 'input[0].id'])
    expect(await contentOf(await door.post(CHAT, { messages: ask('hello') }))).toBe('Hello.')
  })
})

describe('a conversation with a name', () => {
  test.each([
    ['the metadata', { metadata: { session_id: 'talk' } }, {}],
    ['a header', {}, { 'X-Session-Id': 'talk' }],
    ['both', { metadata: { session_id: 'talk' } }, { 'X-Session-Id': 'talk' }],
  ])('is begun and continued by %s, and takes only what is new', async (_where, body, headers) => {
    const { requests, onRequest } = recording()
    await using door = await openOpenAi({ onRequest })
    await door.post(CHAT, { ...body, messages: ask('One?') }, headers)

    const messages = [...ask('Made up.'), { role: 'assistant', content: 'Never said.' }, ...ask('Two?')]
    await door.post(CHAT, { ...body, messages }, headers)

    expect(shown(requests[1])).toEqual(['user: One?', 'assistant: Hello.', 'user: Two?'])
    const session = await door.engine.sessions.get('local_user', 'talk')
    expect(session).toMatchObject({ unlisted: false, messageCount: 4 })
  })

  test('is the same at every door, in either spelling of its id', async () => {
    const { requests, onRequest } = recording()
    await using door = await openOpenAi({ onRequest })
    const { session } = await door.start('From another door.')
    await until(() => door.engine.stats().activeRuns === 0)

    await door.post(CHAT, { messages: ask('One?'), metadata: { session_id: session.id } })
    const third = await responseOf(await door.post(RESPONSES, { input: 'Two?', conversation: { id: 'thread' } }))

    expect(third.conversation).toEqual({ id: 'thread' })
    expect(shown(requests[2])).toEqual([
      'user: From another door.',
      'assistant: Hello.',
      'user: One?',
      'assistant: Hello.',
      'user: Two?',
    ])
  })

  test('continues after a response', async () => {
    const { requests, onRequest } = recording()
    await using door = await openOpenAi({ onRequest })
    const first = await responseOf(await door.post(RESPONSES, { input: 'One?', metadata: { a: 'b' }, user: 'ada' }))
    const second = await responseOf(await door.post(RESPONSES, { input: 'Two?', previous_response_id: first.id }))

    expect(first).toMatchObject({ previous_response_id: null, conversation: null, metadata: { a: 'b' }, user: 'ada' })
    expect(second).toMatchObject({ previous_response_id: first.id, status: 'completed' })
    expect(shown(requests[1])).toEqual(['user: One?', 'assistant: Hello.', 'user: Two?'])
    expect((await door.store.runs.get((await onlyRun(door, second.id)).id))?.input.messages).toHaveLength(1)
  })

  test("does not go on after somebody else's response, or one that is not there", async () => {
    await using door = await openOpenAi()
    const { id } = await responseOf(await door.post(RESPONSES, { input: 'One?' }, asAda))

    for (const previous_response_id of [id, 'resp_nope']) {
      const refused = await door.post(RESPONSES, { input: 'Two?', previous_response_id })
      expect(await refusal(refused)).toEqual([404, 'run_not_found', null])
    }
  })

  test.each([
    [CHAT, { messages: ask('a'), metadata: { session_id: 'b' } }, { 'X-Session-Id': 'c' }, 'metadata.session_id'],
    [RESPONSES, { input: 'a', conversation: 'b', previous_response_id: 'c' }, {}, 'previous_response_id'],
  ])('has one name: %s', async (path, body, headers, param) => {
    await using door = await openOpenAi()

    expect(await refusal(await door.post(path, body, headers as Record<string, string>))).toEqual([
      400,
      'invalid_request',
      param,
    ])
  })

  test.each([
    [CHAT, { messages: ask('a'), metadata: { session_id: '' } }, 'metadata.session_id'],
    [CHAT, { messages: ask('a'), metadata: { session_id: 7 } }, 'metadata.session_id'],
    [RESPONSES, { input: 'a', conversation: 'x'.repeat(129) }, 'conversation'],
  ])('has a name that can be one: %s %#', async (path, body, param) => {
    await using door = await openOpenAi()

    expect(await refusal(await door.post(path, body))).toEqual([400, 'malformed_id', param])
  })
})

describe('a stream', () => {
  test('says each word as the model produces it, and carries ids', async () => {
    const model = createGatedModel()
    await using door = await openOpenAi({ model })
    const stream = readSse(await door.post(CHAT, { messages: ask('hello'), stream: true }))
    await stream.until('"role":"assistant"')

    model.say(text('Good '))
    const [first] = await stream.until('Good ')
    model.say(text('day.'), stop)
    const rest = await stream.rest()

    expect(first?.id).toMatch(/^[0-9A-Z]{26}\.\d+$/)
    expect(
      rest.map(({ id, data }) => [id === undefined, data.includes('day.'), data.includes('"stop"'), data]),
    ).toEqual([
      [false, true, false, expect.any(String)],
      [true, false, true, expect.any(String)],
      [false, false, false, '[DONE]'],
    ])
  })

  test('of a response has its events by name, the last of each entry with an id', async () => {
    await using door = await openOpenAi()

    const frames = await door.frames(RESPONSES, { input: 'hello' })

    expect(frames.map(({ id, event }) => [event, id !== undefined])).toEqual([
      ['response.created', false],
      ['response.in_progress', true],
      ['response.output_item.added', false],
      ['response.content_part.added', true],
      ['response.output_text.delta', true],
      ['response.output_text.done', false],
      ['response.content_part.done', false],
      ['response.output_item.done', true],
      ['response.completed', true],
    ])
  })

  const last = (frames: ReturnType<typeof framesOf>, path: string) => {
    const all = frames.map(({ data }) => JSON.parse(JSON.stringify(data)))
    if (path === RESPONSES) return [all.at(-1)?.type, all.at(-1)?.response.error?.code]
    return [all.at(-1), all.at(-2)?.error?.code]
  }
  const ended = (path: string, code: string) => (path === RESPONSES ? ['response.failed', code] : ['[DONE]', code])

  test.each(doors)('ends with its last event when the model fails: %s', async (path, body) => {
    const answers = [{ parts: [{ text: 'Well' }, { error: { code: 'model_rate_limited' as const } }] }]
    await using door = await openOpenAi({ answers })

    expect(last(await door.frames(path, body), path)).toEqual(ended(path, 'model_rate_limited'))
  })

  test.each(doors)('ends with its last event when the time is up: %s', async (path, body) => {
    const limits = { ...testAgent.limits, durationMs: 20 }
    await using door = await openOpenAi({ model: createGatedModel(), agent: { limits } })

    expect(last(await door.frames(path, body), path)).toEqual(ended(path, 'budget_exceeded'))
  })

  test.each(doors)('ends with its last event when the run is stopped: %s', async (path, body) => {
    const model = createGatedModel()
    await using door = await openOpenAi({ model })
    const reading = door.frames(path, body)
    await until(() => model.requests.length === 1)

    const [session] = await door.store.sessions.list({ owner: 'local_user', limit: 1 })
    const [run] = await door.engine.runs.open(session?.id ?? '')
    await door.post(`/runs/${run?.id}/cancel`, {})

    expect(last(await reading, path)).toEqual(ended(path, 'cancelled'))
  })

  test.each(doors)('ends with its last event when the server stops: %s', async (path, body) => {
    const model = createGatedModel()
    await using door = await openOpenAi({ model })
    const reading = door.frames(path, body)
    await until(() => model.requests.length === 1)
    model.say(text('Well'))

    await door.engine.drain(0)

    expect(last(await reading, path)).toEqual(ended(path, 'interrupted'))
  })

  test.each(doors)('continues when a tool fails: %s', async (path, body) => {
    const tool = serverTool({
      name: 'look',
      description: 'Looks out.',
      parameters: { type: 'object' },
      effect: 'read',
      timeoutMs: 1_000,
      call: async () => ({ content: 'Fog.', isError: true }),
    })
    const answers = [
      { parts: [{ text: 'Let me see.' }, { tool_call: { name: 'look', arguments: {} } }] },
      { parts: [{ text: 'Nothing.' }] },
    ]
    await using door = await openOpenAi({ answers, tools: [tool] })

    const frames = await door.frames(path, body)

    expect(JSON.stringify(frames)).toContain('Nothing.')
    expect(last(frames, path)).toEqual([path === RESPONSES ? 'response.completed' : '[DONE]', undefined])
  })
})

describe('a whole answer', () => {
  test.each(doors)('is an error when the model fails, and not to be asked for again: %s', async (path, body) => {
    await using door = await openOpenAi({
      answers: [{ parts: [{ error: { code: 'model_timeout', retryable: true } }] }],
    })

    const failed = await door.post(path, body)

    expect(failed.headers.get('x-should-retry')).toBe('false')
    expect(await refusal(failed)).toEqual([502, 'model_timeout', null])
  })

  test.each(doors)(
    'is 400 when the model will fail again, also with a code that often passes: %s',
    async (path, body) => {
      await using door = await openOpenAi({ answers: [{ parts: [{ error: { code: 'model_rate_limited' } }] }] })

      expect(await refusal(await door.post(path, body))).toEqual([400, 'model_rate_limited', null])
    },
  )

  test('keeps what was said before the model refused', async () => {
    const answers = [{ parts: [{ text: 'Well' }, { error: { code: 'model_refused' as const } }] }]
    await using door = await openOpenAi({ answers })

    expect((await completion(await door.post(CHAT, { messages: ask('hello') }))).choices).toMatchObject([
      { message: { content: 'Well' }, finish_reason: 'content_filter' },
    ])
    expect(await responseOf(await door.post(RESPONSES, { input: 'hello' }))).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      output: [{ status: 'incomplete', content: [{ text: 'Well' }] }],
    })
  })

  test('reaches the tools with the user and the metadata, and never the model', async () => {
    const { requests, onRequest } = recording()
    await using door = await openOpenAi({ onRequest })

    await door.post(CHAT, { messages: ask('hello'), user: 'ada', metadata: { topic: 'ships', session_id: 'talk' } })

    const session = await door.engine.sessions.get('local_user', 'talk')
    const [run] = await door.store.runs.list(session.id)
    expect(run?.input.forwardedProps).toEqual({ user: 'ada', metadata: { topic: 'ships', session_id: 'talk' } })
    expect(JSON.stringify(requests)).not.toContain('ships')
  })
})

test('a request that names no conversation is sent twice with one Idempotency-Key, and makes one run', async () => {
  await using door = await openOpenAi()
  const send = (headers: object, content = 'hello') =>
    door.post(CHAT, { messages: ask(content) }, { 'Idempotency-Key': 'k', ...headers })

  const first = await completion(await send({}))

  expect(await completion(await send({}))).toEqual(first)
  expect(door.engine.stats().runsStarted).toBe(1)
  expect(await refusal(await send({}, 'other'))).toEqual([400, 'idempotency_mismatch', null])
  expect(await refusal(await send({ 'X-Session-Id': 'talk' }))).toEqual([400, 'idempotency_mismatch', null])
})

const formatted = (schema: object) => ({ type: 'json_schema', json_schema: { name: 'verdict', schema } })

describe('the format of an answer', () => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
  test.each([
    [CHAT, { messages: ask('Well?'), response_format: formatted(schema) }],
    [RESPONSES, { input: 'Well?', text: { format: { type: 'json_schema', name: 'verdict', schema } } }],
  ])('is told to the model and holds its answer: %s', async (path, body) => {
    const { requests, onRequest } = recording()
    const json = { parts: [{ text: '{"ok":true}' }] }
    const answers = [{ parts: [{ text: 'Yes.' }] }, json, { parts: [{ text: 'Yes.' }] }, json]
    await using door = await openOpenAi({ onRequest, answers })

    const response = await door.post(path, body)

    expect(response.status).toBe(200)
    expect(await response.text()).toContain(JSON.stringify('{"ok":true}'))
    const streamed = JSON.stringify(await door.frames(path, body))
    expect([streamed.includes('ok'), streamed.includes('Yes.')]).toEqual([true, false])
    expect(requests.map(({ responseFormat }) => responseFormat)).toEqual([schema, schema, schema, schema])
  })

  test('is text where the request says so, or nothing', async () => {
    const { requests, onRequest } = recording()
    await using door = await openOpenAi({ onRequest })

    await door.post(CHAT, { messages: ask('a'), response_format: { type: 'text' } })
    await door.post(RESPONSES, { input: 'a', text: { format: null, verbosity: 'low' } })

    expect(requests.map(({ responseFormat }) => responseFormat)).toEqual([null, null])
  })
})

describe('GET /v1/responses/{id}', () => {
  test('is what the request was answered with', async () => {
    const schema = { type: 'object' }
    await using door = await openOpenAi({ answers: [{ parts: [{ text: '{}' }] }] })
    const asked = {
      input: 'hello',
      instructions: 'Be brief.',
      user: 'kim',
      metadata: { topic: 'sea' },
      text: { format: { type: 'json_schema', name: 'answer', schema } },
    }
    const first = await responseOf(await door.post(RESPONSES, asked))
    const second = await responseOf(await door.post(RESPONSES, { input: 'and?', previous_response_id: first.id }))
    const third = await responseOf(await door.post(RESPONSES, { input: 'hello', conversation: 'talk' }))

    for (const response of [first, second, third]) {
      expect(await responseOf(await door.get(`${RESPONSES}/${response.id}`))).toEqual(response)
    }
  })

  test('is in progress while its run is, and says how that ended', async () => {
    const model = createGatedModel()
    await using door = await openOpenAi({ model })
    const answered = door.post(RESPONSES, { input: 'hello', conversation: 'talk' })
    await until(() => model.requests.length === 1)
    const { id: sessionId } = await door.engine.sessions.get('local_user', 'talk')
    const [run] = await door.engine.runs.open(sessionId)
    if (run === undefined) throw new Error('no run')
    const id = responseId(run.id)

    expect(await responseOf(await door.get(`${RESPONSES}/${id}`))).toMatchObject({ status: 'in_progress', output: [] })
    await door.engine.runs.cancel(run, 'test')
    await answered
    expect(await responseOf(await door.get(`${RESPONSES}/${id}`))).toMatchObject({
      id,
      status: 'cancelled',
      error: null,
    })
  })

  test('is the owner’s alone', async () => {
    await using door = await openOpenAi()
    const { id } = await responseOf(await door.post(RESPONSES, { input: 'hello' }))

    expect((await refusal(await door.get(`${RESPONSES}/${id}`, asAda)))[0]).toBe(404)
    expect((await refusal(await door.get(`${RESPONSES}/resp_${'0'.repeat(32)}`)))[0]).toBe(404)
    expect(await refusal(await door.get(`${RESPONSES}/${id}?stream=true`))).toEqual([400, 'invalid_request', 'stream'])
  })
})

describe('POST /v1/responses/{id}/cancel', () => {
  test('stops the response', async () => {
    const model = createGatedModel()
    await using door = await openOpenAi({ model })
    const asking = door.post(RESPONSES, { input: 'hello' })
    await until(() => model.requests.length === 1)
    const [session] = await door.store.sessions.list({ owner: 'local_user', limit: 1 })
    const [run] = await door.engine.runs.open(session?.id ?? '')
    const path = `${RESPONSES}/${responseId(run?.id ?? '')}`

    expect(await refusal(await door.post(`${path}/cancel`, undefined, asAda))).toEqual([404, 'run_not_found', null])
    const cancelled = await door.post(`${path}/cancel`, undefined)

    expect(await responseOf(cancelled)).toMatchObject({ status: 'cancelled', error: null })
    expect(await refusal(await asking)).toEqual([400, 'cancelled', null])
    expect(await responseOf(await door.post(`${path}/cancel`, undefined))).toMatchObject({ status: 'cancelled' })
    expect(await responseOf(await door.get(path))).toMatchObject({ status: 'cancelled', error: null })
  })

  test('leaves a response that is complete as it is', async () => {
    await using door = await openOpenAi()
    const response = await responseOf(await door.post(RESPONSES, { input: 'hello' }))

    expect(await responseOf(await door.post(`${RESPONSES}/${response.id}/cancel`, undefined))).toEqual(response)
  })
})

describe('DELETE /v1/responses/{id}', () => {
  const remove = (url: string, id: string, headers = {}) =>
    fetch(`${url}${RESPONSES}/${id}`, { method: 'DELETE', headers })

  test('deletes the response with its session', async () => {
    await using door = await openOpenAi()
    const { id } = await responseOf(await door.post(RESPONSES, { input: 'hello' }))

    expect(await refusal(await remove(door.url, id, asAda))).toEqual([404, 'run_not_found', null])
    expect(await (await remove(door.url, id)).json()).toEqual({ id, object: 'response', deleted: true })
    expect(await refusal(await door.get(`${RESPONSES}/${id}`))).toEqual([404, 'run_not_found', null])
    expect(await refusal(await remove(door.url, id))).toEqual([404, 'run_not_found', null])
    expect(await door.store.sessions.list({ owner: 'local_user', limit: 1 })).toEqual([])
  })

  test('does not take others with it', async () => {
    await using door = await openOpenAi()
    const { id } = await responseOf(await door.post(RESPONSES, { input: 'hello' }))
    await door.post(RESPONSES, { input: 'again', previous_response_id: id })

    expect(await refusal(await remove(door.url, id))).toEqual([400, 'conflict', null])
    expect((await door.get(`${RESPONSES}/${id}`)).status).toBe(200)
  })
})

describe('a tool that must be called', () => {
  const pick = { type: 'function', name: 'pick', parameters: { type: 'object' } }
  const drop = { type: 'function', name: 'drop', parameters: { type: 'object' } }
  const words = { parts: [{ text: 'I would rather talk.' }] }
  const calling = { parts: [{ tool_call: { name: 'pick', arguments: {} } }] }
  const named = { type: 'function', name: 'pick' }
  const ask = (door: { post: (path: string, body: object) => Promise<Response> }, tool_choice: unknown) =>
    door.post(RESPONSES, { input: 'Go', tools: [pick, drop], tool_choice })

  test.each([
    ['any', 'required', ['pick', 'drop']],
    ['the named one', named, ['pick']],
  ])('is asked for again, once: %s', async (_what, choice, offered) => {
    const { requests, onRequest } = recording()
    await using door = await openOpenAi({ answers: [words, calling], onRequest })

    const { output, tool_choice } = await responseOf(await ask(door, choice))

    expect(output).toMatchObject([{ type: 'function_call', name: 'pick' }])
    expect(tool_choice).toEqual(choice)
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(offered.toSorted())
    expect(
      requests.map(({ aside }) => aside.includes(`you must call one of these tools now: ${offered.join(', ')}`)),
    ).toEqual([true, true])
  })

  test('is a failure if the model never calls it', async () => {
    await using door = await openOpenAi({ answers: [words, words] })

    expect(await refusal(await ask(door, 'required'))).toEqual([400, 'invalid_answer', null])
  })

  test.each([
    ['a tool that was not sent', { type: 'function', name: 'other' }],
    ['a tool of OpenAI', { type: 'file_search' }],
  ])('cannot be %s', async (_what, choice) => {
    await using door = await openOpenAi()

    expect(await refusal(await ask(door, choice))).toEqual([400, 'invalid_request', 'tool_choice'])
  })
})

test.each([
  [CHAT, { messages: ask('Go'), response_format: { type: 'json_object' } }],
  [RESPONSES, { input: 'Go', text: { format: { type: 'json_object' } } }],
])('json_object is any object, and what is none is asked for again: %s', async (path, body) => {
  await using door = await openOpenAi({
    answers: [{ parts: [{ text: 'Red.' }] }, { parts: [{ text: '{"colour":"red"}' }] }],
  })

  const answer = JSON.parse(await (await door.post(path, body)).text())

  if (path === CHAT) expect(answer.choices[0].message.content).toBe('{"colour":"red"}')
  else
    expect(answer).toMatchObject({
      output: [{ content: [{ text: '{"colour":"red"}' }] }],
      text: { format: { type: 'json_object' } },
    })
})

test.each([
  [CHAT, { messages: ask('x'.repeat(100_001)) }, 'messages[0].content: A message has at most 100000 characters.'],
  [RESPONSES, { input: 'x'.repeat(100_001) }, 'input: A message has at most 100000 characters.'],
  [RESPONSES, { input: ask('x'.repeat(100_001)) }, 'input[0].content: A message has at most 100000 characters.'],
  [CHAT, { messages: ask('a'), functions: [{ name: 'f' }] }, 'functions: Send functions as tools'],
  [CHAT, { messages: ask('a'), function_call: 'auto' }, 'function_call: Send tool_choice in place of function_call.'],
])('a refusal at %s says what to do: %#', async (path, body, says) => {
  await using door = await openOpenAi()

  const response = await door.post(path, body)

  expect([response.status, JSON.parse(await response.text()).error.message]).toEqual([
    400,
    expect.stringContaining(says),
  ])
})

describe('what is refused', () => {
  const look = { type: 'function', function: { name: 'look' } }
  test.each([[RESPONSES, { input: [{ type: 'custom_tool_call_output', call_id: 'c', output: 'b' }] }]])(
    'as not available yet: %s %j',
    async (path, body) => {
      await using door = await openOpenAi()

      expect(await refusal(await door.post(path, body))).toEqual([400, 'not_available_yet', null])
      expect(door.engine.stats().runsStarted).toBe(0)
    },
  )

  test.each([
    [CHAT, {}, 'messages'],
    [CHAT, [], null],
    [CHAT, { messages: [] }, 'messages'],
    [CHAT, { messages: 'hello' }, 'messages'],
    [CHAT, { messages: [{ role: 'pirate', content: 'a' }] }, 'messages[0].role'],
    [CHAT, { messages: [{ role: 'user' }] }, 'messages[0].content'],
    [CHAT, { messages: [{ role: 'user', content: [{ type: 'smell' }] }] }, 'messages[0].content[0].type'],
    [CHAT, { messages: ask(' \n') }, 'messages'],
    [CHAT, { messages: [{ role: 'system', content: 'a' }] }, 'messages'],
    [CHAT, { messages: ask('a'), stream: 'yes' }, 'stream'],
    [CHAT, { messages: ask('a'), n: 2 }, 'n'],
    [CHAT, { messages: ask('a'), model: 7 }, 'model'],
    [CHAT, { messages: ask('a'), functions: [{ name: 'look' }] }, 'functions'],
    [CHAT, { messages: ask('a'), tools: [{ type: 'custom', custom: { name: 'look' } }] }, 'tools[0]'],
    [CHAT, { messages: ask('a'), tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0]'],
    [CHAT, { messages: ask('a'), tools: [look, { ...look, function: { name: 'look' } }] }, 'tools[1]'],
    [CHAT, { messages: ask('a'), tool_choice: 'required' }, 'tool_choice'],
    [CHAT, { messages: ask('a'), response_format: { type: 'xml' } }, 'response_format'],
    [CHAT, { messages: ask('a'), response_format: { type: 'grammar' } }, 'response_format'],
    [CHAT, { messages: ask('a'), response_format: { type: 'json_schema' } }, 'response_format'],
    [CHAT, { messages: ask('a'), response_format: formatted({ type: 'no type' }) }, 'response_format'],
    [RESPONSES, { input: 'a', text: { format: { type: 'xml' } } }, 'text.format'],
    [RESPONSES, { input: 'a', text: { format: { type: 'json_schema', name: 'a' } } }, 'text.format'],
    [CHAT, { messages: [{ role: 'tool', tool_call_id: 'c', content: 'b' }] }, 'messages'],
    [CHAT, { messages: [{ role: 'function', name: 'look', content: 'b' }] }, 'messages[0].role'],
    [CHAT, { messages: [...ask('a'), { role: 'assistant', tool_calls: [{ id: 'c' }] }] }, expect.any(String)],
    [RESPONSES, {}, 'input'],
    [RESPONSES, { input: '' }, 'input'],
    [RESPONSES, { input: [] }, 'input'],
    [RESPONSES, { input: [{ role: 'pirate', content: 'a' }] }, 'input[0].role'],
    [RESPONSES, { input: [{ type: 'smell' }] }, expect.stringContaining('input[0]')],
    [RESPONSES, { input: 'a', metadata: 'b' }, 'metadata'],
    [RESPONSES, { input: 'a', tools: [{ type: 'web_search' }] }, 'tools[0]'],
    [RESPONSES, { input: 'a', tools: [look] }, 'tools[0]'],
    [RESPONSES, { input: 'a', tool_choice: { type: 'function', name: 'look' } }, 'tool_choice'],
    [RESPONSES, { input: [{ type: 'function_call_output', call_id: 'c', output: 'b' }] }, 'input'],
    [RESPONSES, { input: [{ type: 'item_reference', id: `fc_${'0'.repeat(32)}` }] }, 'input[0].id'],
  ])('as invalid: %s %j', async (path, body, param) => {
    await using door = await openOpenAi()

    expect(await refusal(await door.post(path, body))).toEqual([400, 'invalid_request', param])
  })

  test.each([
    [CHAT, (content: string) => ({ messages: ask(content) })],
    [CHAT, (content: string) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: content }] }] })],
    [RESPONSES, (content: string) => ({ input: content })],
    [RESPONSES, (content: string) => ({ input: ask(content) })],
  ])('as too long beyond 100,000 characters, an emoji being one: %s %#', async (path, body) => {
    await using door = await openOpenAi()

    expect((await door.post(path, body('🚢'.repeat(100_000)))).status).toBe(200)
    expect((await refusal(await door.post(path, body('🚢'.repeat(100_001))))).slice(0, 2)).toEqual([
      400,
      'invalid_request',
    ])
  })

  test('as an unknown model', async () => {
    await using door = await openOpenAi()
    const model = 'gpt-4'

    expect(await refusal(await door.post(CHAT, { model, messages: ask('a') }))).toEqual([404, 'model_not_found', null])
    expect(await refusal(await door.post(RESPONSES, { model, input: 'a' }))).toEqual([404, 'model_not_found', null])
    expect(await refusal(await door.get('/v1/models/gpt-4'))).toEqual([404, 'model_not_found', null])
  })

  test('by the server itself, in the same shape', async () => {
    await using door = await openOpenAi()

    expect(await refusal(await door.post(CHAT, '{'))).toEqual([400, 'malformed_json', null])
    expect(await refusal(await door.post(CHAT, 'a=b', { 'Content-Type': 'text/plain' }))).toEqual([
      400,
      'unsupported_media_type',
      null,
    ])
    expect(await refusal(await door.get('/v1/nothing'))).toEqual([404, 'route_not_found', null])
    expect(await refusal(await door.get(CHAT))).toEqual([405, 'method_not_allowed', null])
    expect(await refusal(await door.get('/v1/models', { Authorization: 'Bearer qd_revoked' }))).toEqual([
      401,
      'unauthorized',
      null,
    ])
  })
})

describe('models', () => {
  test('are the agents', async () => {
    await using door = await openOpenAi()
    const tester = { id: 'tester', object: 'model', created: expect.any(Number), owned_by: 'quarterdeck' }

    expect(await (await door.get('/v1/models')).json()).toEqual({ object: 'list', data: [tester] })
    expect(await (await door.get('/v1/models/tester')).json()).toEqual(tester)
  })
})

test('every route is described, and its examples are valid', async () => {
  await using door = await openOpenAi()

  for (const { path, describe: descriptionOf } of createOpenAiRoutes(door)) {
    const description = descriptionOf?.()
    expect(description, path).toBeDefined()
    for (const [name, example] of Object.entries(description?.body?.examples ?? {})) {
      expect(description?.body?.schema.safeParse(example), name).toMatchObject({ success: true })
    }
  }
})

async function onlyRun(door: Awaited<ReturnType<typeof openOpenAi>>, responseId: string) {
  return door.engine.runs.get('local_user', responseId.replace(/^resp_(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'))
}
