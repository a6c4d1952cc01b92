import { describe, expect, test } from 'vitest'
import type { RunEvent } from './event.ts'
import { createRunFold, parseArguments, type RunAnswer } from './run-answer.ts'

function foldRun(events: Iterable<RunEvent>): RunAnswer | null {
  const fold = createRunFold()
  for (const event of events) fold.add(event)
  return fold.answer()
}

const started: RunEvent = { type: 'RUN_STARTED', threadId: 't', runId: 'r', timestamp: 1_000 }
const finished: RunEvent = {
  type: 'RUN_FINISHED',
  threadId: 't',
  runId: 'r',
  outcome: { type: 'success' },
  timestamp: 1_900,
}
const say = (messageId: string, ...deltas: string[]): RunEvent[] =>
  deltas.map((delta) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta, timestamp: 1_100 }))
const brokenOff = { metadata: { quarterdeck: { brokenOff: true } } }
const call = (toolCallId: string, ...args: string[]): RunEvent[] => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'add', timestamp: 1_200 },
  ...args.map((delta): RunEvent => ({ type: 'TOOL_CALL_ARGS', toolCallId, delta, timestamp: 1_210 })),
  { type: 'TOOL_CALL_END', toolCallId, timestamp: 1_220 },
]
const result = (toolCallId: string, messageId: string, content: string): RunEvent => ({
  type: 'TOOL_CALL_RESULT',
  toolCallId,
  messageId,
  content,
  role: 'tool',
  timestamp: 1_300,
})
const failedResult = (...[toolCallId, messageId, content]: Parameters<typeof result>): RunEvent => ({
  ...result(toolCallId, messageId, content),
  metadata: { quarterdeck: { status: 'error', durationMs: 7 } },
})

const empty = {
  outcome: 'completed',
  text: '',
  messages: [],
  messageId: null,
  agentName: null,
  toolCalls: [],
  usage: [],
  error: null,
  cutByLength: false,
  interrupts: [],
  approvalIds: [],
  clientCallIds: [],
  durationMs: 900,
}

