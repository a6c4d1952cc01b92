import { describe, expect, test } from 'vitest'
import type { ClientCall } from '../../domain/records/record.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import { createRunFold } from '../../domain/session/run-answer.ts'
import { ChatChunkSchema, ChatCompletionSchema } from './chat-schema.ts'
import { chatCompletion, createChatEncoder } from './encode-chat.ts'

const run = {
  id: '0198a3c4-5d6e-7f80-9a1b-2c3d4e5f6071',
  sessionId: 's',
  agent: 'tester',
  createdAt: 1_800_000_000_999,
}
const head = { id: 'chatcmpl-0198a3c45d6e7f809a1b2c3d4e5f6071', created: 1_800_000_000, model: 'tester' }
const chunkHead = { ...head, object: 'chat.completion.chunk' }

const started: RunEvent = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const say = (messageId: string, delta: string): RunEvent => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
const usage = [
  { provider: 'p', model: 'm', inputTokens: 5, outputTokens: 2, cachedInputTokens: 4 },
  { provider: 'p', model: 'n', inputTokens: 10, outputTokens: 3, reasoningTokens: 1 },
]
const finished: RunEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', usage }
const cancelled: RunEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'cancelled' } }
const failed = (code: string): RunEvent => ({ type: 'RUN_ERROR', message: 'Why.', code })
const counted = {
  prompt_tokens: 15,
  completion_tokens: 5,
  total_tokens: 20,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 1 },
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
const toolCall = { id: pick.callId, type: 'function', function: { name: 'pick', arguments: pick.arguments } }
const left: RunEvent = { ...finished, outcome: { type: 'success', pendingToolCallIds: [pick.callId] } }

function chunks(events: RunEvent[], includeUsage = false): unknown[] {
  const encoder = createChatEncoder(run, { includeUsage })
  encoder.takeCalls([pick])
  return events
    .flatMap((event) => encoder.encode(event))
    .map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)))
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...chunkHead,
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
})

describe('the chunks of a run', () => {
  test('are its role, its text and its end', () => {
    expect(chunks([started, say('a', 'Good '), say('a', '"day".\n'), finished])).toEqual([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Good ' }),
      chunk({ content: '"day".\n' }),
      chunk({}, 'stop'),
      '[DONE]',
    ])
  })

  test('keep apart what was said before and after a tool', () => {
    expect(chunks([say('a', 'Let me see.'), say('b', 'A '), say('b', 'ship.')])).toEqual([
      chunk({ content: 'Let me see.' }),
      chunk({ content: '\n\nA ' }),
      chunk({ content: 'ship.' }),
    ])
  })

  test('tell the usage where it is asked for', () => {
    const sent = chunks([say('a', 'Hi'), finished], true)

    expect(sent).toEqual([
      { ...chunk({ content: 'Hi' }), usage: null },
      { ...chunk({}, 'stop'), usage: null },
      { ...chunkHead, choices: [], usage: counted },
      '[DONE]',
    ])
    for (const one of sent.slice(0, -1)) expect(ChatChunkSchema.parse(one)).toEqual(one)
  })

  test('end with an error and [DONE] when the run fails', () => {
    expect(chunks([failed('model_timeout')], true)).toEqual([
      { error: { message: 'Why.', type: 'server_error', param: null, code: 'model_timeout' } },
      '[DONE]',
    ])
    expect(chunks([cancelled])).toEqual([
      {
        error: {
          message: 'The run was stopped before its answer was complete.',
          type: 'invalid_request_error',
          param: null,
          code: 'cancelled',
        },
      },
      '[DONE]',
    ])
  })

  test('end with the calls that the caller is to run', () => {
    const sent = chunks([say('a', 'Pick.'), left])

    expect(sent).toEqual([
      chunk({ content: 'Pick.' }),
      chunk({
        tool_calls: [{ index: 0, id: pick.callId, type: 'function', function: { name: 'pick', arguments: '' } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"of":"colour"}' } }] }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ])
    for (const one of sent.slice(0, -1)) expect(ChatChunkSchema.parse(one)).toEqual(one)
  })

  test('end as filtered when the model refuses', () => {
    expect(chunks([failed('model_refused')])).toEqual([chunk({}, 'content_filter'), '[DONE]'])
  })

  test('end with the reason length where the model came to its limit', () => {
    const cut: RunEvent = { ...finished, metadata: { quarterdeck: { finishReason: 'length' } } }
    expect(chunks([cut])).toEqual([chunk({}, 'length'), '[DONE]'])
  })
})

describe('the completion of a run', () => {
  const complete = (...events: RunEvent[]) => {
    const fold = createRunFold()
    for (const event of [started, ...events]) fold.add(event)
    const answer = fold.answer()
    if (answer === null) throw new Error('the run has not ended')
    return chatCompletion(run, answer, answer.clientCallIds.length === 0 ? [] : [pick])
  }
  const completion = (content: string, finish_reason: string) => ({
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason }],
  })

  test('has all that was said, and the usage', () => {
    const whole = complete(say('a', 'Let me see.'), say('b', 'A ship.'), finished)

    expect(whole).toEqual({ ...completion('Let me see.\n\nA ship.', 'stop'), usage: counted })
    expect(ChatCompletionSchema.parse(whole)).toEqual(whole)
  })

  test('keeps what was said before a refusal', () => {
    expect(complete(say('a', 'Well'), failed('model_refused'))).toEqual(completion('Well', 'content_filter'))
  })

  test('is what the run failed with', () => {
    expect(() => complete(failed('model_timeout'))).toThrow(expect.objectContaining({ code: 'model_timeout' }))
    expect(() => complete(cancelled)).toThrow(expect.objectContaining({ code: 'cancelled' }))
  })

  test('is refused where the run waits for a person', () => {
    const waiting: RunEvent = {
      type: 'RUN_FINISHED',
      threadId: 't',
      runId: 'r',
      outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'approval' }] },
    }

    expect(() => complete(waiting)).toThrow(
      expect.objectContaining({
        code: 'approval_pending',
        message: expect.stringContaining(`Run ${run.id} waits for a person to decide (approval i)`),
      }),
    )
  })

  test('has the calls that the caller is to run, and what was said before them or null', () => {
    const called = { tool_calls: [toolCall] }
    const choice = (content: string | null) => ({
      index: 0,
      message: { role: 'assistant', content, refusal: null, ...called },
      logprobs: null,
      finish_reason: 'tool_calls',
    })

    expect(complete(say('a', 'Pick.'), left).choices).toEqual([choice('Pick.')])
    expect(complete(left).choices).toEqual([choice(null)])
    expect(ChatCompletionSchema.safeParse(complete(left))).toMatchObject({ success: true })
  })
})
