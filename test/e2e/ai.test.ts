// The AI SDK's own chat decides what is right: `useChat` is this class with React's state.

import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { codeTool, createCodeTool } from '../../src/tools/function/code-tool.ts'
import { createStrayErrors } from '../../src/tools/function/stray-errors.ts'
import type { ToolContext } from '../../src/tools/function/tool-context.ts'
import { serverTool } from '../../src/tools/testing/server-tool.ts'
import { startAgentFiles } from './agent-files-app.ts'

const files = {
  'agent.yaml': `
name: clerk
description: Notes things.
model: { provider: scripted, script: script.json }
instructions: Note.
approval: { by: owner }
tools:
  - { type: client, name: paint, description: Paints the page., parameters: { type: object, properties: { colour: { type: string } } } }
`,
  'script.json': {
    answers: [
      { when: { tool: 'note' }, parts: [{ text: 'That is settled.' }] },
      { when: { tool: 'paint' }, parts: [{ text: 'I have painted it.' }] },
      { when: { tool: 'look' }, parts: [{ text: 'I see a ship.' }] },
      { when: { tool: 'ask' }, parts: [{ text: 'Thank you.' }] },
      {
        when: { user: 'hello' },
        parts: [{ reasoning: 'Hm.' }, { text: 'Good ' }, { text: 'day.' }, { usage: { input: 5, output: 2 } }],
      },
      {
        when: { user: 'look' },
        parts: [{ text: 'Let me see.' }, { tool_call: { name: 'look', arguments: { far: true } } }],
      },
      { when: { user: 'note' }, parts: [{ tool_call: { name: 'note', arguments: { to: 'bob' } } }] },
      { when: { user: 'paint' }, parts: [{ tool_call: { name: 'paint', arguments: { colour: 'red' } } }] },
      {
        when: { user: 'both' },
        parts: [
          { tool_call: { name: 'note', arguments: { to: 'bob' } } },
          { tool_call: { name: 'paint', arguments: { colour: 'red' } } },
        ],
      },
      { when: { user: 'ask me' }, parts: [{ tool_call: { name: 'ask', arguments: {} } }] },
      { when: { user: 'talk on' }, parts: [{ text: 'Once upon a time' }, { hang: true }] },
      { when: { user: 'one' }, times: 1, parts: [{ text: 'First.' }] },
      { when: { user: 'one' }, parts: [{ text: 'First again.' }] },
      { when: { user: 'two' }, parts: [{ text: 'Second.' }] },
      { when: { user: 'better' }, parts: [{ text: 'Better.' }] },
      { when: { user: 'picture' }, parts: [{ text: 'A dot.' }] },
      { when: { user: 'fail' }, parts: [{ text: 'Well' }, { error: { code: 'model_failed' } }] },
    ],
  },
}

async function open() {
  const noted: unknown[] = []
  const tools = [
    serverTool({
      name: 'look',
      description: 'Looks out.',
      parameters: { type: 'object' },
      effect: 'read',
      call: async ({ voice }) => {
        voice.setState({ seen: ['ship'] })
        voice.activity('watch', 'watch', { side: 'starboard' })
        return { content: '{"ship":true}', isError: false }
      },
    }),
    serverTool({
      name: 'note',
      description: 'Notes something down.',
      parameters: { type: 'object', properties: { to: { type: 'string' } } },
      risk: 'low',
      approval: { ask: 'always' },
      call: async ({ arguments: { to } }) => {
        noted.push(to)
        return { content: `noted ${to}`, isError: false }
      },
    }),
    {
      ...createCodeTool(
        codeTool({
          name: 'ask',
          description: 'Asks.',
          parameters: z.object({}),
          approval: 'never',
          async run(_input, context: ToolContext) {
            const { size } = await context.ask({
              message: 'Which size?',
              schema: z.object({ size: z.enum(['S', 'L']) }),
            })
            return `Size ${size}.`
          },
        }),
        createStrayErrors(),
      ),
    },
  ]
  return { ...(await startAgentFiles(files, { tools })), noted }
}

