import { EventSchemas } from '@ag-ui/client-0'
import { EventSchema } from '@ag-ui/core/schemas'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../domain/session/event.ts'
import { downgrade } from './encode-events.ts'

const fileImage = { type: 'image', source: { type: 'file', value: 'file-1', provider: 'p' } } as const
const urlImage = { type: 'image', source: { type: 'url', value: 'https://example.org/x.png' } } as const
const text = { type: 'text', text: 'look' } as const
const usage = [{ provider: 'p', model: 'm', inputTokens: 1, outputTokens: 2, totalTokens: 3, cacheWriteInputTokens: 0 }]

const old = (event: RunEvent): RunEvent => JSON.parse(downgrade(JSON.stringify(event)))

describe('an event for a 0.x reader', () => {
  test('tells of a stopped run as an error, for 0.x would take it for a success', () => {
    const finished: RunEvent = {
      type: 'RUN_FINISHED',
      threadId: 't',
      runId: 'r',
      outcome: { type: 'cancelled' },
      usage,
      timestamp: 5,
    }

    expect(old(finished)).toEqual({
      type: 'RUN_ERROR',
      message: 'The run was stopped.',
      code: 'cancelled',
      usage,
      timestamp: 5,
    })
  })

  test('is told no outcome where calls of the client are open, and else a plain success', () => {
    const finished = (pendingToolCallIds: string[]): RunEvent => ({
      type: 'RUN_FINISHED',
      threadId: 't',
      runId: 'r',
      outcome: { type: 'success', pendingToolCallIds },
    })

    expect(old(finished(['c']))).toEqual({ type: 'RUN_FINISHED', threadId: 't', runId: 'r' })
    expect(old(finished([]))).toEqual({
      type: 'RUN_FINISHED',
      threadId: 't',
      runId: 'r',
      outcome: { type: 'success' },
    })
  })

  test('has the text of a tool result that came in parts', () => {
    const result: RunEvent = {
      type: 'TOOL_CALL_RESULT',
      messageId: 'm',
      toolCallId: 'c',
      content: [text, fileImage, text],
    }

    expect(old(result)).toEqual({ type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: 'looklook' })
  })

  test('has no file sources and no tool results in parts in a snapshot', () => {
    const snapshot: RunEvent = {
      type: 'MESSAGES_SNAPSHOT',
      messages: [
        { id: 'u', role: 'user', content: [text, fileImage, urlImage] },
        { id: 't', role: 'tool', toolCallId: 'c', content: [text, urlImage] },
        { id: 'a', role: 'assistant', content: 'yes' },
      ],
    }

    expect(old(snapshot)).toEqual({
      type: 'MESSAGES_SNAPSHOT',
      messages: [
        { id: 'u', role: 'user', content: [text, urlImage] },
        { id: 't', role: 'tool', toolCallId: 'c', content: 'look' },
        { id: 'a', role: 'assistant', content: 'yes' },
      ],
    })
  })

  test('has the lists in RUN_STARTED.input that 0.x requires', () => {
    const messages = [{ id: 'u', role: 'user', content: [text, fileImage] }]
    const input = { threadId: 't', runId: 'r', messages }
    const started = JSON.stringify({ type: 'RUN_STARTED', threadId: 't', runId: 'r', input })

    expect(JSON.parse(downgrade(started))).toEqual({
      type: 'RUN_STARTED',
      threadId: 't',
      runId: 'r',
      input: {
        threadId: 't',
        runId: 'r',
        messages: [{ id: 'u', role: 'user', content: [text] }],
        tools: [],
        context: [],
      },
    })
  })

  test('is the stored text itself wherever 0.x can read it', () => {
    const stored = '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a\\u00e9","timestamp":1}'

    expect(downgrade(stored)).toBe(stored)
  })

  const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' } as const
  const events: RunEvent[] = [
    { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' },
    {
      type: 'RUN_STARTED',
      threadId: 't',
      runId: 'r',
      input: { threadId: 't', runId: 'r', messages: [], tools: [], context: [] },
    },
    { type: 'STEP_STARTED', stepName: 's' },
    { type: 'REASONING_START', messageId: 'm' },
    { type: 'REASONING_MESSAGE_START', messageId: 'm', role: 'reasoning' },
    { type: 'REASONING_MESSAGE_CONTENT', messageId: 'm', delta: '' },
    { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'm', encryptedValue: 'x' },
    { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant', metadata: { a: null } },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: '' },
    { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'n', parentMessageId: 'm' },
    { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: [fileImage] },
    { type: 'STATE_SNAPSHOT', snapshot: null },
    { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: 1 }] },
    { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'u', role: 'user', content: [fileImage] }] },
    { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'n' },
    { type: 'CUSTOM', name: 'n', value: 1 },
    { ...finished, outcome: { type: 'cancelled' } },
    { ...finished, outcome: { type: 'success', pendingToolCallIds: [] }, usage },
    { ...finished, outcome: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'tool_call' }] } },
    { type: 'RUN_ERROR', message: 'm', code: 'c', usage },
  ]

  test.each(events.map((event) => [event.type, event] as const))('is accepted by 0.0.59 as %s', (_type, event) => {
    EventSchema.parse(event)

    expect(EventSchemas.safeParse(old(event)).error).toBeUndefined()
  })
})
