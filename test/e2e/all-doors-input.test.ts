// What each family of routes refuses, with its own status and shape. A refusal leaves nothing behind.

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type House, openHouse } from './open-house.ts'

interface Family {
  name: string
  path: string
  /** The rest of a valid body besides the message. */
  body: Record<string, unknown>
  headers?: Record<string, string>
  /** Status for a body that is well-formed JSON but not valid. */
  status: number
  /** Status for a message that was accepted. */
  taken: number
  /** A key of another family. */
  foreign: Record<string, unknown>
}

const families: Family[] = [
  { name: 'agent', path: '/agent/tester/chat', body: {}, status: 400, taken: 200, foreign: { thread_id: null } },
  {
    name: 'agent, streaming',
    path: '/agent/tester/chat/stream',
    body: {},
    status: 400,
    taken: 200,
    foreign: { user_id: 'ada' },
  },
  { name: 'chat', path: '/chat', body: {}, status: 422, taken: 200, foreign: { files: [] } },
  {
    name: 'chat, named by its keys',
    path: '/chat',
    body: { user_id: 'ada' },
    status: 422,
    taken: 200,
    foreign: { agent: 'tester' },
  },
  { name: 'threads', path: '/chat', body: { stream: false }, status: 400, taken: 200, foreign: { files: [] } },
  {
    name: 'threads, streaming',
    path: '/chat',
    body: { thread_id: null },
    status: 400,
    taken: 200,
    foreign: { agent: 'tester' },
  },
  {
    name: 'threads, named by Accept',
    path: '/chat',
    body: {},
    headers: { Accept: 'text/event-stream' },
    status: 400,
    taken: 200,
    foreign: { agent: 'tester' },
  },
  {
    name: 'background',
    path: '/sessions/new/messages',
    body: {},
    status: 400,
    taken: 202,
    foreign: { session_id: 'x' },
  },
]

const send = (house: House, { path, body, headers }: Family, more: unknown) =>
  house.post(
    path,
    typeof more === 'object' && more !== null && !Array.isArray(more) ? { ...body, ...more } : more,
    headers,
  )

const ProblemSchema = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  instance: z.string(),
  code: z.string(),
  correlation_id: z.string(),
  errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).optional(),
})

/** The problem, checked for its shape. The threads family repeats its detail twice. */
async function problemIn(response: Response, { name, path }: Family) {
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const problem = ProblemSchema.parse(await response.json())
  expect(problem).toMatchObject({
    type: expect.stringMatching(`/${problem.code}$`),
    status: response.status,
    instance: path,
  })
  const own = { error: problem.error, message: problem.message }
  const isThreads = name.startsWith('threads')
  expect(own).toEqual(
    isThreads ? { error: problem.detail, message: problem.detail } : { error: undefined, message: undefined },
  )
  return { status: response.status, code: problem.code, pointers: problem.errors?.map(({ pointer }) => pointer) }
}

async function expectNothing(house: House): Promise<void> {
  expect(await (await house.get('/threads')).json()).toEqual({ threads: [] })
  expect([house.engine.stats().runsStarted, house.model.told]).toEqual([0, []])
}

const emoji = '😀'

describe.each(families)('$name', (family) => {
  const { status, taken } = family

  test('refuses a message that is blank, missing or not a string', async () => {
    await using house = await openHouse()

    for (const message of ['', ' ', '\n\t ', '\u3000\u00a0', undefined, null, 7, true, ['hello'], { text: 'hello' }]) {
      expect([message, await problemIn(await send(house, family, { message }), family)]).toEqual([
        message,
        { status, code: 'invalid_request', pointers: ['/message'] },
      ])
    }
    await expectNothing(house)
  })

  test('refuses unknown keys and names all of them', async () => {
    await using house = await openHouse()
    const [foreign = ''] = Object.keys(family.foreign)

    const response = await send(house, family, { message: 'hello', ...family.foreign, 'a/b~c': 1 })

    expect(await problemIn(response, family)).toEqual({
      status,
      code: 'invalid_request',
      pointers: [`/${foreign}`, '/a~1b~0c'],
    })
    await expectNothing(house)
  })

  test('takes 10,000 characters and not one more, however many bytes they have', async () => {
    await using house = await openHouse()

    for (const longest of ['a'.repeat(10_000), 'ß'.repeat(10_000), emoji.repeat(10_000)]) {
      for (const longer of [`${longest}a`, `${longest}${emoji}`, `${longest} `]) {
        expect(await problemIn(await send(house, family, { message: longer }), family)).toEqual({
          status,
          code: 'invalid_request',
          pointers: ['/message'],
        })
      }
    }
    await expectNothing(house)

    for (const longest of ['a'.repeat(10_000), 'ß'.repeat(10_000), emoji.repeat(10_000)]) {
      const response = await send(house, family, { message: longest })
      expect(response.status).toBe(taken)
      await response.text()
    }
  })

  test('refuses a body that is not JSON with 400, and one that is not an object as invalid', async () => {
    await using house = await openHouse()

    for (const text of ['{"message": "hello"', '', 'hello', "{'message': 'hello'}", '{"message":"hello"} {}']) {
      const response = await house.post(family.path, text, family.headers)
      expect([text, response.status, ProblemSchema.parse(await response.json()).code]).toEqual([
        text,
        400,
        'malformed_json',
      ])
    }
    // Such a body has no keys that show the family, so Accept decides.
    const unnamed = family.path === '/chat' && family.headers === undefined ? 422 : status
    for (const text of ['[]', 'null', '7', '"hello"', '[{"message":"hello"}]']) {
      const response = await house.post(family.path, text, family.headers)
      expect([text, response.status, ProblemSchema.parse(await response.json())]).toMatchObject([
        text,
        unnamed,
        { code: 'invalid_request', errors: [{ pointer: '' }] },
      ])
    }
    await expectNothing(house)
  })

  test('refuses a body whose content type is not JSON', async () => {
    await using house = await openHouse()

    const response = await house.post(family.path, 'message=hello', {
      ...family.headers,
      'Content-Type': 'application/x-www-form-urlencoded',
    })

    expect([response.status, ProblemSchema.parse(await response.json()).code]).toEqual([415, 'unsupported_media_type'])
    await expectNothing(house)
  })
})

