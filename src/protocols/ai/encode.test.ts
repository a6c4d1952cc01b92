import { describe, expect, test } from 'vitest'
import type { Interrupt, RunEvent } from '../../domain/session/event.ts'
import { encodeEntry } from '../shared/answer/stream-answer.ts'
import { createUiEncoder, type UiMessageOf } from './encode.ts'

const run = { sessionId: 'session', agent: 'clerk' }
const started: RunEvent = { type: 'RUN_STARTED', threadId: 't', runId: 'run', protocolVersion: '1.0' }
const finished: RunEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'run', outcome: { type: 'success' } }
const startedShown = {
  type: 'start',
  messageId: 'message',
  messageMetadata: { sessionId: 'session', runId: 'run', agent: 'clerk' },
}
const finish = (finishReason: string, outcome: string) => ({
  type: 'finish',
  finishReason,
  messageMetadata: { outcome },
})
const intent = (call: string) => ({ fact: 'tool_intent', run: 'run', call, tool: 'note', effect: 'once', at: 0 })

const callOf = (toolCallId: string, args = '{"to":"bob"}'): RunEvent[] => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'note' },
  { type: 'TOOL_CALL_ARGS', toolCallId, delta: args },
  { type: 'TOOL_CALL_END', toolCallId },
]
const callShown = (toolCallId: string) => [
  { type: 'tool-input-start', toolCallId, toolName: 'note' },
  { type: 'tool-input-delta', toolCallId, inputTextDelta: '{"to":"bob"}' },
]
const available = (toolCallId: string) => ({
  type: 'tool-input-available',
  toolCallId,
  toolName: 'note',
  input: { to: 'bob' },
  providerExecuted: true,
})
const result = (toolCallId: string, content: string, status = 'success'): RunEvent => ({
  type: 'TOOL_CALL_RESULT',
  messageId: 'm',
  toolCallId,
  content,
  metadata: { quarterdeck: { status } },
})
const interrupt = (more: Partial<Interrupt> = {}): Interrupt => ({
  id: 'approval',
  reason: 'tool_call',
  message: 'Call note',
  toolCallId: 'c1',
  metadata: { quarterdeck: { tool: 'note', arguments: { to: 'bob' }, risk: 'low', digest: 'digest' } },
  ...more,
})
const waiting = (...interrupts: Interrupt[]): RunEvent => ({
  type: 'RUN_FINISHED',
  threadId: 't',
  runId: 'run',
  outcome: { type: 'interrupt', interrupts },
})
const request = {
  type: 'tool-approval-request',
  approvalId: 'approval',
  toolCallId: 'c1',
  reason: 'Call note',
  signature: 'digest',
  approvalDescriptor: { arguments: { to: 'bob' }, risk: 'low' },
}

/** The chunks of events and facts, as they come from the log. */
function chunksOf(written: readonly (RunEvent | { fact: string })[], more: Partial<UiMessageOf> = {}): unknown[] {
  const encoder = createUiEncoder({ run, messageId: 'message', held: [], runsBefore: 0, ...more })
  return written.flatMap((one, index) => {
    const kind = 'fact' in one ? ('fact' as const) : ('event' as const)
    return encodeEntry(encoder, { seq: index + 1, runId: 'run', kind, data: JSON.stringify(one) }).map(({ data }) =>
      data === '[DONE]' ? data : JSON.parse(data),
    )
  })
}

test('steps, reasoning and text are parts, and the end says what was used', () => {
  expect(
    chunksOf([
      started,
      { type: 'STEP_STARTED', stepName: 'step_1' },
      { type: 'REASONING_START', messageId: 'r' },
      { type: 'REASONING_MESSAGE_START', messageId: 'r', role: 'reasoning' },
      { type: 'REASONING_MESSAGE_CONTENT', messageId: 'r', delta: 'Hm.' },
      { type: 'REASONING_MESSAGE_END', messageId: 'r' },
      { type: 'REASONING_END', messageId: 'r' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Good "day".' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      { type: 'STEP_FINISHED', stepName: 'step_1' },
      { ...finished, usage: [{ inputTokens: 5, outputTokens: 2, cachedInputTokens: 3 }] } as RunEvent,
    ]),
  ).toEqual([
    startedShown,
    { type: 'start-step' },
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
    { type: 'reasoning-end', id: 'r' },
    { type: 'text-start', id: 'm' },
    { type: 'text-delta', id: 'm', delta: 'Good "day".' },
    { type: 'text-end', id: 'm' },
    { type: 'finish-step' },
    {
      type: 'finish',
      finishReason: 'stop',
      messageMetadata: {
        outcome: 'completed',
        usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7, cachedInputTokens: 3, reasoningTokens: 0 },
      },
    },
    '[DONE]',
  ])
})

