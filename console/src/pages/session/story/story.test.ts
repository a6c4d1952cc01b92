import type { RunEvent } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import {
  activityEvent,
  callEvents,
  progressEvent,
  resultEvent,
} from '../../../../../src/supervision/sessions/session-events.ts'
import { createTranscriptFold } from '../../../data/transcript.ts'
import { storyOf, workWords } from './story.ts'

const MINUTE = 60_000

/** The rows as short lines, from events as the server writes them. */
function told(events: readonly unknown[]): string[] {
  const fold = createTranscriptFold()
  fold.add((events as RunEvent[]).map((event, i) => ({ seq: i + 1, at: event.timestamp ?? null, event })))
  return storyOf(fold.current().items).map((row) => {
    if (row.type === 'calls') return `${row.calls.length} calls: ${workWords(row.calls)}`
    if (row.type === 'other') return `other: ${row.item.type}`
    return `${row.type === 'line' ? row.about : row.type}: ${row.words}${'quote' in row && row.quote !== null ? ` “${row.quote}”` : ''}`
  })
}

const call = (
  id: string,
  tool: string,
  args: object,
  answer: object | null = {},
  at = 0,
  until = at,
  isError = false,
) => [...callEvents(id, tool, args, at), ...(answer === null ? [] : [resultEvent(id, answer, isError, until)])]

const steps = (...all: string[]) => all.map((status, i) => ({ label: `part ${i + 1}`, status }))

test('signs of life and checks of rules are one row, and what the agent tells is a row each', () => {
  const progress = steps('done', 'in_progress', 'pending') as never

  expect(
    told([
      { type: 'RUN_STARTED', threadId: 't', runId: 'r', input: { messages: [] }, timestamp: 0 },
      activityEvent('a1', 'host_started', { host: 'claude-code', pid: 1, sandboxed: false }, 0),
      ...call('c1', 'heartbeat', {}),
      ...call('c2', 'check_auto_approve', { tool_name: 'Bash', context: { command: 'npm test' } }),
      ...call('c3', 'approve_tool', { tool_name: 'Edit', input: { file_path: 'src/a.ts' } }, { behavior: 'allow' }),
      ...call('c4', 'heartbeat', { status_message: 'On it', progress_snapshot: progress }),
      progressEvent(progress, 'On it', 0),
      ...call('c5', 'remote_log', { message: 'Tests are red', level: 'warning' }),
      ...call(
        'c6',
        'accept_diff',
        { request_id: 'x' },
        { status: 'applied', files_written: [{ path: 'b.ts', bytes: 3 }] },
      ),
      activityEvent('a2', 'checkpoint', { checkpoint_id: 'k', label: 'green', files: 12, by: 'ada' }, 0),
    ]),
  ).toEqual([
    'start: claude-code was started.',
    '3 calls: Works on src/a.ts, runs npm test.',
    'progress: 1 of 3 steps done. Now: part 2. “On it”',
    'warning: The agent warns “Tests are red”',
    'file: Wrote b.ts.',
    'checkpoint: Checkpoint of 12 files by ada. “green”',
  ])
})

test('a question says how long it waited and who answered, and no word of ours is a code word', () => {
  const interrupt = { id: 'q', reason: 'tool_call', toolCallId: 'c1', message: 'Change b.ts' }
  const rows = told([
    { type: 'RUN_STARTED', threadId: 't', runId: 'r', input: { messages: [] }, timestamp: 0 },
    ...callEvents('c1', 'ask_approval', { title: 'Change b.ts', file_path: 'b.ts' }, 0),
    {
      type: 'RUN_FINISHED',
      threadId: 't',
      runId: 'r',
      outcome: { type: 'interrupt', interrupts: [interrupt] },
      timestamp: 0,
    },
    activityEvent('a1', 'escalated', { record: 'q', escalated_to: 'bob', waited_seconds: 120 }, 2 * MINUTE),
    activityEvent('a2', 'decision', { approval_id: 'q', kind: 'diff', decision: 'approved', by: 'ada' }, 4 * MINUTE),
    resultEvent('c1', { status: 'approved' }, false, 4 * MINUTE),
    ...call(
      'c2',
      'wait_for_instruction',
      { message: 'Next?' },
      { status: 'resumed', instruction: 'Ship it' },
      0,
      MINUTE,
    ),
    activityEvent('a3', 'stall_escalated', { alert_id: 'x' }, 0),
    activityEvent('a4', 'stalls_off', { by: 'ada' }, 0),
    activityEvent('a5', 'terminated', { by: 'ada' }, 0),
    { type: 'RUN_FINISHED', threadId: 't', runId: 'r2', outcome: { type: 'cancelled' }, timestamp: 0 },
  ])

  expect(rows).toEqual([
    'question: Waited 4 min 0 s for an answer. ada said yes.',
    'wait: No answer for 2 min 0 s, so bob was asked too.',
    'wait: Waited 1 min 0 s for an instruction, and got: “Ship it”',
    'warning: It stayed silent after all reminders. A person has to look.',
    'person: Alarms about silence turned off by ada.',
    'end: Ended by ada.',
  ])
  expect(rows.join(' ')).not.toMatch(/[a-z]_[a-z]/)
})

test('what a newer server tells is shown as it is, and broken arguments break nothing', () => {
  expect(
    told([
      activityEvent('a1', 'something_new', { x: 1 }, 0),
      ...call('c1', 'heartbeat', [1] as never),
      ...call('c2', 'remote_log', { message: 5 }),
      ...call('c3', 'accept_diff', {}, { error_message: 'The file changed.' }, 0, 0, true),
    ]),
  ).toEqual([
    'other: activity',
    '1 calls: Goes on working.',
    'note: The agent says',
    'warning: The server refused a call of the agent. “The file changed.”',
  ])
})
