import { expect, test } from 'vitest'
import type { RunEvent } from '../../domain/session/event.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { streamProblem } from '../shared/answer/answer-failure.ts'
import { createStreamEncoder } from './encode.ts'

const run: RunRecord = {
  id: 'run',
  sessionId: 'session',
  owner: 'ada',
  agent: 'a',
  wireId: 'wire-run',
  parentRunId: null,
  status: 'waiting',
  origin: 'reader',
  input: { messages: [], instructions: [], context: [], clientTools: [] },
  createdAt: 0,
  startedAt: 0,
  finishedAt: null,
  usage: [],
  error: null,
  cancelRequested: false,
  firstSeq: 1,
  lastSeq: 2,
  fence: 1,
  leaseOwner: null,
}

const encode = (...events: RunEvent[]) => {
  const encoder = createStreamEncoder({
    run,
    messageId: 'M',
    sessionId: 'S',
    problem: (error) => streamProblem(error, { path: '/x', correlationId: 'c' }),
  })
  return events.flatMap((event) => encoder.encode(event)).map(({ event, data }) => [event, JSON.parse(data)])
}

test('a run that waits for a person ends its stream with what it waits for', () => {
  const outcome = { type: 'interrupt' as const, interrupts: [{ id: 'i1', reason: 'approval' }] }

  expect(
    encode(
      { type: 'RUN_STARTED', threadId: 't', runId: 'r', timestamp: 1_000 },
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome, timestamp: 1_250 },
    ),
  ).toEqual([
    ['stream_start', { session_id: 'S', message_id: 'M' }],
    [
      'stream_end',
      {
        message_id: 'M',
        tokens_used: null,
        execution_time_ms: 250,
        status: 'waiting',
        run_id: 'wire-run',
        approval_ids: ['i1'],
      },
    ],
  ])
})

test('what the door has no word for is left out', () => {
  expect(
    encode(
      { type: 'STEP_STARTED', stepName: 'step_1' },
      { type: 'REASONING_MESSAGE_CONTENT', messageId: 'm', delta: 'Hm.' },
      { type: 'STATE_SNAPSHOT', snapshot: {} },
      { type: 'TOOL_CALL_END', toolCallId: 'c1' },
    ),
  ).toEqual([])
})
