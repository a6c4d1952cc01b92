// kill -9 in the middle of an answer: the page of `useChat` that comes back gets the whole message.

import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai'
import { expect, onTestFinished, test } from 'vitest'
import { openYard } from './support/start-server.ts'

const textOf = (message: UIMessage | undefined) =>
  message?.parts.map((part) => (part.type === 'text' ? part.text : part.type)) ?? []

test('the message goes on after a restart, under the same id, and what broke off is not in it twice', async () => {
  const yard = await openYard(onTestFinished, {
    answers: [{ parts: [{ text: 'Once upon' }, { hang: true }] }],
  })
  const first = await yard.start()
  const before = await new DefaultChatTransport({ api: `${first.url}/ai/chat` }).sendMessages({
    chatId: 'tale',
    trigger: 'submit-message',
    messageId: undefined,
    messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Tell me.' }] }],
    abortSignal: undefined,
  })
  let seen: UIMessage | undefined
  try {
    for await (const message of readUIMessageStream({ stream: before })) {
      seen = message
      if (textOf(message).includes('Once upon')) await first.kill()
    }
  } catch {
    // The connection broke off.
  }
  expect(textOf(seen)).toEqual(['step-start', 'Once upon'])
  await yard.script([{ parts: [{ delay_ms: 1_500 }, { text: 'The end.' }] }])
  const second = await yard.start()

  const stream = await new DefaultChatTransport({ api: `${second.url}/ai/chat` }).reconnectToStream({ chatId: 'tale' })

  let last: UIMessage | undefined
  if (stream === null) throw new Error('nothing was open')
  for await (const message of readUIMessageStream({ stream })) last = message
  expect([last?.id, textOf(last)]).toEqual([seen?.id, ['step-start', 'The end.']])
  const session = await (await fetch(`${second.url}/sessions/tale`)).json()
  expect(session).toMatchObject({ messages: [{ content: 'Tell me.' }, {}, { content: 'The end.' }] })
})
