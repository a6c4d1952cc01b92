// The real AG-UI clients are the referees: what they have in the end is what the snapshot alone would have given them.

import { isDeepStrictEqual } from 'node:util'
import { HttpAgent as HttpAgent1 } from '@ag-ui/client'
import { HttpAgent as HttpAgent0 } from '@ag-ui/client-0'
import { EventSchema } from '@ag-ui/core/schemas'
import { describe, expect, test } from 'vitest'
import type { RunEventOf } from '../../../domain/session/event.ts'
import type { Reader } from '../../shared/events/encode-events.ts'
import { createSseEncoder } from '../../shared/events/encode-events.ts'
import { hydrationEvents } from './show-thread.ts'
import { type Outcome, withWaitingCalls } from './waiting-calls.ts'

type Message = RunEventOf<'MESSAGES_SNAPSHOT'>['messages'][number]

const call = (id: string) => ({ id, type: 'function' as const, function: { name: 'note', arguments: '{"to":"bob"}' } })
const snapshotOf = (messages: Message[]) => ({ type: 'MESSAGES_SNAPSHOT' as const, messages, timestamp: 5 })
const waitsFor = (...toolCallIds: string[]): Outcome => ({
  type: 'interrupt',
  interrupts: toolCallIds.map((toolCallId) => ({ id: `of ${toolCallId}`, reason: 'tool_call', toolCallId })),
})

const before: Message[] = [
  { id: 'm1', role: 'user', content: 'note it' },
  { id: 'a1', role: 'assistant', content: 'Let me see.', toolCalls: [call('c1')] },
  { id: 't1', role: 'tool', content: 'seen', toolCallId: 'c1' },
  { id: 'r1', role: 'reasoning', content: 'Two of them.' },
]
const asked: Message = { id: 'a2', role: 'assistant', content: 'Two things.', toolCalls: [call('c2'), call('c3')] }
const behind: Message[] = [
  { id: 'c3_watch', role: 'activity', activityType: 'WATCH', content: { side: 'port' } },
  { id: 't3', role: 'tool', content: 'noted', toolCallId: 'c3' },
]
const all = [...before, asked, ...behind]

interface Options {
  url: string
  fetch: () => Promise<Response>
}

interface Agent {
  messages: unknown[]
  setMessages(messages: unknown[]): void
  runAgent(): Promise<unknown>
}

const clients: [string, Reader, (options: Options) => Agent][] = [
  ['1.0.0', '1.x', (options) => new HttpAgent1(options) as Agent],
  ['0.0.59', '0.x', (options) => new HttpAgent0(options) as unknown as Agent],
]

describe.each(clients)('a client %s', (_version, reads, create) => {
  async function shown(messages: Message[], outcome: Outcome, known: Message[]): Promise<unknown[]> {
    const about = { threadId: 't', runId: 'r', state: undefined, timestamp: 5 }
    const events = hydrationEvents({ ...about, snapshot: snapshotOf(messages), outcome })
    expect(events.map((event) => EventSchema.safeParse(event).error)).toEqual(events.map(() => undefined))
    const body = createSseEncoder(reads).events(events)
    const headers = { 'Content-Type': 'text/event-stream' }
    const agent = create({ url: 'http://127.0.0.1/', fetch: async () => new Response(body, { headers }) })
    agent.setMessages(structuredClone(known))
    await agent.runAgent()
    return agent.messages
  }

  test.each([
    ['that knows nothing', []],
    ['that knows all of it', all],
  ])('%s has every message once, and the conversation in its order', async (_what, known) => {
    const seen = await shown(all, waitsFor('c2'), known)

    // A client puts a result right behind its call, and leaves an activity that it knows where it was.
    const [activity] = behind
    expect(seen).toHaveLength(all.length)
    expect(seen).toContainEqual(activity)
    expect(seen.filter((message) => !isDeepStrictEqual(message, activity))).toEqual(
      all.filter((message) => message !== activity),
    )
  })

  test('has the words of a sub-agent whose call waits', async () => {
    const lane = { subagentRunId: 'c2' }
    const inner: Message = { id: 's1', role: 'assistant', content: 'May I?', toolCalls: [call('c4')], ...lane }
    const messages = [...before, asked, inner]

    const seen = await shown(messages, waitsFor('c4'), [])

    expect(seen).toMatchObject(messages.map(({ subagentRunId: _, ...message }) => message))
  })
})

describe('a snapshot', () => {
  test('ends before the message whose call waits, and keeps what clients would double', () => {
    const thought: Message = { id: 'r2', role: 'reasoning', content: 'Hm.' }
    const [snapshot, ...told] = withWaitingCalls(snapshotOf([...all, thought]), waitsFor('c3', 'c2'))

    expect(snapshot).toEqual(snapshotOf([...before, thought]))
    expect(told.map(({ type }) => type)).toEqual([
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'],
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'],
      'ACTIVITY_SNAPSHOT',
      'TOOL_CALL_RESULT',
    ])
  })

  test.each<[string, Outcome]>([
    ['nothing waits', { type: 'success' }],
    ['a call of the page is open, which would run again', { type: 'success', pendingToolCallIds: ['c2'] }],
    ['the call that waits is older than what is shown', waitsFor('c0')],
  ])('has everything where %s', (_where, outcome) => {
    expect(withWaitingCalls(snapshotOf(all), outcome)).toEqual([snapshotOf(all)])
  })
})