/** What React keeps for `useChat`. */
class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready'
  error: Error | undefined = undefined
  messages: UIMessage[]
  constructor(messages: UIMessage[]) {
    this.messages = messages
  }
  pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, message]
  }
  popMessage = () => {
    this.messages = this.messages.slice(0, -1)
  }
  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.with(index, structuredClone(message))
  }
  snapshot = <T>(thing: T): T => structuredClone(thing)
}

class Chat extends AbstractChat<UIMessage> {
  constructor(init: ChatInit<UIMessage>) {
    super({ ...init, state: new PlainState(init.messages ?? []) })
  }
}

type App = Pick<Awaited<ReturnType<typeof open>>, 'url' | 'asOwner'>

const chatAt = ({ url, asOwner }: App, more: ChatInit<UIMessage> = {}) =>
  new Chat({
    id: 'talk',
    transport: new DefaultChatTransport({ api: `${url}/ai/chat`, headers: asOwner }),
    ...more,
  })

/** What a page shows, without ids and metadata. */
const shown = ({ messages }: { messages: readonly UIMessage[] }) =>
  messages.map(({ role, parts }) => [role, ...parts.flatMap((part) => wordsOf(part))])

function wordsOf(part: UIMessage['parts'][number]): unknown[] {
  if (part.type === 'text' || part.type === 'reasoning') return [`${part.type} ${part.text}`]
  if (isToolUIPart(part))
    return [`${part.type} ${part.state} ${JSON.stringify(part.output ?? part.errorText ?? part.input)}`]
  if (part.type === 'step-start') return []
  return [part.type]
}

const approvalOf = (chat: Chat) => {
  const part = chat.lastMessage?.parts.find((one) => isToolUIPart(one) && one.state === 'approval-requested')
  if (part === undefined || !isToolUIPart(part) || part.approval === undefined) throw new Error('nothing is asked')
  return part.approval
}

describe('a chat', () => {
  test('shows reasoning, text and what it cost', async () => {
    await using app = await open()
    const chat = chatAt(app)

    await chat.sendMessage({ text: 'hello' })

    expect([chat.status, shown(chat)]).toEqual([
      'ready',
      [
        ['user', 'text hello'],
        ['assistant', 'reasoning Hm.', 'text Good day.'],
      ],
    ])
    expect(chat.lastMessage?.metadata).toMatchObject({
      agent: 'clerk',
      runId: chat.lastMessage?.id,
      usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
      outcome: 'completed',
    })
  })

  test('needs nothing but the address', async () => {
    await using app = await open()
    const chat = new Chat({ transport: new DefaultChatTransport({ api: `${app.url}/ai/chat` }) })

    await chat.sendMessage({ text: 'hello' })
    await chat.sendMessage({ text: 'two' })

    expect(shown(chat).slice(2)).toEqual([
      ['user', 'text two'],
      ['assistant', 'text Second.'],
    ])
    const session = await app.engine.sessions.get('local_user', chat.id)
    expect(session.messageCount).toBe(4)
  })

  test('shows the tools of the server, and what they say while they work', async () => {
    await using app = await open()
    const called: string[] = []
    const chat = chatAt(app, { onToolCall: ({ toolCall }) => void called.push(toolCall.toolName) })

    await chat.sendMessage({ text: 'look' })

    expect(shown(chat)[1]).toEqual([
      'assistant',
      'text Let me see.',
      'tool-look output-available {"ship":true}',
      'data-state',
      'data-activity',
      'text I see a ship.',
    ])
    expect(chat.lastMessage?.parts.find(({ type }) => type === 'data-state')).toMatchObject({
      data: { seen: ['ship'] },
    })
    expect(called).toEqual([])
  })

  test('says what failed', async () => {
    await using app = await open()
    const chat = chatAt(app)

    await chat.sendMessage({ text: 'fail' })

    expect([chat.status, shown(chat)[1]]).toEqual(['error', ['assistant', 'text Well']])
    expect(chat.lastMessage?.metadata).toMatchObject({ error: { code: 'model_failed', message: chat.error?.message } })
  })

  test('takes files, and refuses one that is not what it says', async () => {
    await using app = await open()
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAACgAAAAeCAIAAADRv8uKAAAAK0lEQVR4nO3NMQ0AAAgDsCmZfynIQgYcTfo3056IWCwWi8VisVgsFov/xgvk2cL9h1Oh3gAAAABJRU5ErkJggg=='
    const chat = chatAt(app)
    const file = {
      type: 'file' as const,
      mediaType: 'text/plain',
      filename: 'a.txt',
      url: 'data:text/plain;base64,YQ==',
    }

    await chat.sendMessage({ text: 'picture', files: [file] })
    // The server says what it reads of the file.
    expect(shown(chat)[1]).toEqual(['assistant', 'data-activity', 'text A dot.'])
    await chat.sendMessage({ text: 'picture', files: [{ ...file, url: `data:text/plain;base64,${png}` }] })

    expect(chat.status).toBe('error')
    expect(chat.error?.message).toContain('unsupported_media_type')
  })
})

