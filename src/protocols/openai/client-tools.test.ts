import { describe, expect, test } from 'vitest'
import { type TestEngineOptions, testTool } from '../../engine/testing/open-engine.ts'
import { until } from '../../http/testing/server-fixture.ts'
import type { ModelRequest } from '../../models/model.ts'
import { operator, risky, riskyWork } from '../shared/answer/testing/asking-gate.ts'
import { ChatCompletionSchema } from './chat-schema.ts'
import { ResponseSchema } from './response-schema.ts'
import { ask, CHAT, openOpenAi, RESPONSES } from './testing/open-openai.ts'

const schema = { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] }
const pick = { name: 'pick', description: 'Picks one.', parameters: schema }
const chatTools = { tools: [{ type: 'function', function: { ...pick, strict: true } }], parallel_tool_calls: true }
const responseTools = { tools: [{ type: 'function', ...pick, strict: true }], parallel_tool_calls: true }

const look = testTool({ name: 'look', call: async () => ({ content: 'Fog.', isError: false }) })
const calling = (name: string, args: Record<string, unknown>) => ({ tool_call: { name, arguments: args } })
const done = { parts: [{ text: 'Red.' }] }
const picking = { parts: [{ text: 'Let me ask.' }, calling('pick', { of: 'colour' })] }

function open(options: TestEngineOptions = {}) {
  const requests: ModelRequest[] = []
  return openOpenAi({
    tools: [look],
    answers: [picking, done],
    onRequest: (request) => requests.push(request),
    ...options,
  }).then((door) => Object.assign(door, { requests }))
}

const completion = async (response: Response) => {
  expect(response.status).toBe(200)
  const { choices } = ChatCompletionSchema.parse(await response.json())
  const [choice] = choices
  if (choice === undefined) throw new Error('no choice')
  return choice
}
const responseOf = async (response: Response) => {
  expect(response.status).toBe(200)
  return ResponseSchema.parse(await response.json())
}
const errorIn = async (response: Response): Promise<[number, string, string]> => {
  const { error } = JSON.parse(await response.text())
  return [response.status, error.code, error.message]
}
const shown = (request: ModelRequest | undefined) =>
  request?.messages.map((message) => {
    const calls = message.role === 'assistant' ? message.toolCalls.map(({ name, arguments: args }) => name + args) : []
    return [message.role, message.content, ...calls]
  })
const offered = (request: ModelRequest | undefined) => request?.tools.map(({ name }) => name)

const asked = [
  ['user', 'Go'],
  ['assistant', 'Let me ask.', 'pick{"of":"colour"}'],
  ['tool', 'red'],
]

