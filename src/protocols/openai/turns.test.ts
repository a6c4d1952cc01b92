import { describe, expect, test } from 'vitest'
import { newResults, type TakeOptions, type Turn, takeTurns } from './turns.ts'

const options: TakeOptions = { continues: null, maxMessages: 50, field: 'messages' }
const user = (text: string): Turn => ({ role: 'user', text, files: [] })
const assistant = (text: string): Turn => ({ role: 'assistant', text })
const instructions = (text: string): Turn => ({ role: 'instructions', text })
const call = (id: string) => ({ id, type: 'function' as const, function: { name: 'pick', arguments: '{}' } })
const calling = (text: string, ...ids: string[]): Turn => ({ role: 'assistant', text, calls: ids.map(call) })
const result = (callId: string, text: string): Turn => ({ role: 'tool', callId, text })
const continuing = (calls: Record<string, 'pending' | 'answered'> = {}) => ({
  continues: { calls: new Map(Object.entries(calls)) },
})
const fromClient = { metadata: { quarterdeck: { from: 'client' } } }

function take(turns: Turn[], more: Partial<TakeOptions> = {}) {
  let count = 0
  return takeTurns(turns, { ...options, ...more }, { uuid: () => `id-${++count}` })
}

describe('what a run takes of the turns', () => {
  const turns = [instructions('Be brief.'), user('One.'), assistant('1'), user('Two.'), user('Three.')]

  test('is all of them where no conversation is kept, and what came before is marked', () => {
    expect(take(turns)).toEqual({
      instructions: ['Be brief.'],
      messages: [
        { id: 'id-1', role: 'user', content: 'One.', ...fromClient },
        { id: 'id-2', role: 'assistant', content: '1', ...fromClient },
        { id: 'id-3', role: 'user', content: 'Two.' },
        { id: 'id-4', role: 'user', content: 'Three.' },
      ],
      files: new Map(),
    })
  })

  test('is the new ones at the end where the conversation is kept', () => {
    expect(take(turns, continuing())).toEqual({
      instructions: ['Be brief.'],
      messages: [
        { id: 'id-1', role: 'user', content: 'Two.' },
        { id: 'id-2', role: 'user', content: 'Three.' },
      ],
      files: new Map(),
    })
  })

  test('has the files of what is taken, also where nothing is said beside them', () => {
    const [old, one] = ['old', 'one'].map((fileId) => [{ pointer: '', fileId }])
    const withFiles: Turn[] = [
      { role: 'user', text: 'Old.', files: old ?? [] },
      assistant('1'),
      { role: 'user', text: '', files: one ?? [] },
    ]

    expect(take(withFiles, continuing())).toEqual({
      instructions: [],
      messages: [{ id: 'id-1', role: 'user', content: '' }],
      files: new Map([['id-1', one]]),
    })
    expect([...take(withFiles).files.values()]).toEqual([old, one])
  })

  test('has no more history than the model is shown, and no empty messages', () => {
    const { messages } = take([user('Old.'), user('One.'), assistant(''), user(' '), user('Two.')], { maxMessages: 2 })

    expect(messages).toEqual([
      { id: 'id-1', role: 'user', content: 'One.', ...fromClient },
      { id: 'id-2', role: 'user', content: 'Two.' },
    ])
  })

  test.each([
    ['no message of the user', [instructions('Be brief.')]],
    ['an answer at the end', [user('One.'), assistant('1')]],
    ['blank text at the end', [user('One.'), assistant('1'), user(' \n')]],
  ])('is refused with %s', (_what, wrong) => {
    expect(() => take(wrong)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        problems: [
          {
            pointer: '/messages',
            detail: 'The last message must be one of the user, with some text or a file, or the result of a tool.',
          },
        ],
      }),
    )
  })
})

describe('results of tools', () => {
  test('are history with their calls where no conversation is kept', () => {
    const turns = [user('Go.'), calling('', 'c1', 'c2'), result('c1', 'red'), result('c2', '')]

    expect(take(turns).messages).toEqual([
      { id: 'id-1', role: 'user', content: 'Go.', ...fromClient },
      { id: 'id-2', role: 'assistant', content: '', toolCalls: [call('c1'), call('c2')], ...fromClient },
      { id: 'id-3', role: 'tool', content: 'red', toolCallId: 'c1' },
      { id: 'id-4', role: 'tool', content: '', toolCallId: 'c2' },
    ])
  })

  test('go with the call that they are of, when that is too old', () => {
    const turns = [user('Go.'), calling('', 'c1'), result('c1', 'red'), assistant('Red.'), user('Thanks.')]

    expect(take(turns, { maxMessages: 2 }).messages.map(({ content }) => content)).toEqual(['Red.', 'Thanks.'])
  })

  test.each([
    ['none before', [result('c1', 'red')]],
    ['another id', [calling('', 'c2'), result('c1', 'red')]],
    ['one that comes later', [result('c1', 'red'), calling('', 'c1'), user('Go.')]],
  ])('are refused where no conversation is kept and they follow no call: %s', (_what, turns) => {
    expect(() => take(turns)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  test('are taken where their calls are open, and a new word with them', () => {
    const turns = [user('Go.'), calling('', 'c1', 'c2'), result('c1', 'red'), result('c2', 'blue'), user('And?')]

    expect(newResults(turns)).toEqual(['c1', 'c2'])
    expect(take(turns, continuing({ c1: 'pending' })).messages).toEqual([
      { id: 'id-1', role: 'tool', content: 'red', toolCallId: 'c1' },
      { id: 'id-2', role: 'user', content: 'And?' },
    ])
  })

  test('that were taken before are taken for a repeated request, unless there is a new word', () => {
    const answered = continuing({ c1: 'answered' })

    expect(take([result('c1', 'red')], answered).messages).toMatchObject([{ role: 'tool', toolCallId: 'c1' }])
    expect(take([result('c1', 'red'), user('And?')], answered).messages).toMatchObject([{ role: 'user' }])
  })

  test('are refused when nobody waits for them', () => {
    expect(() => take([result('c1', 'red')], continuing())).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        problems: [{ pointer: '/messages', detail: 'No tool call of this conversation waits for these results.' }],
      }),
    )
  })
})