describe('ids of sessions', () => {
  const unknown = '0192F3A1-7B2C-7DEF-8ABC-0123456789AB'

  test('that cannot be ids are refused as malformed, with the status of the family', async () => {
    await using house = await openHouse()

    for (const id of ['nobody-knows-me', '', '   ', 'x'.repeat(129), 'line\nbreak', '../threads', 7, {}, ['x']]) {
      const isText = typeof id === 'string'
      const code = isText ? 'malformed_id' : 'invalid_request'
      expect([id, await refusal(house.post('/agent/tester/chat', { message: 'm', session_id: id }))]).toEqual([
        id,
        [400, code],
      ])
      expect([id, await refusal(house.post('/chat', { message: 'm', session_id: id }))]).toEqual([id, [422, code]])
      expect([id, await refusal(house.post('/chat', { message: 'm', thread_id: id }))]).toEqual([id, [400, code]])
    }
    for (const id of ['x'.repeat(129), ' ']) {
      const path = `/sessions/${encodeURIComponent(id)}`
      expect([id, await refusal(house.post(`${path}/messages`, { message: 'm' }))]).toEqual([id, [400, 'malformed_id']])
      expect([id, await refusal(house.get(`${path}/events`))]).toEqual([id, [400, 'malformed_id']])
      expect([id, await refusal(house.get(path))]).toEqual([id, [422, 'malformed_id']])
      expect([id, await refusal(house.get(`/threads/${encodeURIComponent(id)}`))]).toEqual([id, [400, 'malformed_id']])
    }
    await expectNothing(house)
  })

  test('that are well-formed but unknown are 404 at /chat; agent routes and /sessions create a session', async () => {
    await using house = await openHouse()

    expect(await refusal(house.post('/chat', { message: 'm', session_id: unknown }))).toEqual([
      404,
      'session_not_found',
    ])
    expect(await refusal(house.post('/chat', { message: 'm', thread_id: unknown }))).toEqual([404, 'session_not_found'])
    const begun = await (await house.post('/agent/tester/chat', { message: 'm', session_id: unknown })).json()
    expect(begun).toMatchObject({
      content: 'tester: m',
      session_id: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
    })
    expect((await house.post(`/sessions/${unknown}/messages`, { message: 'm' })).status).toBe(202)
    expect(await (await house.get(`/threads/${unknown}`)).json()).toMatchObject({ thread_id: unknown.toLowerCase() })
  })
})

describe('POST /chat', () => {
  test.each([
    [{ session_id: 'x', thread_id: 'x' }, ['/session_id', '/thread_id']],
    [{ session_id: null, stream: true }, ['/session_id', '/stream']],
    [{ user_id: 'ada', metadata: {} }, ['/user_id', '/metadata']],
    [
      { metadata: {}, stream: false, thread_id: null, user_id: 'ada', session_id: null },
      ['/session_id', '/user_id', '/thread_id', '/stream', '/metadata'],
    ],
  ])('refuses the keys of two families in one body: %j', async (body, pointers) => {
    await using house = await openHouse()

    for (const headers of [{ Accept: 'application/json' }, { Accept: 'text/event-stream' }]) {
      for (const message of ['hello', '', undefined]) {
        const response = await house.post('/chat', { message, ...body }, headers)
        const problem = ProblemSchema.parse(await response.json())
        expect([response.status, problem.code, problem.errors?.map(({ pointer }) => pointer)]).toEqual([
          422,
          'invalid_request',
          pointers,
        ])
        for (const pointer of pointers) expect(problem.detail).toContain(pointer.slice(1))
      }
    }
    await expectNothing(house)
  })
})

async function refusal(answered: Promise<Response>): Promise<[status: number, code: string]> {
  const response = await answered
  return [response.status, ProblemSchema.parse(await response.json()).code]
}
