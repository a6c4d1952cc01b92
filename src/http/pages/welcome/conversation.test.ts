import { describe, expect, test } from 'vitest'
import { createConversation } from './conversation.js'

function open() {
  const heard: string[] = []
  const conversation = createConversation({
    changed: ({ id }) => void heard.push(`changed ${id}`),
    dropped: ({ id }) => void heard.push(`dropped ${id}`),
    cleared: () => void heard.push('cleared'),
    moved: () => void heard.push(`moved ${conversation.run} ${conversation.waiting}`),
  })
  const take = (...events: { type: string }[]) => {
    for (const event of events) conversation.take(event)
  }
  return {
    conversation,
    heard,
    take,
    told: () => [...conversation.items.values()].map(({ kind, text, result }) => [kind, text, result]),
  }
}

const started = (runId: string, ...messages: object[]) => ({ type: 'RUN_STARTED', runId, input: { messages } })
const user = (id: string, content: unknown) => ({ id, role: 'user', content })

describe('a conversation', () => {
  test('has the content of its events, in order', () => {
    const { conversation, take, told } = open()

    take(
      started('r1', user('u1', [{ type: 'text', text: 'Look' }, { type: 'image' }])),
      { type: 'REASONING_MESSAGE_START', messageId: 'm0' } as { type: string },
      { type: 'REASONING_MESSAGE_CONTENT', messageId: 'm0', delta: 'Up.' } as { type: string },
      { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'look' } as { type: string },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' } as { type: string },
      { type: 'STEP_STARTED' },
      { type: 'TOOL_CALL_RESULT', toolCallId: 'c1', content: 'a ship' } as { type: string },
      { type: 'TEXT_MESSAGE_START', messageId: 'm1' } as { type: string },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'A ' } as { type: string },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'ship.' } as { type: string },
    )

    expect(told()).toEqual([
      ['user', 'Look\n[image]', null],
      ['reasoning', 'Up.', null],
      ['tool', 'look {}', 'a ship'],
      ['assistant', 'A ship.', null],
    ])
    expect(conversation.run).toBe('r1')
  })

  test('waits after an interrupt until a run continues', () => {
    const { heard, take } = open()

    take(started('r1'), { type: 'RUN_FINISHED', outcome: { type: 'interrupt' } } as { type: string }, started('r2'), {
      type: 'RUN_FINISHED',
      outcome: { type: 'success' },
    } as { type: string })

    expect(heard).toEqual(['moved r1 null', 'moved null r1', 'moved r2 null', 'moved null null'])
  })

  test('says how a run ended that did not finish', () => {
    const { take, told } = open()

    take(started('r1'), { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } } as { type: string }, started('r2'), {
      type: 'RUN_ERROR',
      message: 'The key is wrong.',
    } as { type: string })

    expect(told()).toEqual([
      ['note', 'Stopped.', null],
      ['error', 'The key is wrong.', null],
    ])
  })

  test('starts again with a snapshot, and after forget()', () => {
    const { conversation, heard, take, told } = open()
    take(started('r1', user('u1', 'Hello')))
    const call = { id: 'c1', function: { name: 'look', arguments: '{"a":1}' } }

    take({
      type: 'MESSAGES_SNAPSHOT',
      messages: [
        user('u2', 'Look'),
        { id: 'm1', role: 'assistant', toolCalls: [call] },
        { id: 't1', role: 'tool', toolCallId: 'c1', content: 'a ship' },
        { id: 's1', role: 'system', content: 'not shown' },
      ],
    } as { type: string })

    expect(told()).toEqual([
      ['user', 'Look', null],
      ['tool', 'look {"a":1}', 'a ship'],
    ])
    expect(heard).toContain('cleared')
    expect([conversation.hasLeft('u1'), conversation.hasLeft('c1')]).toEqual([true, false])
    conversation.forget()
    expect([told(), conversation.run, conversation.hasLeft('u1')]).toEqual([[], null, false])
  })

  describe('with an abandoned branch', () => {
    const said = (id: string) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: id }) as { type: string }
    const called = (id: string) => ({ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: id }) as { type: string }
    const failed = (message: string) => ({ type: 'RUN_ERROR', message }) as { type: string }
    const assistant = (id: string, ...calls: string[]) => ({
      id,
      role: 'assistant',
      toolCalls: calls.map((call) => ({ id: call })),
    })
    const ids = (conversation: ReturnType<typeof open>['conversation']) => [...conversation.items.keys()]

    test('drops the items before an edit, with calls and how runs ended', () => {
      const { conversation, take, heard } = open()
      take(started('r1', user('u1', 'one')), said('aside'), said('a1'), failed('first'))
      take(started('r2', user('u2', 'two')), called('c2'), said('a2'), failed('second'), started('r3'), failed('third'))
      take(started('r4', user('u3', 'edited')), said('a3'))

      conversation.keepShown({ messages: [user('u1', ''), assistant('a1'), user('u3', '')] }, conversation.runs)

      // An item that the session does not store stays if a shown item follows in the same run.
      expect(ids(conversation)).toEqual(['u1', 'aside', 'a1', 'error 1', 'u3', 'a3'])
      expect(heard.filter((one) => one.startsWith('dropped'))).toEqual(
        ['u2', 'c2', 'a2', 'error 2', 'error 3'].map((id) => `dropped ${id}`),
      )
      expect([conversation.hasLeft('c2'), conversation.hasLeft('u1')]).toEqual([true, false])
    })

    test('drops a replaced answer, and keeps calls and items of later runs', () => {
      const { conversation, take } = open()
      take(started('r1', user('u1', 'one')), called('c1'), said('a1'), started('r2'), called('c2'))
      const begun = conversation.runs
      take(started('r3'), said('a3'))

      conversation.keepShown({ messages: [user('u1', '')] }, begun)
      expect(ids(conversation)).toEqual(['u1', 'c2', 'a3'])
      conversation.keepShown({ messages: [user('u1', ''), assistant('m2', 'c2')] }, conversation.runs)
      expect(ids(conversation)).toEqual(['u1', 'c2', 'a3'])
    })

    test('keeps an unfinished call of a failed run, which no session stores', () => {
      const { conversation, take } = open()
      take(started('r1', user('u1', 'one')), called('c1'), failed('broken'), started('r2', user('u2', 'two')))

      conversation.keepShown({ messages: [user('u1', ''), user('u2', '')] }, conversation.runs)
      expect(ids(conversation)).toEqual(['u1', 'c1', 'error 1', 'u2'])
      take(started('r3', user('u3', 'edited')))
      conversation.keepShown({ messages: [user('u3', '')] }, conversation.runs)
      expect(ids(conversation)).toEqual(['u3'])
    })

    test('keeps items that are older than the session shows', () => {
      const { conversation, take } = open()
      const metadata = { quarterdeck: { truncated: 2 } }
      take(started('r1', user('u1', 'one')), said('a1'), started('r2', user('u2', 'two')), said('a2'), started('r3'))

      conversation.keepShown({ messages: [user('u9', '')], metadata }, conversation.runs)
      expect(ids(conversation)).toEqual(['u1', 'a1', 'u2', 'a2'])
      conversation.keepShown({ messages: [user('u2', '')], metadata }, conversation.runs)
      expect(ids(conversation)).toEqual(['u1', 'a1', 'u2'])
    })
  })
})
