import { describe, expect, test } from 'vitest'
import type { StoredMessage } from '../../../domain/session/message.ts'
import { scripted } from '../../../engine/testing/open-engine.ts'
import { serverTool } from '../../../tools/testing/server-tool.ts'
import { openChat, refusalOf } from '../../shared/chat-route/testing/open-chat.ts'
import { asAda, asEve } from '../../testing/open-doors.ts'
import { markdownMessage } from './markdown-export.ts'

const message = (content: string, values: Partial<StoredMessage> = {}): StoredMessage => ({
  id: 'm',
  role: 'assistant',
  content,
  runId: 'r',
  createdAt: 0,
  ...values,
})

const shown = (content: string, values?: Partial<StoredMessage>): string[] =>
  markdownMessage(message(content, values), []).trim().split('\n').slice(2)

describe('a message as Markdown', () => {
  test.each([
    '## Operator · now\n\n> I approve everything.',
    '```\nopen until the end',
    '~~~\n```\n## Decisions',
    'a\r## Decisions\r\n# Title',
    '<!-- swallows\n<details>\n</blockquote>\n<script>',
    '``` `no fence`\n<!-- swallows',
    '```\n~~~\n```\n<!-- swallows',
    '\\<script>',
    'https://a.example/<script>',
    '- a\n  ```\n  <b>in code</b>\n  ```\n<script>',
    '  ~~~\n~~~\n<script>',
    '\t```x\n   ```\n<script>',
    '````\n```\n<b>in code</b>\n````\n<b>out of it</b>',
  ])('stays within its quotation: %j', (text) => {
    const lines = shown(text)

    expect(lines.every((line) => line.startsWith('>'))).toBe(true)
    const rest = lines.join('\n').replace('<b>in code</b>', '')
    expect(rest).not.toMatch(/<[A-Za-z/!?]/)
  })

  test('has no HTML in a note, not even after a link', () => {
    const note = 'https://a.example/<img src=x onerror=alert(1)> \\<b>'
    const text = markdownMessage(message(''), [{ messageId: 'm', by: 'ada', value: 'up', note, at: 0 }])
    expect(text).not.toContain('<')
  })

  test('fetches no picture', () => {
    expect(shown('See ![x](https://evil.example/?q=1) and [y](z)')).toEqual([
      '> See !&#91;x](https://evil.example/?q=1) and [y](z)',
    ])
  })

  test('leaves code as it is written', () => {
    expect(shown('Try:\n```html\n<b>x</b>\n```\n<b>')).toEqual([
      '> Try:',
      '>',
      '> ```html',
      '> <b>x</b>',
      '> ```',
      '> &lt;b>',
    ])
  })

  test('has the result of a tool in a block that the result cannot close', () => {
    const [first, ...rest] = shown('```\n## Decisions\n`````', { role: 'tool' })
    expect([first, rest.at(-1)]).toEqual(['``````', '``````'])
  })

  test('marks hidden characters, and takes the meaning out of names', () => {
    expect(shown('abc\u202edef')).toEqual(['> abc&lt;U+202E>def'])
    const text = markdownMessage(message('', { agentName: 'a\n## [b](c) <d>' }), [])
    expect(text.trim()).toBe('## a ## \\[b\\](c) &lt;d&gt; · 1970-01-01 00:00 UTC')
  })

  test('says nothing of instructions and reasoning', () => {
    expect(markdownMessage(message('Think.', { role: 'reasoning' }), [])).toBe('')
  })
})

test('GET /sessions/{id}/export?format=markdown tells the session from its title to what people think', async () => {
  const call = async () => ({ content: '{"sum":3,"token":"of-the-result"}', isError: false })
  const add = serverTool({
    name: 'add',
    description: 'Adds.',
    parameters: { type: 'object' },
    effect: 'read',
    timeoutMs: 1_000,
    call,
  })
  const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH'
  const model = scripted([
    { parts: [{ tool_call: { name: 'add', arguments: { a: 1, api_key: secret } } }] },
    { parts: [{ text: 'It is **3**.' }] },
  ])
  await using doors = await openChat({ model, tools: [add] })
  const { session_id: id } = (await (await doors.post('/chat', { message: 'Add 1 and 2' }, asAda)).json()) as {
    session_id: string
  }
  const { messages } = (await (await doors.get(`/sessions/${id}`, asAda)).json()) as {
    messages: { message_id: string }[]
  }
  await doors.post(`/messages/${messages.at(-1)?.message_id}/feedback`, { value: 'down', note: 'It is\n# 4' }, asAda)
  const response = await doors.get(`/sessions/${id}/export?format=markdown`, asAda)
  const text = (await response.text()).replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, 'TIME')

  expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="session-\w{26}\.md"$/)
  expect(text).toBe(
    [
      '# Add 1 and 2',
      '',
      '- Owner: ada',
      '- Agent: tester',
      '- Begun: TIME',
      '- Exported: TIME',
      '',
      '## User · TIME',
      '',
      '> Add 1 and 2',
      '',
      '## tester · TIME',
      '',
      'Called add:',
      '',
      '```json',
      `{"a":1,"api_key":"${secret}"}`,
      '```',
      '',
      '## Result · TIME',
      '',
      '```',
      '{"sum":3,"token":"of-the-result"}',
      '```',
      '',
      '## tester · TIME',
      '',
      '> It is **3**.',
      '',
      '- 👎 Bad, says ada · TIME: It is # 4',
      '',
    ].join('\n'),
  )
  const forOperator = await (await doors.get(`/sessions/${id}/export?format=markdown`, asEve)).text()
  expect(forOperator).not.toContain(secret)
  expect(forOperator).toContain('{"sum":3,"token":"[masked]"}')
  const asJson = await (await doors.get(`/sessions/${id}/export`, asEve)).text()
  expect(asJson).not.toContain('of-the-result')
  expect(await refusalOf(await doors.get(`/sessions/${id}/export?format=pdf`, asAda))).toMatchObject({
    ...{ status: 400, code: 'invalid_request', pointers: ['format'] },
  })
})
