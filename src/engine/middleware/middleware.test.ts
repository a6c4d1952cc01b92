import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import {
  chain,
  createEventLog,
  createRateLimit,
  createRedaction,
  createRunMetadata,
  createToolFilter,
  type Middleware,
} from './middleware.ts'

const scope = { sessionId: 's', runId: 'r', agent: 'a' }
const text = (delta: string): RunEvent => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta })
const custom: RunEvent = { type: 'CUSTOM', name: 'progress', value: 1 }

describe('a chain', () => {
  test('is null when it is empty, so that it costs nothing', () => {
    expect(chain([])).toBeNull()
  })

  test('passes an event from one to the next and stops when one drops it', () => {
    const seen: string[] = []
    const note = (name: string) => (event: RunEvent) => {
      seen.push(name)
      return event
    }
    const run = chain([note('first'), createToolFilter({ allow: [] }), note('last')])
    expect(run?.(text('a'), scope)).toEqual(text('a'))
    expect(run?.({ type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'rm' }, scope)).toBeNull()
    expect(seen).toEqual(['first', 'last', 'first'])
  })

  // The types forbid this, but programs in JavaScript have none.
  test.each([[Promise.resolve(text('a'))], [undefined], [5]])('does not accept %s as an event', (given) => {
    const untyped = (() => given) as unknown as Middleware
    expect(() => chain([untyped])?.(text('a'), scope)).toThrow('A middleware did not return an event.')
  })
})

test('redaction replaces every match in texts and results, and leaves other events alone', () => {
  const redact = createRedaction([/sk-\w+/, /secret/gi])
  expect(redact(text('use sk-1 and sk-2, Secret'), scope)).toEqual(text('use [redacted] and [redacted], [redacted]'))
  const result: RunEvent = { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: 'sk-3' }
  expect(redact(result, scope)).toEqual({ ...result, content: '[redacted]' })
  expect(redact(custom, scope)).toEqual(custom)
})

test('metadata is added to the first event of a run', () => {
  const started: RunEvent = { type: 'RUN_STARTED', threadId: 't', runId: 'r', metadata: { a: 1 } }
  expect(createRunMetadata({ b: 2 })(started, scope)).toEqual({ ...started, metadata: { a: 1, b: 2 } })
})

test('the rate limit drops progress events and nothing else', async () => {
  const clock = createManualClock()
  const limit = createRateLimit(2, clock)
  expect([1, 2, 3].map(() => limit(custom, scope) !== null)).toEqual([true, true, false])
  expect(limit(text('a'), scope)).toEqual(text('a'))
  await clock.advance(1_000)
  expect(limit(custom, scope)).toEqual(custom)
})

test('the event log writes the type as metadata and the event as content', () => {
  const lines: unknown[] = []
  const log = createEventLog({ ...silentLogger, debug: (message, fields) => void lines.push([message, fields]) })
  expect(log(custom, scope)).toEqual(custom)
  expect(lines).toEqual([['event', { session_id: 's', run_id: 'r', type: 'CUSTOM', content: custom }]])
})
