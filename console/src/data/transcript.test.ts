import type { RunEvent } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { createTranscriptFold, type Transcript } from './transcript.ts'

/** Events a second apart. */
function fold(...events: RunEvent[]): Transcript {
  const made = createTranscriptFold()
  made.add(events.map((event, i) => ({ seq: i + 1, at: (i + 1) * 1_000, event })))
  return made.current()
}

const started = (runId: string, content: unknown = 'Hello', id = `m-${runId}`): RunEvent => ({
  type: 'RUN_STARTED',
  threadId: 't',
  runId,
  input: { messages: [{ id, role: 'user', content }] },
})
const finished = (runId: string): RunEvent => ({ type: 'RUN_FINISHED', threadId: 't', runId })
const call = (toolCallId: string): RunEvent[] => [
  { type: 'TOOL_CALL_START', toolCallId, toolCallName: 'send_mail' },
  { type: 'TOOL_CALL_ARGS', toolCallId, delta: '{}' },
  { type: 'TOOL_CALL_END', toolCallId },
]
const asks = (runId: string, toolCallId: string): RunEvent => ({
  type: 'RUN_FINISHED',
  threadId: 't',
  runId,
  outcome: { type: 'interrupt', interrupts: [{ id: 'a1', reason: 'tool_call', toolCallId }] },
})

test('has the file of a message, which the server names by its id', () => {
  const source = { type: 'file', value: 'f1', mimeType: 'image/png' }
  const { items } = fold(started('r', [{ type: 'image', source, metadata: { filename: 'cat.png' } }]))
  expect(items).toMatchObject([
    { type: 'user', text: '', files: [{ name: 'cat.png', mimeType: 'image/png', fileId: 'f1' }] },
  ])
})

test('tells a result that is an error, and how long the call took', () => {
  const metadata = { quarterdeck: { status: 'error', durationMs: 12 } }
  const result: RunEvent = { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: 'No.', metadata }
  const { items } = fold(started('r'), ...call('c'), result, finished('r'))
  expect(items[1]).toMatchObject({ type: 'tool', status: 'failed', result: 'No.', durationMs: 12 })
})

test('has the questions of the last run until another one begins', () => {
  const waiting = fold(started('r'), ...call('c'), asks('r', 'c'))
  expect(waiting.questions.map(({ id }) => id)).toEqual(['a1'])
  expect(waiting.items[1]).toMatchObject({ status: 'waiting' })
  const goesOn: RunEvent = { type: 'RUN_STARTED', threadId: 't', runId: 'r2', parentRunId: 'r' }
  const running = fold(started('r'), ...call('c'), asks('r', 'c'), goesOn)
  expect(running.questions).toEqual([])
  expect(running.items[1]).toMatchObject({ status: 'running' })
  const stopped = fold(started('r'), ...call('c'), asks('r', 'c'), goesOn, finished('r2'))
  expect(stopped.items[1]).toMatchObject({ status: 'stopped' })
})

test('shows the newest state of an activity in the place of the first', () => {
  const activity = (step: number): RunEvent => ({
    type: 'ACTIVITY_SNAPSHOT',
    messageId: 'progress',
    activityType: 'progress',
    content: { step },
  })
  const { items } = fold(started('r'), activity(1), ...call('c'), activity(2))
  expect(items.map(({ type }) => type)).toEqual(['user', 'activity', 'tool'])
  expect(items[1]).toMatchObject({ name: 'progress', content: { step: 2 } })
})

test('keeps the identity of what did not change', () => {
  const made = createTranscriptFold()
  made.add([{ seq: 1, at: 0, event: started('r') }])
  const [before] = made.current().items
  made.add([{ seq: 2, at: 0, event: { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'Hi' } }])
  const after = made.current()
  expect(after.items[0]).toBe(before)
  expect(after.items[1]).toMatchObject({ type: 'answer', text: 'Hi', isDone: false })
})

test('tells an answer that was broken off', () => {
  const metadata = { quarterdeck: { brokenOff: true } }
  const { items } = fold(
    started('r'),
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: 'Half' },
    { type: 'TEXT_MESSAGE_END', messageId: 'a', metadata },
  )
  expect(items[1]).toMatchObject({ type: 'answer', text: 'Half', isDone: true, isBrokenOff: true })
})

test('tells a message that was withdrawn from a run that was stopped', () => {
  const cancelled = (runId: string): RunEvent => ({
    type: 'RUN_FINISHED',
    threadId: 't',
    runId,
    outcome: { type: 'cancelled' },
  })
  const empty: RunEvent = { type: 'RUN_STARTED', threadId: 't', runId: 'q' }
  const { items } = fold(started('r'), cancelled('r'), empty, cancelled('q'))
  expect(items.flatMap((item) => (item.type === 'end' ? [item.message] : []))).toEqual([
    'Stopped before it was done.',
    'Stopped before it began.',
  ])
})

test('an answer has what it cites, and the newest word of it', () => {
  const answer: RunEvent[] = [
    { type: 'TEXT_MESSAGE_START', messageId: 'a' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta: '20 days [3].' },
    { type: 'TEXT_MESSAGE_END', messageId: 'a' },
  ]
  const cites = (content: Record<string, unknown>): RunEvent => ({
    ...{ type: 'ACTIVITY_SNAPSHOT', messageId: 's', activityType: 'SOURCES', content },
  })
  const { items } = fold(
    ...[started('r'), ...answer, cites({ messageId: 'a', sources: [] })],
    ...[cites({ messageId: 'a', not_found: [3] }), cites({ messageId: 'elsewhere' }), finished('r')],
  )
  expect(items).toHaveLength(2)
  expect(items[1]).toMatchObject({ type: 'answer', cites: { messageId: 'a', not_found: [3] } })
})
