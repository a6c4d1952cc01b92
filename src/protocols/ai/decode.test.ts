import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { decodeChat, decodeWords } from './decode.ts'

const user = (id: string, ...parts: object[]) => ({ id, role: 'user', parts })
const assistant = (...parts: object[]) => ({ id: 'a', role: 'assistant', parts })
const text = (words: unknown) => ({ type: 'text', text: words })
const chat = (...messages: unknown[]) => ({ id: 'talk', messages })
const wordsIn = (...parts: { type: string }[]) => decodeWords({ id: 'u', index: 0, parts })

/** Code and first place of the refusal. */
function refusal(decode: () => unknown): unknown {
  try {
    return decode()
  } catch (error) {
    if (error instanceof ServerError) return [error.code, error.problems[0]?.pointer]
    throw error
  }
}

test('takes what the transport of the AI SDK sends, and keeps what a page adds', () => {
  const body = {
    ...chat(user('u', text('Hello!'))),
    trigger: 'submit-message',
    messageId: 'u',
    agent: 'clerk',
    colour: 1,
  }

  expect(decodeChat(body)).toEqual({
    id: 'talk',
    agent: 'clerk',
    regenerates: false,
    messages: [{ id: 'u', role: 'user', index: 0, parts: [text('Hello!')] }],
    lastAnswered: -1,
    continues: null,
    outputs: [],
    answers: [],
    instructions: [],
    props: { colour: 1 },
  })
})

test('reads text and files, and leaves out parts that it does not know', () => {
  const file = { type: 'file', mediaType: 'image/png', filename: 'dot.png', url: 'data:image/png;base64,AAAA' }
  const own = 'http://other/files/0192f3a1-7b2c-7def-8abc-0123456789ab?key=k'

  expect(wordsIn(text('One'), { type: 'data-x' }, file, { type: 'from-the-future' }, text('two'))).toEqual({
    text: 'One\ntwo',
    files: [{ pointer: '/messages/0/parts/2/url', base64: 'AAAA', name: 'dot.png', mimeType: 'image/png' }],
  })
  expect(wordsIn({ ...file, url: own } as { type: string }).files).toEqual([
    { pointer: '/messages/0/parts/0/url', fileId: '0192f3a1-7b2c-7def-8abc-0123456789ab' },
  ])
})

test.each([
  ['no words', () => wordsIn(text(' '))],
  ['a text that is none', () => wordsIn(text(7))],
  ['too many words', () => wordsIn(text('a'.repeat(100_001)))],
  ['a file without an address', () => wordsIn({ type: 'file' })],
])('refuses a message with %s', (_what, decode) => {
  expect(refusal(decode)).toEqual(['invalid_request', expect.stringMatching(/^\/messages\/0/)])
})

test.each([
  [null, ''],
  [[], ''],
  [{ id: 'talk' }, '/messages'],
  [{ messages: [] }, '/id'],
  [chat(), '/messages'],
  [chat({ id: 's', role: 'system', parts: [text('Be brief.')] }), '/messages'],
  [chat({ id: 'x', role: 'robot', parts: [] }), '/messages/0/role'],
  [chat({ id: 'x', role: 'user' }), '/messages/0/parts'],
  [chat({ id: 'x', role: 'user', parts: ['words'] }), '/messages/0/parts/0'],
  [chat({ role: 'user', parts: [] }), '/messages/0/id'],
])('refuses %j', (body, pointer) => {
  expect(refusal(() => decodeChat(body))).toEqual(['invalid_request', pointer])
})

test.each(['', ' ', 'x'.repeat(129), 'line\nbreak'])('refuses the id %j', (id) => {
  expect(refusal(() => decodeChat({ ...chat(user('u', text('x'))), id }))).toEqual(['malformed_id', '/id'])
})

describe('the last message of the agent', () => {
  const approval = { id: 'approval', signature: 'digest', approved: true }
  const call = { type: 'tool-note', toolCallId: 'c1', input: {} }

  test('brings results of the page’s tools, and the calls that are open', () => {
    const { outputs, continues, answers } = decodeChat(
      chat(
        user('u', text('x')),
        assistant(
          text('Well'),
          { ...call, state: 'output-available', output: { n: 1 } },
          { ...call, toolCallId: 'c2', state: 'output-error', errorText: 'No.' },
          { ...call, toolCallId: 'c3', state: 'output-available', output: 'server', providerExecuted: true },
          { type: 'dynamic-tool', toolName: 'other', toolCallId: 'c4', state: 'input-available' },
        ),
      ),
    )

    expect({ outputs, continues, answers }).toEqual({
      outputs: [
        { toolCallId: 'c1', content: '{"n":1}' },
        { toolCallId: 'c2', content: 'No.', error: 'No.' },
      ],
      continues: { messageId: 'a', held: [{ id: 'c4', name: 'other', approval: null }] },
      answers: [],
    })
  })

  test('brings answers to approvals, bound to what was shown', () => {
    const answered = { ...call, state: 'approval-responded', approval }
    const no = { ...answered, toolCallId: 'c2', approval: { ...approval, approved: false, reason: 'Bob has left.' } }

    expect(decodeChat(chat(assistant(answered, no), user('u', text('x')))).answers).toEqual([
      { waitId: 'approval', decision: 'approve', digest: 'digest' },
      { waitId: 'approval', decision: 'reject', digest: 'digest', reason: 'Bob has left.' },
    ])
  })

  test('brings answers to questions in the place of results', () => {
    const question = { type: 'data-question', id: 'q', data: { toolCallId: 'c1', digest: 'digest' } }
    const given = { ...call, state: 'output-available', output: { size: 'L' }, providerExecuted: false }

    expect(decodeChat(chat(assistant(given, question)))).toMatchObject({
      outputs: [],
      answers: [{ waitId: 'q', decision: 'respond', digest: 'digest', result: { size: 'L' } }],
      continues: { held: [{ id: 'c1', name: 'note', approval: null }] },
    })
    expect(
      decodeChat(chat(assistant({ ...given, state: 'output-error', errorText: 'No.' }, question))).answers,
    ).toEqual([{ waitId: 'q', decision: 'reject', digest: 'digest', reason: 'No.' }])
  })

  test.each([
    [{ ...approval, approved: 'yes' }, '/messages/0/parts/0/approval/approved'],
    [{ ...approval, approved: 1 }, '/messages/0/parts/0/approval/approved'],
    [{ ...approval, signature: undefined }, '/messages/0/parts/0/approval/signature'],
    [{ ...approval, reason: 'a'.repeat(2_001) }, '/messages/0/parts/0/approval/reason'],
  ])('refuses the answer %j', (given, pointer) => {
    const part = { ...call, state: 'approval-responded', approval: given }

    expect(refusal(() => decodeChat(chat(assistant(part))))).toEqual(['invalid_request', pointer])
  })

  test('has at most 200 answers', () => {
    const parts = Array.from({ length: 201 }, () => ({ ...call, state: 'approval-responded', approval }))

    expect(refusal(() => decodeChat(chat(assistant(...parts))))).toEqual(['invalid_request', '/messages/0'])
  })
})
