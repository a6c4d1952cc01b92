import { EventSchema } from '@ag-ui/core/schemas'
import { describe, expect, test } from 'vitest'
import type { RunEventOf } from '../../../domain/session/event.ts'
import { hydrationEvents } from './show-thread.ts'

const about = { threadId: 't', runId: 'r', outcome: { type: 'success' as const }, timestamp: 5 }
const snapshot: RunEventOf<'MESSAGES_SNAPSHOT'> = { type: 'MESSAGES_SNAPSHOT', messages: [], timestamp: 5 }

describe('a hydration', () => {
  test('is a whole run that shows the state and the messages', () => {
    const events = hydrationEvents({ ...about, state: { a: 1 }, snapshot })

    expect(events).toEqual([
      { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0', timestamp: 5 },
      { type: 'STATE_SNAPSHOT', snapshot: { a: 1 }, timestamp: 5 },
      snapshot,
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success' }, timestamp: 5 },
    ])
    expect(events.map((event) => EventSchema.safeParse(event).success)).toEqual([true, true, true, true])
  })

  test('ends as what the session waits for', () => {
    const outcome = { type: 'interrupt' as const, interrupts: [{ id: 'i', reason: 'tool_call' }] }
    const last = hydrationEvents({ ...about, state: undefined, snapshot, outcome }).at(-1)

    expect(last).toEqual({ type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome, timestamp: 5 })
    expect(EventSchema.safeParse(last).success).toBe(true)
  })

  test('says nothing of a state or of messages that are not known', () => {
    expect(hydrationEvents({ ...about, state: undefined, snapshot: null }).map((event) => event.type)).toEqual([
      'RUN_STARTED',
      'RUN_FINISHED',
    ])
  })
})
