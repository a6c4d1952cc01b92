// What a client means by a history that ends with a new message: an edit where we hold a user message that it has left out,
// and otherwise just the next message.

import { describe, expect, test } from 'vitest'
import type { ModelRequest } from '../../models/model.ts'
import { eventsOf, openDoors } from '../testing/open-doors.ts'
import { calls, says } from '../testing/open-gated-doors.ts'

const user = (id: string) => ({ id, role: 'user', content: `text of ${id}` })
const input = (runId: string, messages: unknown[], more: Record<string, unknown> = {}) => ({
  protocolVersion: '1.0',
  threadId: 'thread',
  runId,
  messages,
  ...more,
})

/** A thread in which u1 and u2 were answered. The model numbers its answers. */
async function openThread(more: Parameters<typeof openDoors>[0] = {}) {
  const requests: ModelRequest[] = []
  const answers = [1, 2, 3, 4].map((n) => says(`answer ${n}`))
  const doors = await openDoors({ answers, onRequest: (request) => void requests.push(request), ...more })
  const run = async (runId: string, messages: unknown[], extra?: Record<string, unknown>) =>
    eventsOf(await doors.run('/', input(runId, messages, extra)))
  await run('run-1', [user('u1')])
  await run('run-2', [user('u2')])
  const session = await doors.engine.sessions.get('local_user', 'thread')
  const shown = () => doors.engine.messages.page(session.id, 100)
  const [, a1, , a2] = await shown()
  return {
    ...doors,
    session,
    requests,
    ask: run,
    a1: { id: a1?.id, role: 'assistant', content: 'answer 1' },
    a2: { id: a2?.id, role: 'assistant', content: 'answer 2' },
    shown: async () => (await shown()).map(({ content }) => content),
    told: () => requests.at(-1)?.messages.map(({ content }) => content),
  }
}

describe('an edited message', () => {
  test('branches where the old one was: the model sees the new one alone, and the log keeps both', async () => {
    await using thread = await openThread()

    await thread.ask('run-3', [user('u1'), thread.a1, user('edited')])

    expect(thread.told()).toEqual(['text of u1', 'answer 1', 'text of edited'])
    expect(await thread.shown()).toEqual(['text of u1', 'answer 1', 'text of edited', 'answer 3'])
    const [run] = (await thread.store.runs.list(thread.session.id)).slice(-1)
    const left = (await thread.store.messages.all(thread.session.id)).filter((one) => one.supersededBy === run?.id)
    expect(left.map(({ content }) => content)).toEqual(['text of u2', 'answer 2'])
    const log = JSON.stringify(await thread.engine.sessions.entries(thread.session.id, 0, 1_000))
    expect(log).toContain('answer 2')
    expect((await thread.engine.sessions.get('local_user', 'thread')).messageCount).toBe(4)
  })

  test('may be edited and answered again', async () => {
    await using thread = await openThread()
    await thread.ask('run-3', [user('u1'), thread.a1, user('edited')])

    await thread.ask('run-4', [user('u1'), thread.a1, user('edited twice')])
    expect(thread.told()).toEqual(['text of u1', 'answer 1', 'text of edited twice'])
    await thread.ask('run-5', [user('u1'), thread.a1, user('edited twice')])

    expect(thread.told()).toEqual(['text of u1', 'answer 1', 'text of edited twice'])
    expect(await thread.shown()).toHaveLength(4)
  })

  test('sent twice under two run ids is one message', async () => {
    await using thread = await openThread()
    const edit = [user('u1'), thread.a1, user('edited')]

    await Promise.all([thread.ask('run-3', edit), thread.ask('run-4', edit)])

    expect((await thread.shown()).filter((one) => one === 'text of edited')).toHaveLength(1)
    expect(await thread.shown()).toHaveLength(4)
  })

  test('gives up the calls of the page that waited in the old branch', async () => {
    const pick = { name: 'pick', description: 'Picks.', parameters: { type: 'object' } }
    await using thread = await openThread({
      answers: [says('answer 1'), says('answer 2'), calls(['pick']), says('answer 3')],
    })
    await thread.ask('run-3', [user('u3')], { tools: [pick] })
    const [call] = await thread.engine.waits.openClientCalls(thread.session.id)
    const result = { id: 'r', role: 'tool', toolCallId: call?.callId, content: 'blue' }

    await thread.ask('run-4', [user('u1'), thread.a1, result, user('edited')], { tools: [pick] })

    expect(thread.told()).toEqual(['text of u1', 'answer 1', 'text of edited'])
    expect(await thread.shown()).toEqual(['text of u1', 'answer 1', 'text of edited', 'answer 3'])
    expect(await thread.engine.waits.openClientCalls(thread.session.id)).toEqual([])
  })
})

describe('no edit is', () => {
  test.each<[string, (thread: Awaited<ReturnType<typeof openThread>>) => unknown[]]>([
    ['a new message alone', () => [user('u3')]],
    ['the end of a history', ({ a2 }) => [a2, user('u3')]],
    ['the whole history', ({ a1, a2 }) => [user('u1'), a1, user('u2'), a2, user('u3')]],
    ['a history of user messages', () => [user('u1'), user('u2'), user('u3')]],
    [
      'a history without the last answer, which the client has not seen',
      ({ a1 }) => [user('u1'), a1, user('u2'), user('u3')],
    ],
  ])('%s', async (_what, history) => {
    await using thread = await openThread()

    await thread.ask('run-3', history(thread))

    expect(thread.told()).toEqual(['text of u1', 'answer 1', 'text of u2', 'answer 2', 'text of u3'])
    expect(await thread.shown()).toHaveLength(6)
  })

  test('a message of a page that still shows the branch which was left', async () => {
    await using thread = await openThread()
    await thread.ask('run-3', [user('u1'), thread.a1, user('edited')])

    await thread.ask('run-4', [user('u1'), thread.a1, user('u2'), thread.a2, user('u3')])

    expect(thread.told()).toEqual(['text of u1', 'answer 1', 'text of edited', 'answer 3', 'text of u3'])
  })
})