describe('a tool that a chat completion brings', () => {
  test('is answered in a conversation that is kept', async () => {
    await using door = await open()
    const metadata = { session_id: 'talk' }
    const first = await completion(await door.post(CHAT, { messages: ask('Go'), ...chatTools, metadata }))
    const [call] = first.message.tool_calls ?? []
    expect(first).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'Let me ask.',
        tool_calls: [{ type: 'function', function: { name: 'pick', arguments: '{"of":"colour"}' } }],
      },
    })

    const messages = [{ role: 'tool', tool_call_id: call?.id, content: 'red' }]
    const second = await completion(await door.post(CHAT, { messages, ...chatTools, metadata }))

    expect(second).toMatchObject({ finish_reason: 'stop', message: { content: 'Red.' } })
    expect(second.message.tool_calls).toBeUndefined()
    expect(shown(door.requests[1])).toEqual(asked)
    expect(door.requests.map(offered)).toEqual([
      ['look', 'pick'],
      ['look', 'pick'],
    ])
    const session = await door.engine.sessions.get('local_user', 'talk')
    expect(session.messageCount).toBe(4)
  })

  test('is answered where nobody names the conversation: the request tells all of it', async () => {
    await using door = await open()
    const first = await completion(await door.post(CHAT, { messages: ask('Go'), ...chatTools }))
    const messages = [
      ...ask('Go'),
      { ...first.message },
      { role: 'tool', tool_call_id: first.message.tool_calls?.[0]?.id, content: [{ type: 'text', text: 'red' }] },
    ]

    const second = await completion(await door.post(CHAT, { messages, ...chatTools }))

    expect(second).toMatchObject({ finish_reason: 'stop', message: { content: 'Red.' } })
    expect(shown(door.requests[1])).toEqual(asked)
  })

  test('is called in a stream with its name first and its arguments behind', async () => {
    await using door = await open({
      answers: [{ parts: [calling('pick', { of: 'a' }), calling('pick', { of: 'b' })] }],
    })

    const frames = await door.frames(CHAT, { messages: ask('Go'), ...chatTools })

    const deltas = frames.map(({ data }) => JSON.parse(JSON.stringify(data)).choices?.[0])
    const ids = [expect.stringMatching(/^call_/), expect.stringMatching(/^call_/)]
    expect(deltas.map((choice) => [choice?.delta.tool_calls, choice?.finish_reason])).toEqual([
      [undefined, null],
      [[{ index: 0, id: ids[0], type: 'function', function: { name: 'pick', arguments: '' } }], null],
      [[{ index: 0, function: { arguments: '{"of":"a"}' } }], null],
      [[{ index: 1, id: ids[1], type: 'function', function: { name: 'pick', arguments: '' } }], null],
      [[{ index: 1, function: { arguments: '{"of":"b"}' } }], null],
      [undefined, 'tool_calls'],
      [undefined, undefined],
    ])
    const [first] = frames.filter(({ id }) => id !== undefined)
    const again = await door.frames(CHAT, { messages: ask('Go'), ...chatTools }, { 'Last-Event-ID': first?.id ?? '' })
    expect(again).toEqual(frames.slice(1))
  })

  test('beside tools of the agent is all that the caller hears of', async () => {
    await using door = await open({ answers: [{ parts: [calling('look', {}), ...picking.parts] }, done] })

    const choice = await completion(await door.post(CHAT, { messages: ask('Go'), ...chatTools }))

    expect(choice.message.tool_calls?.map((call) => call.function.name)).toEqual(['pick'])
  })

  test('that was called with arguments that do not fit is mended here, and the caller hears of the good call alone', async () => {
    const wrong = { parts: [calling('pick', { of: 7 })] }
    await using door = await open({ answers: [wrong, picking] })

    const choice = await completion(await door.post(CHAT, { messages: ask('Go'), ...chatTools }))

    expect(choice.message.tool_calls?.map((call) => call.function.arguments)).toEqual(['{"of":"colour"}'])
    expect(door.requests).toHaveLength(2)
  })

  test('may have a pattern that cannot be followed, and is refused when it is too large', async () => {
    await using door = await open({ answers: [done] })
    const bringing = (parameters: unknown) =>
      door.post(CHAT, { messages: ask('Go'), tools: [{ type: 'function', function: { name: 'pick', parameters } }] })
    await completion(await bringing({ type: 'object', properties: { of: { type: 'string', pattern: '(?i)^red$' } } }))
    expect(offered(door.requests[0])).toContain('pick')
    const large = { type: 'object', properties: { of: { enum: Array.from({ length: 60_000 }, (_, i) => i) } } }
    expect((await errorIn(await bringing(large))).slice(0, 2)).toEqual([400, 'invalid_request'])
  })

  test('is not offered with tool_choice none, and one of the agent file that is not brought never is', async () => {
    const { call: _call, ...rules } = look
    await using door = await open({ tools: [look, { ...rules, location: 'client', name: 'beep' }], answers: [done] })

    await door.post(CHAT, { messages: ask('Go'), ...chatTools, tool_choice: 'none' })
    await door.post(CHAT, { messages: ask('Go'), ...chatTools, tool_choice: 'auto' })
    await door.post(CHAT, { messages: ask('Go') })

    expect(door.requests.map(offered)).toEqual([['look'], ['look', 'pick'], ['look']])
  })

  const open2 = async () => {
    const door = await open({
      answers: [{ parts: [calling('pick', { of: 'a' }), calling('pick', { of: 'b' })] }, done],
    })
    const metadata = { session_id: 'talk' }
    const send = (...messages: object[]) => door.post(CHAT, { messages, ...chatTools, metadata })
    const { message } = await completion(await send(...ask('Go')))
    const ids = (message.tool_calls ?? []).map(({ id }) => id)
    const result = (id: string | undefined, content: string) => ({ role: 'tool', tool_call_id: id, content })
    return { door, send, ids, result }
  }

  test('is asked for again while another is answered', async () => {
    const { door, send, ids, result } = await open2()
    await using _door = door

    const half = await completion(await send(result(ids[1], 'y')))
    expect(half.finish_reason).toBe('tool_calls')
    expect(half.message.tool_calls?.map((call) => [call.id, call.function.arguments])).toEqual([[ids[0], '{"of":"a"}']])
    const whole = await completion(await send(result(ids[0], 'x')))

    expect(whole).toMatchObject({ finish_reason: 'stop', message: { content: 'Red.' } })
    expect(shown(door.requests[1])?.slice(2)).toEqual([
      ['tool', 'x'],
      ['tool', 'y'],
    ])
  })

  test('whose results are sent twice is answered once', async () => {
    const { door, send, ids, result } = await open2()
    await using _door = door
    const results = [result(ids[0], 'x'), result(ids[1], 'y')]
    const first = await completion(await send(...results))

    expect(await completion(await send(...results))).toEqual(first)

    expect(door.requests).toHaveLength(2)
    // Beside a new word they are the past.
    expect((await send(...results, ...ask('And?'))).status).toBe(200)
    expect(shown(door.requests[2])?.at(-1)).toEqual(['user', 'And?'])
  })

  test('is given up when the caller says something else, and then it is too late', async () => {
    const { door, send, ids, result } = await open2()
    await using _door = door

    expect((await send(...ask('Never mind.'))).status).toBe(200)

    expect(shown(door.requests[1])?.at(-1)).toEqual(['user', 'Never mind.'])
    const late = await send(result(ids[0], 'x'))
    expect((await errorIn(late)).slice(0, 2)).toEqual([400, 'invalid_request'])
  })
})

