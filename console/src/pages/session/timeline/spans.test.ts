import type { RunEvent } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import type { LogEvent } from '../../../data/live-types.ts'
import { type Span, spansOf, tokensIn } from './spans.ts'

/** Events with a number each, at the given times. */
const log = (...events: [at: number, event: RunEvent][]): LogEvent[] =>
  events.map(([at, event], i) => ({ seq: i + 1, at, event }))

const started = (runId: string, more = {}): RunEvent => ({ type: 'RUN_STARTED', threadId: 't', runId, ...more })
const row = ({ kind, name, start, end, status, depth }: Span) => [kind, name, start, end, status, depth]

test('a run has its model calls and tool calls, and a tool runs from the end of its arguments', () => {
  const { list, end } = spansOf(
    log(
      [0, started('r', { input: { messages: [{ role: 'user', id: 'u', content: 'what  time\nis it?' }] } })],
      [10, { type: 'STEP_STARTED', stepName: 'step_1' }],
      [30, { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'clock' }],
      [40, { type: 'TOOL_CALL_END', toolCallId: 'c' }],
      [41, { type: 'STEP_FINISHED', stepName: 'step_1' }],
      [90, { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: 'late' }],
      [100, { type: 'STEP_STARTED', stepName: 'step_2' }],
      [150, { type: 'STEP_FINISHED', stepName: 'step_2' }],
      [160, { type: 'RUN_FINISHED', threadId: 't', runId: 'r', usage: [{ inputTokens: 5, outputTokens: 2 }] }],
    ),
  )

  expect(list.map(row)).toEqual([
    ['run', 'Run', 0, 160, 'done', 0],
    ['model', 'Model call 1', 10, 41, 'done', 1],
    ['tool', 'clock', 40, 90, 'done', 1],
    ['model', 'Model call 2', 100, 150, 'done', 1],
  ])
  expect(end).toBe(160)
  expect(list[0]?.text).toBe('what time is it?')
  expect(list[1]?.firstAnswerAt).toBe(30)
  expect(tokensIn(list[0]?.usage ?? [])).toBe(7)
})