describe('the answer of a run', () => {
  test('is what the agent said, what it called, and what it took', () => {
    const usage = [{ provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4, totalTokens: 7 }]

    const answer = foldRun([
      started,
      { type: 'STEP_STARTED', stepName: 'step_1' },
      ...say('m1', 'Let me ', 'see.'),
      { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
      ...call('c1', '{"a":', '1}'),
      ...call('c2', '{"a":'),
      failedResult('c2', 'r2', 'No JSON.'),
      result('c1', 'r1', '2'),
      { type: 'TEXT_MESSAGE_START', messageId: 'm2', role: 'assistant', name: 'tutor' },
      ...say('m2', 'It is 2.'),
      { type: 'TEXT_MESSAGE_END', messageId: 'm2' },
      { ...finished, usage },
    ])

    expect(answer).toEqual({
      ...empty,
      text: 'Let me see.\n\nIt is 2.',
      messages: [
        { id: 'm1', text: 'Let me see.' },
        { id: 'm2', text: 'It is 2.' },
      ],
      messageId: 'm2',
      agentName: 'tutor',
      toolCalls: [
        {
          id: 'c1',
          name: 'add',
          arguments: { a: 1 },
          argumentsText: '{"a":1}',
          status: 'success',
          result: '2',
          error: null,
          durationMs: 80,
          bySubagent: false,
        },
        {
          id: 'c2',
          name: 'add',
          arguments: {},
          argumentsText: '{"a":',
          status: 'error',
          result: null,
          error: 'No JSON.',
          durationMs: 7,
          bySubagent: false,
        },
      ],
      usage,
    })
  })

  test('may be empty', () => {
    expect(foldRun([started, finished])).toEqual(empty)
  })

  test('is none before the run has ended', () => {
    expect(foldRun([started, ...say('m1', 'Hel')])).toBeNull()
  })

  test('leaves out what a crash cut off and the run said anew', () => {
    const events = [
      started,
      ...say('m1', 'Hel'),
      { type: 'TEXT_MESSAGE_END', messageId: 'm1', ...brokenOff } as const,
      ...call('c1', '{').slice(0, 2),
      { type: 'TOOL_CALL_END', toolCallId: 'c1', ...brokenOff } as const,
      ...say('m2', 'Hello.'),
      finished,
    ]

    expect(foldRun(events)).toEqual({
      ...empty,
      text: 'Hello.',
      messages: [{ id: 'm2', text: 'Hello.' }],
      messageId: 'm2',
    })
  })

  test('keeps the last words of a run that was stopped', () => {
    const events: RunEvent[] = [
      started,
      ...say('m1', 'Hel'),
      { type: 'TEXT_MESSAGE_END', messageId: 'm1', ...brokenOff },
      ...call('c1', '{}'),
      { ...finished, outcome: { type: 'cancelled' } },
    ]

    expect(foldRun(events)).toMatchObject({
      outcome: 'cancelled',
      text: 'Hel',
      toolCalls: [{ id: 'c1', status: 'open', result: null, error: null, durationMs: null }],
      error: null,
    })
  })

  test.each([
    ['failed', { code: 'model_timeout' }, { code: 'model_timeout', message: 'Why.' }],
    ['failed', {}, { code: 'internal_error', message: 'Why.' }],
    ['interrupted', { code: 'interrupted' }, { code: 'interrupted', message: 'Why.' }],
    ['interrupted', { code: 'needs_review' }, { code: 'needs_review', message: 'Why.' }],
  ] as const)('is %s after a RUN_ERROR with %j', (outcome, code, error) => {
    const events: RunEvent[] = [started, { type: 'RUN_ERROR', message: 'Why.', ...code, timestamp: 1_900 }]

    expect(foldRun(events)).toEqual({ ...empty, outcome, error })
  })

  test.each([
    [
      { type: 'interrupt', interrupts: [{ id: 'i1', reason: 'approval' }] },
      { approvalIds: ['i1'], interrupts: [{ id: 'i1', reason: 'approval' }] },
    ],
    [{ type: 'success', pendingToolCallIds: ['c1'] }, { clientCallIds: ['c1'] }],
  ] as const)('waits where others are to act: %j', (outcome, waits) => {
    const end = JSON.parse(JSON.stringify({ ...finished, outcome }))

    expect(foldRun([started, end])).toEqual({ ...empty, outcome: 'waiting', ...waits })
  })

  test('leaves out what a sub-agent says and calls on the way', () => {
    const subagentRunId = 's1'
    const inside: RunEvent[] = [
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm9', delta: 'Thinking.', subagentRunId },
      { type: 'TOOL_CALL_START', toolCallId: 'c9', toolCallName: 'add', subagentRunId },
    ]

    expect(foldRun([started, ...inside, finished])).toEqual(empty)
  })

  test('has the calls of sub-agents when it is asked for them', () => {
    const fold = createRunFold({ subagentCalls: true })
    const inside = { subagentRunId: 's1' }
    fold.add(started)
    fold.add({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm9', delta: 'Thinking.', ...inside })
    fold.add({ type: 'TOOL_CALL_START', toolCallId: 'c9', toolCallName: 'add', ...inside })

    expect([fold.answer(), fold.soFar()]).toMatchObject([
      null,
      { text: '', toolCalls: [{ id: 'c9', bySubagent: true }] },
    ])
  })

  test('of runs that continue each other is one, and counts the tokens of all', () => {
    const usage = [{ provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4, totalTokens: 7 }]
    const interrupts = [{ id: 'i1', reason: 'approval' }]
    const fold = createRunFold()
    for (const event of [started, ...say('m1', 'May I?')]) fold.add(event)
    fold.add({ ...finished, usage, outcome: { type: 'interrupt', interrupts } })
    expect(fold.answer()).toMatchObject({ outcome: 'waiting', text: 'May I?', interrupts })

    fold.add({ ...started, runId: 'r2' })
    expect(fold.answer()).toBeNull()

    for (const event of [...say('m2', 'Done.'), { ...finished, usage }]) fold.add(event)
    expect(fold.answer()).toMatchObject({ outcome: 'completed', text: 'May I?\n\nDone.', usage: [...usage, ...usage] })
  })

  test('goes on over a wait for the client, with what its tools gave', () => {
    const waiting: RunEvent = { ...finished, outcome: { type: 'success', pendingToolCallIds: ['c1', 'c2'] } }
    const results = [
      { id: 'r1', role: 'tool' as const, toolCallId: 'c1', content: 'red' },
      { id: 'r2', role: 'tool' as const, toolCallId: 'c2', content: 'No.', error: 'No.' },
    ]
    const input = { threadId: 't', runId: 'r2', messages: results, tools: [], context: [], state: {} }
    const next: RunEvent = { ...started, runId: 'r2', input, timestamp: 1_720 }

    expect(foldRun([started, ...call('c1', '{}'), ...call('c2', '{}'), waiting, next, finished])).toMatchObject({
      outcome: 'completed',
      toolCalls: [
        { id: 'c1', status: 'success', result: 'red', durationMs: 500 },
        { id: 'c2', status: 'error', error: 'No.', durationMs: 500 },
      ],
      durationMs: 900,
    })
  })
})

test.each(['', '{', '[1]', 'null', '"a"'])('arguments that are not an object count as empty: %j', (text) => {
  expect(parseArguments(text)).toEqual({})
})
