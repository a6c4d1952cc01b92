import { describe, expect, test } from 'vitest'
import type { ChatEvent } from './chat-event.ts'
import { createChatView } from './chat-view.ts'
import { createTestIo } from './testing/test-io.ts'

const events: ChatEvent[] = [
  { type: 'reasoning', delta: 'Let me ' },
  { type: 'reasoning', delta: 'see.' },
  { type: 'tool_call', id: 't', name: 'weather' },
  { type: 'tool_args', id: 't', delta: '{"city":' },
  { type: 'tool_args', id: 't', delta: '"Kiel"}' },
  { type: 'tool_result', id: 't', content: 'rain\nand wind' },
  { type: 'text', messageId: 'm', delta: 'It ' },
  { type: 'text', messageId: 'm', delta: 'rains.' },
  { type: 'finished', outcome: 'success' },
]

describe('the view of a chat', () => {
  test('dims reasoning and shows tool calls on a terminal', () => {
    const io = createTestIo({ terminal: true })
    const view = createChatView(io)

    for (const event of events) view.show(event)

    const dim = (text: string) => `\x1b[2m${text}\x1b[22m`
    expect(io.printed()).toBe(
      `${dim('Let me ')}${dim('see.')}\n${dim('⚙ weather({"city":"Kiel"})')}\n${dim('  → rain and wind')}\nIt rains.\n`,
    )
  })

  test('gives a pipe the answer alone', () => {
    const io = createTestIo()
    const view = createChatView(io)

    for (const event of events) view.show(event)

    expect([io.printed(), io.complained()]).toEqual(['It rains.\n', ''])
  })

  test('ends a half line before it says what went wrong', () => {
    const io = createTestIo()
    const view = createChatView(io)

    view.show({ type: 'text', messageId: 'm', delta: 'It' })
    view.show({ type: 'failed', code: 'model_failed', message: 'The model failed.\x1b[2J' })
    view.show({ type: 'finished', outcome: 'cancelled' })
    view.show({ type: 'finished', outcome: 'interrupt' })

    expect([io.printed(), io.complained()]).toEqual([
      'It\n',
      'The answer failed: The model failed.[2J\nStopped.\nThe agent waits for an approval; the conversation goes on after it.\n',
    ])
  })
})
