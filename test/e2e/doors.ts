// The doors of the server as clients see them: how to ask each in a session, and what its answer contains. `door.contract.ts` and
// the tests of all doors use it.

import { z } from 'zod'
import type { Door } from '../../src/doors.ts'
import { type Frame, framesOf as sseFrames } from '../../src/protocols/testing/sse-reader.ts'
import type { House } from './open-house.ts'

export type { Frame }

export interface Ask {
  /** An id in either spelling, or a name. Null: a new one. */
  session: string | null
  message: string
  /** Only for doors that can name one. */
  agent?: string
  headers?: Record<string, string>
  signal?: AbortSignal
  /** What the client calls its run and its message, where it names them. Left out: something new. */
  id?: string
}

interface DoorClient {
  readonly name: string
  /** Null: it belongs to no door, and is always open. */
  readonly door: Door | null
  /** If it does not, the session's own agent answers, or the default one. */
  readonly namesAgent: boolean
  /** `Last-Event-ID` must belong to the session that the request names. */
  readonly resumesHere: boolean
  /** The statuses of its failures that are not the usual ones. */
  readonly statuses: Readonly<Record<string, number>>
  send(house: Pick<House, 'post' | 'get'>, ask: Ask): Promise<Response>
}

export interface StreamingDoor extends DoorClient {
  /** The text that a frame adds to the answer. */
  textOf(frame: Frame): string
  /** How the stream ended, for its last frame. Null for every other frame. */
  endOf(frame: Frame): string | null
}

/** Frames as they arrive, without comments. Throws when the stream ends inside a frame. */
export async function* framesOf(response: Response): AsyncGenerator<Frame> {
  if (response.status !== 200) throw new Error(`no stream: ${response.status} ${await response.text()}`)
  yield* sseFrames(response)
}

const Code = z.object({ code: z.string() })

const AgUiEvent = z.looseObject({
  type: z.string(),
  delta: z.string().optional(),
  code: z.string().optional(),
  outcome: z.object({ type: z.string() }).optional(),
})

const agUiWords = {
  textOf({ data }: Frame): string {
    const { type, delta = '' } = AgUiEvent.parse(JSON.parse(data))
    return type === 'TEXT_MESSAGE_CONTENT' ? delta : ''
  },
  endOf({ data }: Frame): string | null {
    const { type, code, outcome } = AgUiEvent.parse(JSON.parse(data))
    if (type === 'RUN_ERROR') return `error ${code}`
    return type === 'RUN_FINISHED' ? (outcome?.type ?? 'success') : null
  },
}

const post = (house: Pick<House, 'post'>, ask: Ask, path: string, body: unknown, headers = {}) =>
  house.post(path, body, { ...headers, ...ask.headers }, ask.signal)

/** A RunAgentInput of AG-UI 1.0. */
export const agUiInput = ({ session, message, id }: Pick<Ask, 'session' | 'id'> & { message?: string }) => ({
  protocolVersion: '1.0',
  threadId: session ?? crypto.randomUUID(),
  runId: id ?? crypto.randomUUID(),
  state: {},
  messages: message === undefined ? [] : [{ id: id ?? crypto.randomUUID(), role: 'user', content: message }],
  tools: [],
  context: [],
  forwardedProps: {},
})

const agUiDoor = (name: string, path: (agent: string) => string, namesAgent: boolean): StreamingDoor => ({
  name,
  door: 'ag-ui',
  namesAgent,
  resumesHere: true,
  statuses: {},
  send: (house, ask) => post(house, ask, path(ask.agent ?? 'tester'), agUiInput(ask)),
  ...agUiWords,
})

const agent = { door: 'rest', namesAgent: true, resumesHere: false, statuses: {} } as const