describe('a tool that a response brings', () => {
  test('is answered by the run that continues after that response', async () => {
    await using door = await open()
    const first = await responseOf(await door.post(RESPONSES, { input: 'Go', ...responseTools }))
    const call = first.output.find((item) => item.type === 'function_call')
    expect(first).toMatchObject({
      status: 'completed',
      tools: [{ type: 'function', ...pick, strict: false }],
      output: [
        { type: 'message', status: 'completed', content: [{ text: 'Let me ask.' }] },
        { type: 'function_call', status: 'completed', name: 'pick', arguments: '{"of":"colour"}' },
      ],
    })

    const input = [{ type: 'function_call_output', call_id: call?.call_id, output: 'red' }]
    const second = await responseOf(
      await door.post(RESPONSES, { input, previous_response_id: first.id, ...responseTools }),
    )

    expect(second.output).toMatchObject([{ type: 'message', content: [{ text: 'Red.' }] }])
    expect(shown(door.requests[1])).toEqual(asked)
  })

  test.each([
    ['its items again', false],
    ['their ids', true],
  ])('is answered by a request that holds %s', async (_what, byId) => {
    await using door = await open()
    const first = await responseOf(await door.post(RESPONSES, { input: 'Go', ...responseTools }))
    const call = first.output.find((item) => item.type === 'function_call')
    const items = byId ? first.output.map(({ id }) => ({ type: 'item_reference', id })) : first.output
    const input = [...ask('Go'), ...items, { type: 'function_call_output', call_id: call?.call_id, output: 'red' }]

    const second = await responseOf(await door.post(RESPONSES, { input, ...responseTools }))

    expect(second.output).toMatchObject([{ type: 'message', content: [{ text: 'Red.' }] }])
    expect(shown(door.requests[1])).toEqual(asked)
  })

  test('is also called in a stream', async () => {
    await using door = await open({ answers: [{ parts: [calling('pick', { of: 'a' })] }] })

    const frames = await door.frames(RESPONSES, { input: 'Go', ...responseTools })

    expect(frames.map(({ event }) => event)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ])
  })
})

describe('a run that waits for a person', () => {
  test.each([
    [CHAT, { messages: ask('Go') }],
    [RESPONSES, { input: 'Go' }],
  ])('is an error that says which: %s', async (path, body) => {
    await using door = await open(riskyWork)

    const response = await door.post(path, body)

    const [approval] = await door.approvals.list({ by: operator, limit: 1 })
    expect(response.headers.get('x-should-retry')).toBe('false')
    const [status, code, message] = await errorIn(response)
    expect([status, code]).toEqual([400, 'approval_pending'])
    expect(message).toContain(approval?.runId)
    expect(message).toContain(approval?.id)
  })

  test('ends its stream with that error', async () => {
    await using door = await open(riskyWork)

    const chat = await door.frames(CHAT, { messages: ask('Go') })
    const response = await door.frames(RESPONSES, { input: 'Go' })

    expect(chat.slice(-2)).toMatchObject([{ data: { error: { code: 'approval_pending' } } }, { data: '[DONE]' }])
    expect(response.at(-1)).toMatchObject({
      event: 'response.failed',
      data: { response: { status: 'failed', error: { code: 'approval_pending' } } },
    })
  })

  test('refuses new messages in its conversation, and continues after the decision', async () => {
    await using door = await open({ ...riskyWork, tools: [risky] })
    const send = () => door.post(CHAT, { messages: ask('Go'), metadata: { session_id: 'talk' } })
    await send()

    expect((await errorIn(await send())).slice(0, 2)).toEqual([400, 'approval_pending'])
    const [approval] = await door.approvals.list({ by: operator, limit: 1 })
    await door.approvals.decide(operator, approval?.id ?? '', { decision: 'approve' })
    await until(() => door.engine.stats().activeRuns === 0)

    const messages = await door.engine.messages.page(approval?.sessionId ?? '', 10)
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Done.' })
  })
})
