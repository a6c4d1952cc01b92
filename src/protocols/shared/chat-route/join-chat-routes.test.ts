import { describe, expect, test } from 'vitest'
import { openEngine } from '../../../engine/testing/open-engine.ts'
import type { Door } from '../../../http/route.ts'
import { createChatRoutes } from '../../chat/routes.ts'
import { createThreadRoutes } from '../../threads/routes.ts'
import { joinChatRoutes } from './join-chat-routes.ts'
import { openChat, refusalOf } from './testing/open-chat.ts'

/** Which family answered, by what only it says. */
async function family(response: Response): Promise<string> {
  const body = await response.text()
  if (response.headers.get('content-type') === 'text/event-stream') return 'threads, streaming'
  const keys = Object.keys(JSON.parse(body))
  return keys.includes('thread_id') ? 'threads' : keys.includes('session_id') ? 'rest' : `${response.status}`
}

const events = { Accept: 'text/event-stream' }

describe('which /chat', () => {
  test.each([
    ['a message alone', { message: 'Hi' }, {}, 'rest'],
    ['a message that wants JSON', { message: 'Hi' }, { Accept: 'application/json' }, 'rest'],
    ['a message that wants events', { message: 'Hi' }, events, 'threads, streaming'],
    [
      'a message that wants either',
      { message: 'Hi' },
      { Accept: 'application/json, text/event-stream' },
      'threads, streaming',
    ],
    ['a message that refuses events', { message: 'Hi' }, { Accept: 'text/event-stream;q=0, */*' }, 'rest'],
    ['a session_id', { message: 'Hi', session_id: null }, events, 'rest'],
    ['a user_id', { message: 'Hi', user_id: 'kim' }, events, 'rest'],
    ['a thread_id', { message: 'Hi', thread_id: null }, {}, 'threads, streaming'],
    ['stream', { message: 'Hi', stream: false }, {}, 'threads'],
    ['metadata', { message: 'Hi', metadata: {} }, {}, 'threads, streaming'],
  ])('is told by %s', async (_what, body, headers, expected) => {
    await using doors = await openChat()

    expect(await family(await doors.post('/chat', body, headers))).toBe(expected)
  })

  test.each([
    [{ message: 'Hi', session_id: null, thread_id: null }, ['/session_id', '/thread_id']],
    [{ message: 'Hi', user_id: 'kim', stream: true, metadata: {} }, ['/user_id', '/stream', '/metadata']],
  ])('is refused when the body has keys of both', async (body, pointers) => {
    await using doors = await openChat()

    expect(await refusalOf(await doors.post('/chat', body, events))).toEqual({
      status: 422,
      code: 'invalid_request',
      pointers,
    })
    expect(doors.engine.stats().runsStarted).toBe(0)
  })

  test.each([
    ['{"message":', {}, 400, false],
    ['{"message":', events, 400, true],
    ['[]', {}, 422, false],
    ['[]', events, 400, true],
  ])('answers %s in the words of the family that is asked', async (body, headers, status, isThreads) => {
    await using doors = await openChat()

    const response = await doors.post('/chat', body, headers)

    expect(response.status).toBe(status)
    expect('message' in ((await response.json()) as object)).toBe(isThreads)
  })
})

describe('a closed door', () => {
  const closed = async (doors: readonly Door[], body: unknown, headers?: Record<string, string>) => {
    await using opened = await openChat({ doors })
    return family(await opened.post('/chat', body, headers))
  }

  test('is 404 for the family that it closes, and the other takes what could be either', async () => {
    expect(await closed(['rest'], { message: 'Hi', stream: false })).toBe('404')
    expect(await closed(['rest'], { message: 'Hi' }, events)).toBe('rest')
    expect(await closed(['threads'], { message: 'Hi', user_id: 'kim' })).toBe('404')
    expect(await closed(['threads'], { message: 'Hi' })).toBe('threads, streaming')
    expect(await closed([], { message: 'Hi' })).toBe('404')
  })
})

test('the joined route describes only what is open', async () => {
  const { engine, oversight, readCosts, clock, ids, close } = openEngine()
  const deps = { engine, oversight, readCosts, clock, ids }
  const routes = [...createChatRoutes(deps), ...createThreadRoutes(deps)]

  const examples = joinChatRoutes(routes, ['rest']).at(0)?.describe?.().body?.examples
  expect(Object.keys(examples ?? {})).toEqual(['first', 'next'])
  await close()
})

test('the joined route describes both: its examples satisfy its schema', async () => {
  const { engine, oversight, readCosts, clock, ids, close } = openEngine()
  const deps = { engine, oversight, readCosts, clock, ids }
  const routes = joinChatRoutes([...createChatRoutes(deps), ...createThreadRoutes(deps)], ['rest', 'threads'])

  expect(routes.map(({ method, path, door }) => `${method} ${path} ${door}`)).toEqual([
    'POST /chat null',
    'GET /sessions null',
    'GET /sessions/:id null',
    'GET /threads threads',
    'GET /threads/:id threads',
    'DELETE /threads/:id threads',
    'POST /tool_result threads',
  ])
  for (const { describe: descriptionOf } of routes) {
    const description = descriptionOf?.()
    if (description === undefined) throw new Error('a route without a description')
    for (const example of Object.values(description.body?.examples ?? {})) {
      expect(description.body?.schema.safeParse(example).success).toBe(true)
    }
    for (const { content = {} } of Object.values(description.responses)) {
      for (const { schema, example } of Object.values(content)) expect(schema.safeParse(example).error).toBe(undefined)
    }
  }
  const chat = routes.at(0)?.describe?.()
  expect(Object.keys(chat?.responses[200]?.content ?? {})).toEqual(['application/json', 'text/event-stream'])
  expect(Object.keys(chat?.body?.examples ?? {}).length).toBe(4)
  await close()
})