describe('a call', () => {
  test('is the server’s when its tool begins, and has its result once', () => {
    expect(chunksOf([...callOf('c1'), intent('c1'), result('c1', '{"n":1}'), result('c1', 'again')])).toEqual([
      ...callShown('c1'),
      available('c1'),
      { type: 'tool-output-available', toolCallId: 'c1', output: { n: 1 } },
    ])
  })

  test('that failed has an error, also if its tool never began', () => {
    expect(chunksOf([...callOf('c1'), result('c1', 'No such tool.', 'error')])).toEqual([
      ...callShown('c1'),
      available('c1'),
      { type: 'tool-output-error', toolCallId: 'c1', errorText: 'No such tool.' },
    ])
  })

  test('that the client does not know is left out', () => {
    expect(chunksOf([result('c1', 'late')])).toEqual([])
  })

  test('that is open at the end of a stopped run is closed', () => {
    const cancelled: RunEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'run', outcome: { type: 'cancelled' } }

    expect(chunksOf([...callOf('c1'), cancelled]).slice(2)).toEqual([
      available('c1'),
      { type: 'tool-output-error', toolCallId: 'c1', errorText: 'The run ended before this call did.' },
      { type: 'abort', reason: 'The run was stopped.' },
      finish('interrupted', 'cancelled'),
      '[DONE]',
    ])
  })

  test('for the page is named at the end, when it is certain', () => {
    const encoder = createUiEncoder({ run, messageId: 'message', held: [], runsBefore: 0 })
    encoder.takeCalls([{ callId: 'c1', tool: 'note', arguments: '{"to":"bob"}' } as never])
    const outcome = { type: 'success' as const, pendingToolCallIds: ['c1'] }

    const frames = [...callOf('c1'), { ...finished, outcome } as RunEvent].flatMap((event) => encoder.encode(event))

    expect(frames.slice(2, -1).map(({ data }) => JSON.parse(data))).toEqual([
      { ...available('c1'), providerExecuted: false },
      finish('tool-calls', 'waiting'),
    ])
  })
})

describe('an approval', () => {
  test('is asked at the end, with our digest as its signature', () => {
    expect(chunksOf([...callOf('c1'), waiting(interrupt())]).slice(2)).toEqual([
      available('c1'),
      request,
      finish('tool-calls', 'waiting'),
      '[DONE]',
    ])
  })

  test('and its answer are in one message, if the stream goes over both runs', () => {
    const refused = result('c1', 'A person refused this call.', 'error')

    expect(
      chunksOf([started, ...callOf('c1'), waiting(interrupt()), started, refused, finished], { runsBefore: 1 }),
    ).toEqual([
      startedShown,
      ...callShown('c1'),
      available('c1'),
      request,
      { type: 'message-metadata', messageMetadata: startedShown.messageMetadata },
      {
        type: 'tool-approval-response',
        approvalId: 'approval',
        approved: false,
        reason: 'A person refused this call.',
      },
      { type: 'tool-output-denied', toolCallId: 'c1' },
      finish('stop', 'completed'),
      '[DONE]',
    ])
  })

  test('that the page gave itself is not told again', () => {
    const held = [{ id: 'c1', name: 'note', approval: { id: 'approval', isAnswered: true } }]

    expect(chunksOf([started, intent('c1'), result('c1', 'noted'), finished], { held })).toEqual([
      startedShown,
      { type: 'tool-output-available', toolCallId: 'c1', output: 'noted' },
      finish('stop', 'completed'),
      '[DONE]',
    ])
  })

  test('of a sub-agent’s call brings the call, and its result', () => {
    const inside = { ...result('c9', 'noted'), subagentRunId: 's' } as RunEvent
    const written = [waiting(interrupt({ toolCallId: 'c9' })), started, intent('c9'), inside, finished]

    expect(chunksOf(written, { runsBefore: 1 }).slice(0, 5)).toEqual([
      available('c9'),
      { ...request, toolCallId: 'c9' },
      startedShown,
      { type: 'tool-approval-response', approvalId: 'approval', approved: true },
      { type: 'tool-output-available', toolCallId: 'c9', output: 'noted' },
    ])
  })
})

