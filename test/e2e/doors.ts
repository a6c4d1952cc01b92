// The doors of the server as clients see them: how to ask each in a session, and what its stream contains.

import { z } from 'zod'
import { type Frame, framesOf as sseFrames } from '../../src/protocols/testing/sse-reader.ts'
import type { House } from './open-house.ts'

export type { Frame }

export interface Ask {
  /** An id in either spelling, or a name. */
  session: string
  message: string
  /** Only for doors that can name one. */
  agent?: string
}

export interface StreamingDoor {
  readonly name: string
  /** If it does not, the session's own agent answers, or the default one. */
  readonly namesAgent: boolean
  open(house: Pick<House, 'post' | 'get'>, ask: Ask): Promise<Response>
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

/** A RunAgentInput of AG-UI 1.0. */
export const agUiInput = ({ session, message }: Pick<Ask, 'session'> & { message?: string }) => ({
  protocolVersion: '1.0',
  threadId: session,
  runId: crypto.randomUUID(),
  state: {},
  messages: message === undefined ? [] : [{ id: crypto.randomUUID(), role: 'user', content: message }],
  tools: [],
  context: [],
  forwardedProps: {},
})

const agUiDoor = (name: string, path: (agent: string) => string, namesAgent: boolean): StreamingDoor => ({
  name,
  namesAgent,
  open: (house, ask) => house.post(path(ask.agent ?? 'tester'), agUiInput(ask)),
  ...agUiWords,
})

const agentStream: StreamingDoor = {
  name: 'POST /agent/{name}/chat/stream',
  namesAgent: true,
  open: (house, { session, message, agent = 'tester' }) =>
    house.post(`/agent/${agent}/chat/stream`, { message, session_id: session }),
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

const threads: StreamingDoor = {
  name: 'POST /chat in a thread',
  namesAgent: false,
  open: (house, { session, message }) => house.post('/chat', { message, thread_id: session }),
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

/** The end is `[DONE]`. The chunk before it says how it ended. */
const completions: StreamingDoor = {
  name: 'POST /v1/chat/completions',
  namesAgent: true,
  open: (house, { session, message, agent = 'tester' }) =>
    house.post(
      '/v1/chat/completions',
      { model: agent, stream: true, messages: [{ role: 'user', content: message }] },
      { 'X-Session-Id': session },
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
  name: 'POST /v1/responses',
  namesAgent: true,
  open: (house, { session, message, agent = 'tester' }) =>
    house.post('/v1/responses', { model: agent, stream: true, input: message, conversation: session }),
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

/** The run begins in the background, then its events are read. */
const background: StreamingDoor = {
  name: 'POST /sessions/{id}/messages, GET /runs/{id}/events',
  namesAgent: true,
  async open(house, { session, message, agent }) {
    const body = { message, ...(agent === undefined ? {} : { agent }) }
    const posted = await house.post(`/sessions/${encodeURIComponent(session)}/messages`, body)
    if (posted.status !== 202) return posted
    return house.get(`${posted.headers.get('location')}/events`)
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
    open: (house, ask) =>
      house.post('/invocations', agUiInput({ ...ask, session: 'what the client calls it' }), {
        'X-Amzn-Bedrock-AgentCore-Runtime-Session-Id': ask.session,
      }),
  },
  agentStream,
  threads,
  completions,
  responses,
  background,
]

/** The doors that answer at the end, with the text of the answer. */
export interface WaitingDoor {
  readonly name: string
  readonly namesAgent: boolean
  ask(house: Pick<House, 'post'>, ask: Ask): Promise<Response>
  textOf(body: unknown): string
}

export const waitingDoors: readonly WaitingDoor[] = [
  {
    name: 'POST /agent/{name}/chat',
    namesAgent: true,
    ask: (house, { session, message, agent = 'tester' }) =>
      house.post(`/agent/${agent}/chat`, { message, session_id: session }),
    textOf: (body) => z.object({ content: z.string() }).parse(body).content,
  },
  {
    name: 'POST /chat in a session',
    namesAgent: false,
    ask: (house, { session, message }) => house.post('/chat', { message, session_id: session }),
    textOf: (body) => z.object({ message: z.string() }).parse(body).message,
  },
  {
    name: 'POST /chat in a thread, whole',
    namesAgent: false,
    ask: (house, { session, message }) => house.post('/chat', { message, thread_id: session, stream: false }),
    textOf: (body) => z.object({ message: z.object({ content: z.string() }) }).parse(body).message.content,
  },
  {
    name: 'POST /v1/chat/completions, whole',
    namesAgent: true,
    ask: (house, { session, message, agent = 'tester' }) =>
      house.post('/v1/chat/completions', {
        model: agent,
        messages: [{ role: 'user', content: message }],
        metadata: { session_id: session },
      }),
    textOf: (body) =>
      z.object({ choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })]) }).parse(body).choices[0]
        .message.content,
  },
  {
    name: 'POST /v1/responses, whole',
    namesAgent: true,
    ask: (house, { session, message, agent = 'tester' }) =>
      house.post('/v1/responses', { model: agent, input: message, conversation: { id: session } }),
    textOf: (body) =>
      z
        .object({ output: z.array(z.object({ content: z.tuple([z.object({ text: z.string() })]) })) })
        .parse(body)
        .output.map(({ content }) => content[0].text)
        .join('\n\n'),
  },
]
