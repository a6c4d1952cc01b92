import { describe, expect, test } from 'vitest'
import { type TakeOptions, type Turn, takeTurns } from './turns.ts'

const options: TakeOptions = { continues: false, maxMessages: 50, field: 'messages' }
const user = (text: string): Turn => ({ role: 'user', text })
const assistant = (text: string): Turn => ({ role: 'assistant', text })
const instructions = (text: string): Turn => ({ role: 'instructions', text })
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
    })
  })

  test('is the new ones at the end where the conversation is kept', () => {
    expect(take(turns, { continues: true })).toEqual({
      instructions: ['Be brief.'],
      messages: [
        { id: 'id-1', role: 'user', content: 'Two.' },
        { id: 'id-2', role: 'user', content: 'Three.' },
      ],
    })
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
        problems: [{ pointer: '/messages', detail: 'The last message must be one of the user, with some text.' }],
      }),
    )
  })
})