test('a question of a tool is a part, and its call is for the page', () => {
  const question = interrupt({ reason: 'input_required', message: 'Which size?', responseSchema: { type: 'string' } })

  expect(chunksOf([...callOf('c1'), intent('c1'), waiting(question)]).slice(3)).toEqual([
    { ...available('c1'), providerExecuted: false },
    {
      type: 'data-question',
      id: 'approval',
      data: { toolCallId: 'c1', message: 'Which size?', schema: { type: 'string' }, digest: 'digest' },
    },
    finish('tool-calls', 'waiting'),
    '[DONE]',
  ])
})

test('a step that broke off is taken back when it is made again, with its calls', () => {
  const metadata = { quarterdeck: { brokenOff: true } }

  expect(
    chunksOf([
      { type: 'STEP_STARTED', stepName: 'step_1' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
      ...callOf('c1'),
      { type: 'TEXT_MESSAGE_END', messageId: 'm', metadata },
      { type: 'STEP_FINISHED', stepName: 'step_1' },
      { type: 'STEP_STARTED', stepName: 'step_1' },
      { type: 'STEP_FINISHED', stepName: 'step_1' },
      finished,
    ]),
  ).toEqual([
    { type: 'start-step' },
    { type: 'text-start', id: 'm' },
    ...callShown('c1'),
    { type: 'text-end', id: 'm' },
    { type: 'reset-step' },
    { type: 'finish-step' },
    finish('stop', 'completed'),
    '[DONE]',
  ])
})

test('state is shown whole, also after a change', () => {
  expect(
    chunksOf([
      { type: 'STATE_SNAPSHOT', snapshot: { n: 1 } },
      { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/n', value: 2 }] },
    ]),
  ).toEqual([
    { type: 'data-state', id: 'state', data: { n: 1 } },
    { type: 'data-state', id: 'state', data: { n: 2 } },
  ])
})

test('warnings and what tools send pass by, activities and sub-agents stay', () => {
  expect(
    chunksOf([
      { type: 'CUSTOM', name: 'quarterdeck:warning', value: { code: 'file_unreadable' } },
      { type: 'CUSTOM', name: 'mood', value: 1 },
      { type: 'ACTIVITY_SNAPSHOT', messageId: 'a', activityType: 'PROGRESS', content: { done: 1 } },
      { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'helper' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'inside', subagentRunId: 's' } as RunEvent,
      { type: 'SUBAGENT_FINISHED', subagentRunId: 's', outcome: { type: 'success' } },
    ]),
  ).toEqual([
    { type: 'data-warning', data: { code: 'file_unreadable' }, transient: true },
    { type: 'data-custom', data: { name: 'mood', value: 1 }, transient: true },
    { type: 'data-activity', id: 'a', data: { type: 'PROGRESS', content: { done: 1 } } },
    { type: 'data-subagent', id: 's', data: { name: 'helper', status: 'running' } },
    { type: 'data-subagent', id: 's', data: { name: 'helper', status: 'finished' } },
  ])
})

test('a failure is told to programs, then to people', () => {
  expect(chunksOf([{ type: 'RUN_ERROR', code: 'model_failed', message: 'It failed.' }])).toEqual([
    {
      type: 'message-metadata',
      messageMetadata: { outcome: 'failed', error: { code: 'model_failed', message: 'It failed.' } },
    },
    { type: 'error', errorText: 'It failed.' },
    '[DONE]',
  ])
})
