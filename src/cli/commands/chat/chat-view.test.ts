import { describe, expect, test } from 'vitest'
import { createTestIo } from '../../testing/test-io.ts'
import type { ChatEvent } from './chat-event.ts'
import { createChatView } from './chat-view.ts'

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

  test('renders Markdown with styles, and keeps hidden characters visible', () => {
    const said: ChatEvent[] = [
      { type: 'text', messageId: 'm', delta: '- **bo' },
      { type: 'text', messageId: 'm', delta: 'ld\x1b[2J**' },
      { type: 'finished', outcome: 'success' },
    ]
    const terminals = [{ terminal: true }, { terminal: true, env: { NO_COLOR: '1' } }, {}].map((options) => {
      const io = createTestIo(options)
      const view = createChatView(io)
      for (const event of said) view.show(event)
      return io.printed()
    })

    expect(terminals).toEqual([
      '• \x1b[1mbold<U+001B>[2J\x1b[22m\n',
      '- **bold<U+001B>[2J**\n',
      '- **bold<U+001B>[2J**\n',
    ])
  })

  test('gives a pipe only the answer', () => {
    const io = createTestIo()
    const view = createChatView(io)

    for (const event of events) view.show(event)

    expect([io.printed(), io.complained()]).toEqual(['It rains.\n', ''])
  })

  test('ends an unfinished line before an error', () => {
    const io = createTestIo()
    const view = createChatView(io)

    view.show({ type: 'text', messageId: 'm', delta: 'It' })
    view.show({ type: 'failed', code: 'model_failed', message: 'The model failed.\x1b[2J' })
    view.show({ type: 'finished', outcome: 'cancelled' })
    view.show({ type: 'finished', outcome: 'interrupt', approvals: [] })

    expect([io.printed(), io.complained()]).toEqual([
      'It\n',
      'The answer failed: The model failed.<U+001B>[2J\nMore: quarterdeck explain model_failed\nStopped.\nThe agent waits for an answer that you cannot give here.\n',
    ])
  })

  const withSubagent: ChatEvent[] = [
    { type: 'subagent', id: 'lane', name: 'tutor' },
    { type: 'reasoning', delta: 'Hm.', by: 'lane' },
    { type: 'tool_call', id: 't', name: 'add', by: 'lane' },
    { type: 'tool_result', id: 't', content: '4', by: 'lane' },
    { type: 'text', messageId: 'm1', delta: 'It is ', by: 'lane' },
    { type: 'text', messageId: 'm1', delta: 'four.', by: 'lane' },
    { type: 'text', messageId: 'm2', delta: 'Four.' },
    { type: 'finished', outcome: 'success' },
  ]

  test('dims a sub-agent on a terminal and shows its name; a pipe leaves it out', () => {
    const shown = (terminal: boolean) => {
      const io = createTestIo({ terminal })
      const view = createChatView(io)
      for (const event of withSubagent) view.show(event)
      return io.printed()
    }

    expect(shown(true).replaceAll('\x1b[2m', '<').replaceAll('\x1b[22m', '>')).toBe(
      '<tutor: ><Hm.>\n<⚙ tutor: add()>\n<  → 4>\n<tutor: ><It is ><four.>\nFour.\n',
    )
    expect(shown(false)).toBe('Four.\n')
  })

  test('overwrites progress, on a terminal that can do that', () => {
    const shown = (options: Parameters<typeof createTestIo>[0]) => {
      const io = createTestIo(options)
      const view = createChatView(io)
      view.show({ type: 'progress', text: 'dice 1/2' })
      view.show({ type: 'progress', text: 'dice 2/2\x1b[2J' })
      view.show({ type: 'text', messageId: 'm', delta: 'Two.' })
      view.show({ type: 'finished', outcome: 'success' })
      return io.printed()
    }
    const clear = '\r\x1b[2K'

    expect(shown({ terminal: true, env: { NO_COLOR: '1' } })).toBe(
      `${clear}dice 1/2${clear}dice 2/2<U+001B>[2J\nTwo.\n`,
    )
    expect([shown({ terminal: true, env: { TERM: 'dumb' } }), shown({})]).toEqual(['Two.\n', 'Two.\n'])
  })

  test('names the client tool that a chat cannot run', () => {
    const io = createTestIo()
    const view = createChatView(io)

    view.show({ type: 'tool_call', id: 't', name: 'open_page' })
    view.show({ type: 'finished', outcome: 'client_tools', callIds: ['t'] })

    expect(io.complained()).toBe(
      'The agent waits for open_page, a tool that runs in the client. A chat has none.\n' +
        'Your next message continues without it.\n',
    )
  })
})
