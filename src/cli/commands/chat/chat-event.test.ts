import { describe, expect, test } from 'vitest'
import { decodeChatEvent } from './chat-event.ts'

const decode = decodeChatEvent

describe('an AG-UI event for the terminal', () => {
  test('names the sub-agent it comes from', () => {
    const subagentRunId = 'lane'

    expect(
      [
        { type: 'SUBAGENT_STARTED', subagentRunId, name: 'tutor' },
        { type: 'TEXT_MESSAGE_CONTENT', subagentRunId, messageId: 'm', delta: 'Four.' },
        { type: 'TOOL_CALL_RESULT', subagentRunId, toolCallId: 't', content: '4' },
        { type: 'SUBAGENT_FINISHED', subagentRunId },
      ].map(decode),
    ).toEqual([
      { type: 'subagent', id: 'lane', name: 'tutor' },
      { type: 'text', messageId: 'm', delta: 'Four.', by: 'lane' },
      { type: 'tool_result', id: 't', content: '4', by: 'lane' },
      null,
    ])
  })

  test('about sources has a line for each', () => {
    const sources = [
      { number: 2, file: 'leave.md', heading: 'Leave > Pay', text: 'Pay.', line: 3 },
      { number: 1, file: 'all.pdf', page: 4, text: '', changed: true },
    ]
    const shown = (content: unknown) => decode({ type: 'ACTIVITY_SNAPSHOT', activityType: 'SOURCES', content })
    expect([shown({ sources, not_found: [7] }), shown(null)]).toEqual([
      {
        type: 'sources',
        lines: ['[2] leave.md, Leave > Pay', '[1] all.pdf, page 4 (changed since)', 'Not found: [7]'],
      },
      { type: 'sources', lines: [] },
    ])
  })

  test('about progress is one line, whichever parts it has', () => {
    const progress = (content: unknown) => decode({ type: 'ACTIVITY_SNAPSHOT', activityType: 'PROGRESS', content })

    expect([
      progress({ tool: 'dice', done: 2, total: 10, message: 'rolling' }),
      progress({ tool: 'dice', done: 2 }),
      progress(null),
      decode({ type: 'ACTIVITY_SNAPSHOT', activityType: 'PLAN', content: {} }),
    ]).toEqual([
      { type: 'progress', text: 'dice 2/10 rolling' },
      { type: 'progress', text: 'dice 2' },
      { type: 'progress', text: '' },
      null,
    ])
  })

  test('at the end of a run says what it waits for', () => {
    const end = (outcome: unknown) => decode({ type: 'RUN_FINISHED', outcome })
    const metadata = {
      quarterdeck: { tool: 'send', arguments: { to: 'bob' }, risk: 'low', answerableBy: 'owner', digest: 'd' },
    }

    expect([
      end({
        type: 'interrupt',
        interrupts: [
          { id: 'a', message: 'Call send', toolCallId: 't', metadata },
          { id: 'b', message: 'Sure?' },
          { message: 'nothing to answer to' },
        ],
      }),
      end({ type: 'success', pendingToolCallIds: ['t', 7] }),
      end({ type: 'success' }),
      end(undefined),
      end({ type: 'cancelled' }),
    ]).toEqual([
      {
        type: 'finished',
        outcome: 'interrupt',
        approvals: [
          {
            id: 'a',
            callId: 't',
            tool: 'send',
            arguments: { to: 'bob' },
            risk: 'low',
            answerableBy: 'owner',
            message: 'Call send',
            digest: 'd',
            answerSchema: null,
          },
          {
            id: 'b',
            callId: '',
            tool: '',
            arguments: {},
            risk: '',
            answerableBy: 'operator',
            message: 'Sure?',
            digest: '',
            answerSchema: null,
          },
        ],
      },
      { type: 'finished', outcome: 'client_tools', callIds: ['t'] },
      { type: 'finished', outcome: 'success' },
      { type: 'finished', outcome: 'success' },
      { type: 'finished', outcome: 'cancelled' },
    ])
  })
})