const agentStream: StreamingDoor = {
  ...agent,
  name: 'POST /agent/{name}/chat/stream',
  send: (house, ask) =>
    post(house, ask, `/agent/${ask.agent ?? 'tester'}/chat/stream`, { message: ask.message, session_id: ask.session }),
  textOf: ({ event, data }) =>
    event === 'message_delta' ? z.object({ delta: z.string() }).parse(JSON.parse(data)).delta : '',
  endOf({ event, data }) {
    if (event === 'error') return `error ${Code.parse(JSON.parse(data)).code}`
    return event === 'stream_end' ? 'success' : null
  },
}

const ThreadEvent = z.looseObject({
  event: z.string(),
  token: z.string().default(''),
  error_type: z.string().optional(),
})

const thread = { door: 'threads', namesAgent: false, resumesHere: true, statuses: {} } as const

const threads: StreamingDoor = {
  ...thread,
  name: 'POST /chat in a thread',
  send: (house, ask) => post(house, ask, '/chat', { message: ask.message, thread_id: ask.session }),
  textOf: ({ data }) => ThreadEvent.parse(JSON.parse(data)).token,
  endOf({ data }) {
    const { event, error_type } = ThreadEvent.parse(JSON.parse(data))
    if (event === 'error') return `error ${error_type}`
    return event === 'message_complete' ? 'success' : null
  },
}

const Chunk = z.object({
  error: Code.optional(),
  choices: z.array(z.object({ delta: z.object({ content: z.string().default('') }) })).default([]),
})

/** Clients of this API send a request again after most statuses, so what another try cannot change is 400. */
const openAi = {
  door: 'openai',
  namesAgent: true,
  resumesHere: false,
  statuses: { run_in_progress: 400, events_gone: 400, idempotency_mismatch: 400 },
} as const

/** The end is `[DONE]`. The chunk before it says how it ended. */
const completions: StreamingDoor = {
  ...openAi,
  name: 'POST /v1/chat/completions',
  send: (house, ask) =>
    post(
      house,
      ask,
      '/v1/chat/completions',
      { model: ask.agent ?? 'tester', stream: true, messages: [{ role: 'user', content: ask.message }] },
      ask.session === null ? {} : { 'X-Session-Id': ask.session },
    ),
  textOf: ({ data }) => (data === '[DONE]' ? '' : (Chunk.parse(JSON.parse(data)).choices[0]?.delta.content ?? '')),
  endOf: ({ data }) => (data === '[DONE]' ? '[DONE]' : null),
}

const ResponseEvent = z.looseObject({
  type: z.string(),
  delta: z.string().default(''),
  response: z.looseObject({ error: Code.nullable() }).optional(),
})

const responses: StreamingDoor = {
  ...openAi,
  name: 'POST /v1/responses',
  send: (house, ask) =>
    post(house, ask, '/v1/responses', {
      model: ask.agent ?? 'tester',
      stream: true,
      input: ask.message,
      ...(ask.session === null ? {} : { conversation: ask.session }),
    }),
  textOf({ data }) {
    const { type, delta } = ResponseEvent.parse(JSON.parse(data))
    return type === 'response.output_text.delta' ? delta : ''
  },
  endOf({ data }) {
    const { type, response } = ResponseEvent.parse(JSON.parse(data))
    if (type === 'response.failed') return `error ${response?.error?.code}`
    return type === 'response.completed' ? 'success' : null
  },
}

const UiChunk = z.looseObject({ type: z.string(), delta: z.string().default('') })

/** The end is `[DONE]`. The chunk before it says how it ended. */
const uiMessages: StreamingDoor = {
  name: 'POST /ai/chat',
  door: 'ai',
  namesAgent: true,
  resumesHere: true,
  statuses: {},
  send: (house, ask) =>
    post(house, ask, '/ai/chat', {
      id: ask.session ?? crypto.randomUUID(),
      trigger: 'submit-message',
      messages: [{ id: ask.id ?? crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text: ask.message }] }],
      ...(ask.agent === undefined ? {} : { agent: ask.agent }),
    }),
  textOf({ data }) {
    if (data === '[DONE]') return ''
    const { type, delta } = UiChunk.parse(JSON.parse(data))
    return type === 'text-delta' ? delta : ''
  },
  endOf: ({ data }) => (data === '[DONE]' ? '[DONE]' : null),
}

