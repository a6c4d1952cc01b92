// How the load client talks to each door: the request it sends, and how the answer becomes events for `stream-check.ts`.

import type { StreamEvent } from './stream-check.ts'

export interface LoadDoor {
  /** Path after the address of the server. */
  readonly path: string
  /** True when the answer is a stream of events, false when it is one object at the end. */
  readonly streams: boolean
  /** This protocol has no event for the beginning of a run. */
  readonly startless?: true
  body(ask: LoadAsk): object
  /** One event of the stream, or the whole answer, as AG-UI events. Has only the fields that the check needs. */
  read(data: string): readonly StreamEvent[]
}

/** Every run has new names, unless the options say otherwise. */
export interface LoadAsk {
  thread: string
  run: string
  message: string
}

const STARTED: StreamEvent = { type: 'RUN_STARTED' }
const FINISHED: StreamEvent = { type: 'RUN_FINISHED' }
const content = (delta: string): StreamEvent => ({ type: 'TEXT_MESSAGE_CONTENT', delta })
const failed = (code: string): StreamEvent => ({ type: 'RUN_ERROR', code })
const whole = (text: string): StreamEvent[] => [STARTED, content(text), FINISHED]

const agUi: LoadDoor = {
  path: '',
  streams: true,
  body: ({ thread, run, message }) => ({
    protocolVersion: '1.0',
    threadId: thread,
    runId: run,
    state: {},
    messages: [{ id: `${run}-m`, role: 'user', content: message }],
    tools: [],
    context: [],
    forwardedProps: {},
  }),
  read: (data) => [JSON.parse(data)],
}

/** The event names are in the `event:` lines, but the shapes of the data are enough to tell the events apart. */
const agent: LoadDoor = {
  path: 'agent/bench/chat/stream',
  streams: true,
  body: ({ message }) => ({ message }),
  read(data) {
    const event: { delta?: string; session_id?: string; execution_time_ms?: number; code?: string } = JSON.parse(data)
    if (event.delta !== undefined) return [content(event.delta)]
    if (event.code !== undefined) return [failed(event.code)]
    if (event.session_id !== undefined) return [STARTED]
    return event.execution_time_ms === undefined ? [] : [FINISHED]
  },
}

const threads: LoadDoor = {
  path: 'chat',
  streams: true,
  startless: true,
  body: ({ message }) => ({ message, stream: true }),
  read(data) {
    const event: { event: string; token?: string; error_type?: string } = JSON.parse(data)
    if (event.event === 'token') return [content(event.token ?? '')]
    if (event.event === 'error') return [failed(event.error_type ?? '')]
    return event.event === 'message_complete' ? [FINISHED] : []
  },
}

const completions: LoadDoor = {
  path: 'v1/chat/completions',
  streams: true,
  body: ({ thread, message }) => ({
    model: 'bench',
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: message }],
    metadata: { session_id: thread },
  }),
  read(data) {
    if (data.endsWith('[DONE]')) return [FINISHED]
    const chunk: { choices?: { delta: { role?: string; content?: string } }[]; error?: { code: string } } =
      JSON.parse(data)
    if (chunk.error !== undefined) return [failed(chunk.error.code)]
    const delta = chunk.choices?.[0]?.delta
    if (delta?.role !== undefined) return [STARTED]
    return delta?.content === undefined ? [] : [content(delta.content)]
  },
}

const responses: LoadDoor = {
  path: 'v1/responses',
  streams: true,
  body: ({ thread, message }) => ({ model: 'bench', stream: true, input: message, conversation: thread }),
  read(data) {
    const event: { type: string; delta?: string; response?: { error: { code: string } | null } } = JSON.parse(data)
    if (event.type === 'response.output_text.delta') return [content(event.delta ?? '')]
    if (event.type === 'response.created') return [STARTED]
    if (event.type === 'response.completed') return [FINISHED]
    return event.type === 'response.failed' ? [failed(event.response?.error?.code ?? '')] : []
  },
}

const agentWhole: LoadDoor = {
  path: 'agent/bench/chat',
  streams: false,
  body: ({ message }) => ({ message }),
  read(data) {
    const answer: { content: string } = JSON.parse(data)
    return whole(answer.content)
  },
}

const chatWhole: LoadDoor = {
  path: 'chat',
  streams: false,
  body: ({ message }) => ({ message, user_id: 'bench' }),
  read(data) {
    const answer: { message: string } = JSON.parse(data)
    return whole(answer.message)
  },
}

const threadsWhole: LoadDoor = {
  path: 'chat',
  streams: false,
  body: ({ message }) => ({ message, stream: false }),
  read(data) {
    const answer: { message: { content: string } } = JSON.parse(data)
    return whole(answer.message.content)
  },
}

const completionsWhole: LoadDoor = {
  ...completions,
  streams: false,
  body: ({ thread, message }) => ({
    model: 'bench',
    messages: [{ role: 'user', content: message }],
    metadata: { session_id: thread },
  }),
  read(data) {
    const answer: { choices: { message: { content: string } }[] } = JSON.parse(data)
    return whole(answer.choices[0]?.message.content ?? '')
  },
}

const responsesWhole: LoadDoor = {
  ...responses,
  streams: false,
  body: ({ thread, message }) => ({ model: 'bench', input: message, conversation: thread }),
  read(data) {
    const answer: { output: { content: { text: string }[] }[] } = JSON.parse(data)
    return whole(answer.output.map(({ content: [part] }) => part?.text ?? '').join(''))
  },
}

export const loadDoors = {
  'ag-ui': agUi,
  agent,
  threads,
  completions,
  responses,
  'agent-whole': agentWhole,
  'chat-whole': chatWhole,
  'threads-whole': threadsWhole,
  'completions-whole': completionsWhole,
  'responses-whole': responsesWhole,
} as const satisfies Record<string, LoadDoor>

export type LoadDoorName = keyof typeof loadDoors

export const isLoadDoor = (name: string): name is LoadDoorName => Object.hasOwn(loadDoors, name)
