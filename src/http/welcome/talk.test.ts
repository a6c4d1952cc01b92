import { describe, expect, test } from 'vitest'
import { createTalk } from './talk.js'

function open() {
  const heard: string[] = []
  const talk = createTalk({
    changed: ({ id }) => void heard.push(`changed ${id}`),
    cleared: () => void heard.push('cleared'),
    moved: () => void heard.push(`moved ${talk.run} ${talk.waiting}`),
  })
  const take = (...events: { type: string }[]) => {
    for (const event of events) talk.take(event)
  }
  return {
    talk,
    heard,
    take,
    told: () => [...talk.items.values()].map(({ kind, text, result }) => [kind, text, result]),
  }
}

const started = (runId: string, ...messages: object[]) => ({ type: 'RUN_STARTED', runId, input: { messages } })
const user = (id: string, content: unknown) => ({ id, role: 'user', content })

describe('a conversation', () => {
  test('is what its events tell, in order', () => {
    const { talk, take, told } = open()

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
    expect(talk.run).toBe('r1')
  })

  test('waits after an interrupt, until a run goes on', () => {
    const { heard, take } = open()

    take(started('r1'), { type: 'RUN_FINISHED', outcome: { type: 'interrupt' } } as { type: string }, started('r2'), {
      type: 'RUN_FINISHED',
      outcome: { type: 'success' },
    } as { type: string })

    expect(heard).toEqual(['moved r1 null', 'moved null r1', 'moved r2 null', 'moved null null'])
  })

  test('says how a run ended that did not come to its end', () => {
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

  test('begins anew with a snapshot, and when it is forgotten', () => {
    const { talk, heard, take, told } = open()
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
    talk.forget()
    expect([told(), talk.run]).toEqual([[], null])
  })
})