describe('a tool of the page', () => {
  test('is run by the page, and its result goes on with the message', async () => {
    await using app = await open()
    const called: unknown[] = []
    const chat = chatAt(app, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall: { toolName, input, toolCallId } }) => {
        called.push([toolName, input])
        void chat.addToolOutput({ tool: toolName, toolCallId, output: { done: true } })
      },
    })

    await chat.sendMessage({ text: 'paint' })
    await expect
      .poll(() => [chat.status, shown(chat)])
      .toEqual([
        'ready',
        [
          ['user', 'text paint'],
          ['assistant', 'tool-paint output-available {"done":true}', 'text I have painted it.'],
        ],
      ])

    expect(called).toEqual([['paint', { colour: 'red' }]])
  })
})

describe('an approval', () => {
  test('is given on the page: the tool runs once, in the same message', async () => {
    await using app = await open()
    const chat = chatAt(app, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
    await chat.sendMessage({ text: 'note' })
    expect(shown(chat)[1]).toEqual(['assistant', 'tool-note approval-requested {"to":"bob"}'])

    await chat.addToolApprovalResponse({ id: approvalOf(chat).id, approved: true })

    await expect
      .poll(() => [chat.status, shown(chat)])
      .toEqual([
        'ready',
        [
          ['user', 'text note'],
          ['assistant', 'tool-note output-available "noted bob"', 'text That is settled.'],
        ],
      ])
    expect(app.noted).toEqual(['bob'])
  })

  test('is refused on the page: the tool does not run', async () => {
    await using app = await open()
    const chat = chatAt(app, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
    await chat.sendMessage({ text: 'note' })

    await chat.addToolApprovalResponse({ id: approvalOf(chat).id, approved: false, reason: 'Bob has left.' })

    await expect
      .poll(() => [chat.status, shown(chat)[1]])
      .toEqual(['ready', ['assistant', 'tool-note output-denied {"to":"bob"}', 'text That is settled.']])
    expect(app.noted).toEqual([])
  })

  test('that was changed meanwhile, that is of another chat, or that nobody may give, is not given', async () => {
    await using app = await open()
    const [chat, other] = [chatAt(app), chatAt(app, { id: 'other' })]
    await chat.sendMessage({ text: 'note' })
    await other.sendMessage({ text: 'note' })
    const approval = approvalOf(chat)
    const answer = (id: string, approval: object, headers: Record<string, string>) =>
      fetch(`${app.url}/ai/chat`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({
          id,
          messages: [
            {
              id: 'm',
              role: 'assistant',
              parts: [{ type: 'tool-note', toolCallId: 'c', state: 'approval-responded', approval }],
            },
          ],
        }),
      }).then(async (response) => [response.status, ((await response.json()) as { code: string }).code])
    const yes = { ...approval, approved: true }

    expect(await answer('talk', { ...yes, signature: 'another' }, app.asOwner)).toEqual([409, 'approval_changed'])
    expect(await answer('talk', { ...yes, signature: undefined }, app.asOwner)).toEqual([400, 'invalid_request'])
    expect(await answer('talk', { ...yes, approved: 'yes' }, app.asOwner)).toEqual([400, 'invalid_request'])
    expect(await answer('talk', { ...yes, id: approvalOf(other).id }, app.asOwner)).toEqual([404, 'approval_not_found'])
    expect(await answer('talk', { ...yes, id: 'unknown' }, app.asOwner)).toEqual([404, 'approval_not_found'])
    expect(await answer('nobody', yes, app.asOwner)).toEqual([404, 'session_not_found'])
    expect(await answer('talk', yes, {})).toEqual([403, 'forbidden'])
    expect(app.noted).toEqual([])
  })

  test('that somebody else gave shows its outcome to a page that comes back', async () => {
    await using app = await open()
    const chat = chatAt(app)
    await chat.sendMessage({ text: 'note' })
    const { id } = approvalOf(chat)
    const decided = await fetch(`${app.url}/approvals/${id}`, {
      method: 'POST',
      headers: { ...app.asOperator, 'Content-Type': 'application/json' },
      body: JSON.stringify({ decision: 'approve' }),
    })
    expect(decided.status).toBe(200)
    await expect.poll(() => app.noted).toEqual(['bob'])

    await chat.addToolApprovalResponse({ id, approved: true })
    await chat.sendMessage()

    expect(shown(chat)[1]).toEqual(['assistant', 'tool-note output-available "noted bob"', 'text That is settled.'])
    expect(app.noted).toEqual(['bob'])
  })

  test('and a tool of the page in one step are answered with one request', async () => {
    await using app = await open()
    const chat = chatAt(app, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
    await chat.sendMessage({ text: 'both' })
    const [, , , paint] = chat.lastMessage?.parts ?? []
    expect(shown(chat)[1]).toEqual([
      'assistant',
      'tool-note approval-requested {"to":"bob"}',
      'tool-paint input-available {"colour":"red"}',
    ])
    const call = chat.lastMessage?.parts.find((part) => isToolUIPart(part) && part.state === 'input-available')
    if (call === undefined || !isToolUIPart(call)) throw new Error(`no call: ${JSON.stringify(paint)}`)

    await chat.addToolOutput({ tool: 'paint', toolCallId: call.toolCallId, output: 'red' })
    await chat.addToolApprovalResponse({ id: approvalOf(chat).id, approved: true })

    await expect
      .poll(() => [chat.status, shown(chat)[1]])
      .toEqual([
        'ready',
        [
          'assistant',
          'tool-note output-available "noted bob"',
          'tool-paint output-available "red"',
          expect.stringContaining('text '),
        ],
      ])
  })
})

describe('a question of a tool', () => {
  test('is a part of the message, and the page answers it in the place of the tool', async () => {
    await using app = await open()
    const chat = chatAt(app, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls })
    await chat.sendMessage({ text: 'ask me' })
    const question = chat.lastMessage?.parts.find(({ type }) => type === 'data-question')
    expect(question).toMatchObject({
      data: {
        message: expect.stringContaining('Which size?'),
        schema: { properties: { size: { enum: ['S', 'L'] } } },
        digest: expect.any(String),
      },
    })
    const { toolCallId } = (question as { data: { toolCallId: string } }).data

    await chat.addToolOutput({ tool: 'ask', toolCallId, output: { size: 'L' } })

    await expect
      .poll(() => [chat.status, shown(chat)[1]])
      .toEqual(['ready', ['assistant', 'tool-ask output-available "Size L."', 'data-question', 'text Thank you.']])
  })
})

describe('a page that comes back', () => {
  test('gets the message that is being written from its beginning, and the rest', async () => {
    await using app = await open()
    const first = chatAt(app)
    void first.sendMessage({ text: 'talk on' })
    await expect.poll(() => shown(first)[1]).toEqual(['assistant', 'text Once upon a time'])
    const again = chatAt(app, { messages: first.messages.slice(0, 1) })

    void again.resumeStream()

    await expect.poll(() => shown(again)).toEqual(shown(first))
    expect(again.lastMessage?.id).toBe(first.lastMessage?.id)
    await again.stop()
    await first.stop()
    expect(shown(again)[1]).toEqual(['assistant', 'text Once upon a time'])
  })

  test('gets an approval that waits, and can give it', async () => {
    await using app = await open()
    await chatAt(app).sendMessage({ text: 'note' })
    const again = chatAt(app, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })

    await again.resumeStream()
    expect(shown(again)).toEqual([['assistant', 'tool-note approval-requested {"to":"bob"}']])
    await again.addToolApprovalResponse({ id: approvalOf(again).id, approved: true })

    await expect
      .poll(() => [again.status, shown(again)])
      .toEqual(['ready', [['assistant', 'tool-note output-available "noted bob"', 'text That is settled.']]])
  })

  test('is told that nothing is open', async () => {
    await using app = await open()
    const chat = chatAt(app)

    await chat.resumeStream()
    await chat.sendMessage({ text: 'hello' })
    const before = shown(chat)
    await chat.resumeStream()

    expect([chat.status, shown(chat)]).toEqual(['ready', before])
  })
})

