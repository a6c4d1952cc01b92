import { describe, expect, test } from 'vitest'
import type { ClientCall } from '../../domain/records/record.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import { createResponseEncoder } from './encode-response.ts'
import { outputItem, outputText, responseObject } from './response-object.ts'
import { ResponseEventSchema } from './response-schema.ts'

const run = {
  id: '0198a3c4-5d6e-7f80-9a1b-2c3d4e5f6071',
  sessionId: 's',
  agent: 'tester',
  createdAt: 1_800_000_000_999,
}
const a = '0198a3c4-5d6e-7f80-9a1b-2c3d4e5f60aa'
const b = '0198a3c4-5d6e-7f80-9a1b-2c3d4e5f60bb'
const asked = {
  instructions: 'Be brief.',
  conversation: 'talk',
  previousResponseId: null,
  format: null,
  user: 'ada',
  metadata: { topic: 'ships' },
  callerTools: {
    tools: [{ name: 'pick', description: 'Picks.', parameters: { type: 'object' } }],
    choice: 'auto' as const,
    warnings: [],
  },
}
const pick: ClientCall = {
  id: '0198a3c4-5d6e-7f80-9a1b-2c3d4e5f60cc',
  wait: 'client_call',
  status: 'pending',
  onExpiry: 'complete',
  sessionId: 's',
  owner: 'ada',
  agent: 'tester',
  runId: run.id,
  callId: 'call_0198a3c4-5d6e-7f80-9a1b-2c3d4e5f60cc',
  tool: 'pick',
  arguments: '{"of":"colour"}',
  lane: null,
  createdAt: 0,
  expiresAt: null,
  continuationRunId: null,
  answeredAt: null,
}
const started: RunEvent = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const usage = [{ provider: 'p', model: 'm', inputTokens: 5, outputTokens: 2 }]
const finished: RunEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', usage }
const begin = (messageId: string): RunEvent => ({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
const say = (messageId: string, delta: string): RunEvent => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
const end = (messageId: string): RunEvent => ({ type: 'TEXT_MESSAGE_END', messageId })
const failed = (code: string): RunEvent => ({ type: 'RUN_ERROR', message: 'Why.', code })

/** The events, once it is certain that they are numbered, named and as described. */
function events(...of: RunEvent[]) {
  const encoder = createResponseEncoder(run, asked)
  encoder.takeCalls([pick])
  return of
    .flatMap((event) => encoder.encode(event))
    .map(({ event: name, data }, index) => {
      const { sequence_number, ...event } = ResponseEventSchema.parse(JSON.parse(data))
      expect({ ...event, sequence_number }).toEqual(JSON.parse(data))
      expect([sequence_number, event.type]).toEqual([index, name])
      return event
    })
}

const types = (...of: RunEvent[]) => events(...of).map(({ type }) => type)

const item = (id: string, text: string, status: 'completed' | 'incomplete') => outputItem(run, id, text, status)

/** What a message becomes. */
const said = (messageId: string, output_index: number, ...deltas: string[]) => {
  const part = { item_id: item(messageId, '', 'completed').id, output_index, content_index: 0 }
  const text = deltas.join('')
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...outputItem(run, messageId, '', 'in_progress'), content: [] },
    },
    { type: 'response.content_part.added', ...part, part: outputText('') },
    ...deltas.map((delta) => ({ type: 'response.output_text.delta', ...part, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...part, text, logprobs: [] },
    { type: 'response.content_part.done', ...part, part: outputText(text) },
    { type: 'response.output_item.done', output_index, item: item(messageId, text, 'completed') },
  ]
}

describe('the events of a response', () => {
  test('are its start, an item for each message, and its end with all of it', () => {
    const running = responseObject(run, asked, { ending: null, output: [] })
    const output = [item(a, 'Let me see.', 'completed'), item(b, 'A ship.', 'completed')]

    expect(
      events(
        started,
        begin(a),
        say(a, 'Let me see.'),
        end(a),
        begin(b),
        say(b, 'A '),
        say(b, 'ship.'),
        end(b),
        finished,
      ),
    ).toEqual([
      { type: 'response.created', response: running },
      { type: 'response.in_progress', response: running },
      ...said(a, 0, 'Let me see.'),
      ...said(b, 1, 'A ', 'ship.'),
      {
        type: 'response.completed',
        response: responseObject(run, asked, { ending: { kind: 'complete' }, output, usage }),
      },
    ])
  })

  test('tell of a response what was asked and what it took', () => {
    expect(events(finished)[0]).toMatchObject({
      response: {
        id: 'resp_0198a3c45d6e7f809a1b2c3d4e5f6071',
        created_at: 1_800_000_000,
        status: 'completed',
        model: 'tester',
        instructions: 'Be brief.',
        conversation: { id: 'talk' },
        metadata: { topic: 'ships' },
        user: 'ada',
        tool_choice: 'auto',
        tools: [
          { type: 'function', name: 'pick', description: 'Picks.', parameters: { type: 'object' }, strict: false },
        ],
        usage: {
          input_tokens: 5,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 2,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 7,
        },
      },
    })
  })

  test('end with an item for each call that the caller is to run', () => {
    const outcome = { type: 'success' as const, pendingToolCallIds: [pick.callId] }
    const { callId: call_id, tool: name, arguments: args } = pick
    const id = 'fc_0198a3c45d6e7f809a1b2c3d4e5f60cc'
    const call = { id, type: 'function_call', status: 'completed', call_id, name, arguments: args }

    const all = events(begin(a), say(a, 'Pick.'), end(a), { ...finished, outcome })

    expect(all.slice(6, -1)).toEqual([
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { ...call, arguments: '', status: 'in_progress' },
      },
      { type: 'response.function_call_arguments.delta', item_id: id, output_index: 1, delta: args },
      { type: 'response.function_call_arguments.done', item_id: id, output_index: 1, name, arguments: args },
      { type: 'response.output_item.done', output_index: 1, item: call },
    ])
    expect(all.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { status: 'completed', output: [item(a, 'Pick.', 'completed'), call] },
    })
  })

  test('close an open message before they end with a failure', () => {
    const all = events(begin(a), say(a, 'Well'), failed('shutting_down'))

    expect(all.slice(3).map(({ type }) => type)).toEqual([
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.failed',
    ])
    expect(all.at(-1)).toMatchObject({
      response: {
        status: 'failed',
        error: { code: 'shutting_down', message: 'Why.' },
        output: [item(a, 'Well', 'incomplete')],
      },
    })
  })

  test('end as incomplete when the model refuses', () => {
    expect(events(failed('model_refused'))).toMatchObject([
      {
        type: 'response.incomplete',
        response: { status: 'incomplete', error: null, incomplete_details: { reason: 'content_filter' } },
      },
    ])
  })

  test('mark a message that a crash cut off', () => {
    const cut: RunEvent = {
      type: 'TEXT_MESSAGE_END',
      messageId: a,
      metadata: { quarterdeck: { brokenOff: true } },
    }

    expect(events(begin(a), say(a, 'Go'), cut).at(-1)).toMatchObject({ item: { status: 'incomplete' } })
  })

  test('leave out what is not for the client', () => {
    expect(types({ type: 'STEP_STARTED', stepName: 's' }, { type: 'STEP_FINISHED', stepName: 's' })).toEqual([])
  })
})