test('a model call that failed says so and why, whether it had begun to answer or not', () => {
  const brokenOff = { metadata: { quarterdeck: { brokenOff: true } } }
  const { list } = spansOf(
    log(
      [0, started('r')],
      [10, { type: 'STEP_STARTED', stepName: 'step_1' }],
      [20, { type: 'STEP_FINISHED', stepName: 'step_1' }],
      [20, { type: 'RUN_ERROR', message: 'The key was refused.', code: 'model_auth_failed' }],
      [30, started('s')],
      [40, { type: 'STEP_STARTED', stepName: 'step_1' }],
      [50, { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' }],
      [60, { type: 'TEXT_MESSAGE_END', messageId: 'm', ...brokenOff }],
      [60, { type: 'STEP_FINISHED', stepName: 'step_1' }],
      [60, { type: 'RUN_ERROR', message: 'The model broke.', code: 'model_failed' }],
      [70, started('t')],
      [80, { type: 'STEP_STARTED', stepName: 'step_1' }],
      [90, { type: 'STEP_FINISHED', stepName: 'step_1' }],
      [90, { type: 'RUN_ERROR', message: 'Too many steps.', code: 'limit' }],
    ),
  )

  expect(list.filter(({ kind }) => kind === 'model').map(({ status, text }) => [status, text])).toEqual([
    ['failed', 'The key was refused.'],
    ['failed', 'The model broke.'],
    ['done', null],
  ])
})

test('an answer that broke off is marked, and the next one begins anew', () => {
  const brokenOff = { metadata: { quarterdeck: { brokenOff: true } } }
  const { list } = spansOf(
    log(
      [0, started('r')],
      [10, { type: 'STEP_STARTED', stepName: 'step_1' }],
      [20, { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' }],
      [9_000, { type: 'TEXT_MESSAGE_END', messageId: 'm', ...brokenOff }],
      [9_000, { type: 'STEP_FINISHED', stepName: 'step_1' }],
      [9_010, { type: 'STEP_STARTED', stepName: 'step_1' }],
      [9_020, { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'send' }],
      [20_000, { type: 'TOOL_CALL_END', toolCallId: 'c', ...brokenOff }],
      [20_000, { type: 'STEP_FINISHED', stepName: 'step_1' }],
      [20_010, { type: 'STEP_STARTED', stepName: 'step_1' }],
      [20_500, { type: 'STEP_FINISHED', stepName: 'step_1' }],
      [20_510, { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }],
    ),
  )

  expect(list.map(row)).toEqual([
    ['run', 'Run', 0, 20_510, 'done', 0],
    ['model', 'Model call 1', 10, 9_000, 'stopped', 1],
    ['model', 'Model call 1', 9_010, 20_000, 'stopped', 1],
    ['tool', 'send', 9_020, 20_000, 'stopped', 1],
    ['model', 'Model call 1', 20_010, 20_500, 'done', 1],
  ])
})

test('a wait lasts until the next run, in which the call runs', () => {
  const { list } = spansOf(
    log(
      [0, started('a')],
      [10, { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'send' }],
      [11, { type: 'TOOL_CALL_END', toolCallId: 'c' }],
      [
        20,
        {
          type: 'RUN_FINISHED',
          threadId: 't',
          runId: 'a',
          outcome: {
            type: 'interrupt',
            interrupts: [{ id: 'i', reason: 'approval', message: 'Send it?', toolCallId: 'c' }],
          },
        },
      ],
      [5_000, started('b', { parentRunId: 'a' })],
      [
        5_040,
        {
          type: 'TOOL_CALL_RESULT',
          messageId: 'm',
          toolCallId: 'c',
          content: 'no such address',
          metadata: { quarterdeck: { status: 'error', durationMs: 30 } },
        },
      ],
      [5_100, { type: 'RUN_FINISHED', threadId: 't', runId: 'b' }],
    ),
  )

  expect(list.map(row)).toEqual([
    ['run', 'Run', 0, 20, 'done', 0],
    ['tool', 'send', 11, 20, 'waiting', 1],
    ['wait', 'Waits for a person', 20, 5_000, 'done', 0],
    ['run', 'Run', 5_000, 5_100, 'done', 0],
    ['tool', 'send', 5_010, 5_040, 'failed', 1],
  ])
  expect(list[2]?.text).toBe('Send it?')
  expect(list[4]?.text).toBe('no such address')
})

test('what a failed run left open failed with it, and what still works has no end', () => {
  const { list } = spansOf(
    log(
      [0, started('a')],
      [5, { type: 'STEP_STARTED', stepName: 'step_1' }],
      [9, { type: 'RUN_ERROR', message: 'The model is away.' }],
      [20, started('b')],
      [25, { type: 'STEP_STARTED', stepName: 'step_1' }],
    ),
  )

  expect(list.map(row)).toEqual([
    ['run', 'Run', 0, 9, 'failed', 0],
    ['model', 'Model call 1', 5, 9, 'failed', 1],
    ['run', 'Run', 20, null, 'working', 0],
    ['model', 'Model call 1', 25, null, 'working', 1],
  ])
  expect(list[0]?.text).toBe('The model is away.')
})

test('sub-agents are deeper than the call that started them', () => {
  const { list } = spansOf(
    log(
      [0, started('a')],
      [1, { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'ask_expert' }],
      [2, { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'expert', parentToolCallId: 'c' }],
      [3, { type: 'STEP_STARTED', stepName: 'step_1', subagentRunId: 's' }],
      [4, { type: 'STEP_FINISHED', stepName: 'step_1', subagentRunId: 's' }],
      [5, { type: 'SUBAGENT_ERROR', subagentRunId: 's', message: 'lost' }],
    ),
  )

  expect(list.map(({ name, depth, status }) => [name, depth, status])).toEqual([
    ['Run', 0, 'working'],
    ['ask_expert', 1, 'working'],
    ['expert', 2, 'failed'],
    ['Model call 1', 3, 'done'],
  ])
})

test('a step has the tokens that the server says, and a sub-agent those of all steps below it', () => {
  const step = (seq: number, subagentRunId: string | undefined, usage: object | null): [number, RunEvent][] => {
    const place = { stepName: `step_${seq}`, ...(subagentRunId === undefined ? {} : { subagentRunId }) }
    const metadata = usage === null ? {} : { metadata: { quarterdeck: { usage } } }
    return [
      [seq, { type: 'STEP_STARTED', ...place }],
      [seq, { type: 'STEP_FINISHED', ...place, ...metadata }],
    ]
  }
  const mini = { provider: 'openai', model: 'mini', inputTokens: 10, outputTokens: 2, totalTokens: 12 }
  const large = { ...mini, model: 'large', cachedInputTokens: 4 }
  const { list } = spansOf(
    log(
      [0, started('a')],
      ...step(1, undefined, null),
      [2, { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'expert' }],
      ...step(3, 's', mini),
      [4, { type: 'SUBAGENT_STARTED', subagentRunId: 't', name: 'helper', parentSubagentRunId: 's' }],
      ...step(5, 't', mini),
      ...step(6, 't', large),
      [7, { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'expert', parentSubagentRunId: 't' }],
      ...step(8, 's', null),
    ),
  )

  const twice = { ...mini, inputTokens: 20, outputTokens: 4, totalTokens: 24 }
  expect(list.map(({ name, usage }) => [name, usage])).toEqual([
    ['Run', []],
    ['Model call 1', []],
    ['expert', [twice, large]],
    ['Model call 3', [mini]],
    ['helper', [mini, large]],
    ['Model call 5', [mini]],
    ['Model call 6', [large]],
    ['Model call 8', []],
  ])
})

test('events from the middle of a run make no mess', () => {
  const { list } = spansOf(
    log(
      [5, { type: 'STEP_FINISHED', stepName: 'step_3' }],
      [6, { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: 'x' }],
      [7, { type: 'RUN_FINISHED', threadId: 't', runId: 'a' }],
    ),
  )

  expect(list.map(row)).toEqual([['tool', 'Tool call', 6, 6, 'done', 1]])
})
