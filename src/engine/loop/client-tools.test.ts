import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import type { ModelRequest } from '../../models/model.ts'
import { createSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { openEngine, outline, type TestEngineOptions, testTool, userInput } from '../testing/open-engine.ts'

const fail = (error: Error) => {
  throw error
}

const colour = { name: 'pick_colour', description: 'Lets the user pick a colour.', parameters: { type: 'object' } }
const look = testTool({ name: 'look', call: async () => ({ content: 'Nothing there.', isError: false }) })

const open = (options: TestEngineOptions = {}) =>
  openEngine({
    tools: [look],
    answers: [
      {
        parts: [{ tool_call: { name: 'look', arguments: {} } }, { tool_call: { name: 'pick_colour', arguments: {} } }],
      },
      { parts: [{ text: 'Red it is.' }] },
    ],
    ...options,
  })

type Server = ReturnType<typeof open>

const ask = (server: Server, clientAnswers: 'next_request' | 'in_stream' = 'next_request') =>
  server.start('go', {
    input: { ...userInput(server.ids.uuid(), 'go'), clientTools: [colour], clientAnswers },
  })

async function answer(server: Server, content: string, more: { user?: string } = {}) {
  const session = await server.engine.sessions.get('local_user', 'thread')
  const [call] = await server.engine.waits.openClientCalls(session.id)
  const user = more.user === undefined ? [] : userInput(server.ids.uuid(), more.user).messages
  const result = { id: server.ids.uuid(), role: 'tool' as const, content, toolCallId: call?.callId ?? '' }
  return server.start('', {
    session: { existing: session },
    input: {
      messages: [result, ...user],
      instructions: [],
      context: [],
      clientTools: [],
      clientAnswers: 'next_request',
    },
  })
}

describe('a tool of the client', () => {
  test('ends the run as a success that names the open calls, after the server tools have run', async () => {
    const server = open()
    const accepted = await ask(server)
    const seen = await server.events(accepted)
    const [call] = await server.engine.waits.openClientCalls(accepted.session.id)
    expect(outline(seen).filter((line) => line.startsWith('TOOL_CALL_RESULT'))).toEqual([
      'TOOL_CALL_RESULT Nothing there.',
    ])
    expect(seen.at(-1)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: [call?.callId] } })
    expect((await server.engine.runs.get('local_user', accepted.run.id)).status).toBe('waiting')
    await server.close()
  })

  test('is answered by the next request, and the model gets the question once', async () => {
    const requests: ModelRequest[] = []
    const server = open({ onRequest: (request) => requests.push(request) })
    const accepted = await ask(server)
    await server.events(accepted)
    const next = await answer(server, 'red')
    expect(outline(await server.events(next)).at(-1)).toBe('RUN_FINISHED success')
    expect(next.run.parentRunId).toBe(accepted.run.wireId)
    expect(requests[1]?.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'go'],
      ['assistant', ''],
      ['tool', 'Nothing there.'],
      ['tool', 'red'],
    ])
    expect(requests[1]?.tools.map(({ name }) => name)).toEqual(['look', 'pick_colour'])
    await server.close()
  })

  test('answered together with a new message leaves nothing open', async () => {
    const requests: ModelRequest[] = []
    const server = open({ onRequest: (request) => requests.push(request) })
    await server.events(await ask(server))
    const next = await answer(server, 'red', { user: 'And now?' })
    expect(outline(await server.events(next)).at(-1)).toBe('RUN_FINISHED success')
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: 'user', content: 'And now?' })
    await server.close()
  })

  test('answered from outside lets the run go on by itself, once', async () => {
    const server = open()
    const accepted = await ask(server)
    await server.events(accepted)
    const [call] = await server.engine.waits.openClientCalls(accepted.session.id)
    const id = call?.id ?? ''
    const run = await server.engine.waits.answerClientCall('local_user', id, { content: 'red', isError: false })
    expect(outline(await server.events({ ...accepted, run })).at(-1)).toBe('RUN_FINISHED success')
    const again = server.engine.waits.answerClientCall('local_user', id, { content: 'blue', isError: false })
    await expect(again).rejects.toMatchObject({ code: 'tool_call_answered' })
    const foreign = server.engine.waits.answerClientCall('mallory', id, { content: 'blue', isError: false })
    await expect(foreign).rejects.toMatchObject({ code: 'tool_call_not_found' })
    await server.close()
  })

  test('answered while the run goes on with another answer counts, and only once', async () => {
    let meanwhile: (() => Promise<unknown>) | null = null
    const store = createSqliteStore({ path: ':memory:', fatal: fail })
    const page: Store['messages']['page'] = async (...query) => {
      const found = await store.messages.page(...query)
      const work = meanwhile
      meanwhile = null
      await work?.()
      return found
    }
    const pick = { tool_call: { name: 'pick_colour', arguments: {} } }
    const server = open({
      store: { ...store, messages: { ...store.messages, page } },
      answers: [{ parts: [pick, pick] }, { parts: [{ text: 'Fine.' }] }],
    })
    const accepted = await ask(server)
    await server.events(accepted)
    const [one, two] = await server.engine.waits.openClientCalls(accepted.session.id)
    const say = (id: string | undefined, content: string) =>
      server.engine.waits.answerClientCall('local_user', id ?? '', { content, isError: false })
    meanwhile = () => say(two?.id, 'blue')
    const run = await say(one?.id, 'red')
    expect(outline(await server.events({ ...accepted, run })).at(-1)).toBe('RUN_FINISHED success')
    const results = (await store.messages.all(accepted.session.id)).filter(({ role }) => role === 'tool')
    expect(results.map(({ toolCallId, content }) => [toolCallId, content])).toEqual([
      [one?.callId, 'red'],
      [two?.callId, 'blue'],
    ])
    await server.close()
  })

  test('that is not answered in time tells the model so, if the caller waits in its stream', async () => {
    let later = 0
    const real = createSystemClock()
    const clock = { ...real, now: () => real.now() + later, mono: () => real.mono() + later }
    const server = open({ clock })
    const accepted = await ask(server, 'in_stream')
    await server.events(accepted)
    const [call] = await server.engine.waits.openClientCalls(accepted.session.id)
    later = 60_000
    const late = server.engine.waits.answerClientCall('local_user', call?.id ?? '', { content: 'red', isError: false })
    await expect(late).rejects.toMatchObject({ code: 'tool_call_expired' })
    const run = await server.engine.runs.continuation(accepted.run)
    if (run === null) throw new Error('nothing went on')
    const seen = outline(await server.events({ ...accepted, run }))
    expect(seen[1]).toBe('TOOL_CALL_RESULT The client did not answer in time.')
    expect(seen.at(-1)).toBe('RUN_FINISHED success')
    await server.close()
  })

  test('blocks a new message, unless its sender gives up the call', async () => {
    const server = open()
    const accepted = await ask(server)
    await server.events(accepted)
    await expect(server.start('Never mind.')).rejects.toMatchObject({ code: 'approval_pending' })
    const next = await server.start('Never mind.', { whenWaiting: 'abandon' })
    expect(outline(await server.events(next)).at(-1)).toBe('RUN_FINISHED success')
    expect((await server.engine.runs.get('local_user', accepted.run.id)).status).toBe('completed')
    expect(await server.engine.waits.openClientCalls(accepted.session.id)).toEqual([])
    await server.close()
  })

  test('is not offered to the model if the caller could not answer it', async () => {
    const requests: ModelRequest[] = []
    const server = open({
      answers: [{ parts: [{ text: 'Hello.' }] }],
      onRequest: (request) => requests.push(request),
      tools: [look, { ...look, location: 'client', name: 'here' }],
    })
    await server.events(await server.start('go'))
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['look'])
    await server.close()
  })

  test('called in a loop over several runs reaches the limit of identical calls', async () => {
    const server = open({
      answers: [{ parts: [{ tool_call: { name: 'pick_colour', arguments: {} } }] }],
      agent: {},
    })
    let last = await ask(server)
    const ends: string[] = []
    for (let i = 0; i < 4; i += 1) {
      const seen = outline(await server.events(last))
      ends.push(seen.at(-1) ?? '')
      if (ends.at(-1)?.startsWith('RUN_ERROR') === true) break
      last = await answer(server, 'red')
    }
    expect(ends).toEqual([
      'RUN_FINISHED success',
      'RUN_FINISHED success',
      'RUN_FINISHED success',
      'RUN_ERROR budget_exceeded',
    ])
    await server.close()
  })
})

test('an answer from outside does not reset the state that tools have changed', async () => {
  const count = testTool({
    name: 'look',
    call: async ({ voice }) => {
      voice.setState({ n: 2 })
      return { content: 'ok', isError: false }
    },
  })
  const server = open({ tools: [count] })
  const input = { ...userInput(server.ids.uuid(), 'go'), clientTools: [colour], clientAnswers: 'next_request' as const }
  const accepted = await server.start('go', { input: { ...input, state: { n: 1 } } })
  await server.events(accepted)
  const [call] = await server.engine.waits.openClientCalls(accepted.session.id)
  const run = await server.engine.waits.answerClientCall('local_user', call?.id ?? '', {
    content: 'red',
    isError: false,
  })
  await server.events({ ...accepted, run })
  expect((await server.engine.sessions.get('local_user', 'thread')).state).toEqual({ n: 2 })
  await server.close()
})