describe('a branch', () => {
  test('another answer takes the place of the first', async () => {
    await using app = await open()
    const chat = chatAt(app)
    await chat.sendMessage({ text: 'one' })

    await chat.regenerate()
    await chat.sendMessage({ text: 'two' })

    const expected = [
      ['user', 'text one'],
      ['assistant', 'text First again.'],
      ['user', 'text two'],
      ['assistant', 'text Second.'],
    ]
    expect(shown(chat)).toEqual(expected)
    expect(await storedIn(app)).toEqual(['one', 'First again.', 'two', 'Second.'])
  })

  test('an edited message keeps its id at the page, and may be edited and answered again', async () => {
    await using app = await open()
    const chat = chatAt(app)
    await chat.sendMessage({ text: 'hello' })
    await chat.sendMessage({ text: 'one' })
    await chat.sendMessage({ text: 'two' })
    const edited = chat.messages[2]?.id ?? ''

    await chat.sendMessage({ text: 'better', messageId: edited })
    expect(await storedIn(app)).toEqual(['hello', 'Good day.', 'better', 'Better.'])
    await chat.sendMessage({ text: 'one', messageId: edited })
    expect(await storedIn(app)).toEqual(['hello', 'Good day.', 'one', 'First again.'])
    await chat.regenerate()
    await chat.sendMessage({ text: 'two' })

    expect(await storedIn(app)).toEqual(['hello', 'Good day.', 'one', 'First again.', 'two', 'Second.'])
    expect(shown(chat).slice(2)).toEqual([
      ['user', 'text one'],
      ['assistant', 'text First again.'],
      ['user', 'text two'],
      ['assistant', 'text Second.'],
    ])
  })

  test('a history that ends earlier goes on from there', async () => {
    await using app = await open()
    const chat = chatAt(app)
    for (const text of ['hello', 'one', 'two']) await chat.sendMessage({ text })

    chat.messages = chat.messages.slice(0, 2)
    await chat.sendMessage({ text: 'better' })

    expect(await storedIn(app)).toEqual(['hello', 'Good day.', 'better', 'Better.'])
  })

  test('a page may send its last message alone', async () => {
    await using app = await open()
    const transport = new DefaultChatTransport({
      api: `${app.url}/ai/chat`,
      prepareSendMessagesRequest: ({ id, messages, trigger }) => ({
        body: { id, trigger, messages: messages.slice(-1) },
      }),
    })
    const chat = chatAt(app, { transport })
    await chat.sendMessage({ text: 'one' })
    await chat.sendMessage({ text: 'two' })
    await chat.regenerate()

    expect(await storedIn(app)).toEqual(['one', 'First.', 'two', 'Second.'])
  })
})

async function storedIn({ engine }: Awaited<ReturnType<typeof open>>): Promise<unknown[]> {
  const session = await engine.sessions.get('local_user', 'talk')
  const messages = await engine.messages.page(session.id, 100)
  return messages.flatMap(({ role, content }) => (role === 'reasoning' ? [] : [content]))
}