/** The run begins in the background, then its events are read. */
const background: StreamingDoor = {
  name: 'POST /sessions/{id}/messages, GET /runs/{id}/events',
  door: null,
  namesAgent: true,
  resumesHere: false,
  statuses: {},
  async send(house, ask) {
    const body = { message: ask.message, ...(ask.agent === undefined ? {} : { agent: ask.agent }) }
    const posted = await post(
      house,
      ask,
      `/sessions/${encodeURIComponent(ask.session ?? crypto.randomUUID())}/messages`,
      body,
    )
    if (posted.status !== 202) return posted
    return house.get(`${posted.headers.get('location')}/events`, ask.headers)
  },
  ...agUiWords,
}

export const streamingDoors: readonly StreamingDoor[] = [
  agUiDoor('POST /', () => '/', false),
  agUiDoor('POST /awp', () => '/awp', false),
  agUiDoor('POST /agents/{name}', (agent) => `/agents/${agent}`, true),
  agUiDoor('POST /copilotkit/agent/{name}/run', (agent) => `/copilotkit/agent/${agent}/run`, true),
  {
    ...agUiDoor('POST /invocations', () => '/invocations', false),
    send: (house, ask) =>
      post(house, ask, '/invocations', agUiInput({ ...ask, session: 'what the client calls it' }), {
        'X-Amzn-Bedrock-AgentCore-Runtime-Session-Id': ask.session ?? crypto.randomUUID(),
      }),
  },
  agentStream,
  threads,
  completions,
  responses,
  uiMessages,
  background,
]

/** The doors that answer at the end, with the text of the answer. */
export interface WaitingDoor extends DoorClient {
  /** `body` is parsed if it is JSON. */
  textOf(body: unknown): string
}

export const waitingDoors: readonly WaitingDoor[] = [
  {
    ...agent,
    name: 'POST /agent/{name}/chat',
    send: (house, ask) =>
      post(house, ask, `/agent/${ask.agent ?? 'tester'}/chat`, { message: ask.message, session_id: ask.session }),
    textOf: (body) => z.object({ content: z.string() }).parse(body).content,
  },
  {
    name: 'POST /chat in a session',
    door: 'rest',
    namesAgent: false,
    resumesHere: false,
    statuses: { invalid_request: 422 },
    send: (house, ask) => post(house, ask, '/chat', { message: ask.message, session_id: ask.session }),
    textOf: (body) => z.object({ message: z.string() }).parse(body).message,
  },
  {
    ...thread,
    name: 'POST /chat in a thread, whole',
    send: (house, ask) => post(house, ask, '/chat', { message: ask.message, thread_id: ask.session, stream: false }),
    textOf: (body) => z.object({ message: z.object({ content: z.string() }) }).parse(body).message.content,
  },
  {
    ...openAi,
    name: 'POST /v1/chat/completions, whole',
    send: (house, ask) =>
      post(house, ask, '/v1/chat/completions', {
        model: ask.agent ?? 'tester',
        messages: [{ role: 'user', content: ask.message }],
        ...(ask.session === null ? {} : { metadata: { session_id: ask.session } }),
      }),
    textOf: (body) =>
      z.object({ choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })]) }).parse(body).choices[0]
        .message.content,
  },
  {
    ...openAi,
    name: 'POST /v1/responses, whole',
    send: (house, ask) =>
      post(house, ask, '/v1/responses', {
        model: ask.agent ?? 'tester',
        input: ask.message,
        ...(ask.session === null ? {} : { conversation: { id: ask.session } }),
      }),
    textOf: (body) =>
      z
        .object({ output: z.array(z.object({ content: z.tuple([z.object({ text: z.string() })]) })) })
        .parse(body)
        .output.map(({ content }) => content[0].text)
        .join('\n\n'),
  },
]

export type AnyDoor = StreamingDoor | WaitingDoor

export const allDoors: readonly AnyDoor[] = [...streamingDoors, ...waitingDoors]
