import { describe, expect, test } from 'vitest'
import { openChat, refusalOf } from '../../shared/chat-route/testing/open-chat.ts'
import { asAda, asEve, asLocalUser, asOperator } from '../../testing/open-doors.ts'

type Doors = Awaited<ReturnType<typeof openChat>>
type Headers = Record<string, string>

interface Message {
  message_id: string
  role: string
  feedback?: { value: string; note: string | null; by: string }[]
}

/** A session of Ada's, which she calls `hers`, with one answer in it. */
async function openAnswered() {
  const doors = await openChat()
  await doors.post('/chat', { message: 'Where to in May?' }, asAda)
  const [session] = await read<{ session_id: string }[]>(doors, '/sessions', asAda)
  const id = session?.session_id ?? ''
  const { messages } = await read<{ messages: Message[] }>(doors, `/sessions/${id}`, asAda)
  return Object.assign(doors, { id, answer: messages.find(({ role }) => role === 'assistant')?.message_id ?? '' })
}

const read = async <T>(doors: Doors, path: string, headers: Headers): Promise<T> =>
  (await doors.get(path, headers)).json() as Promise<T>

const patch = (doors: Doors, id: string, body: unknown, headers: Headers) =>
  fetch(`${doors.url}/sessions/${id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const factsOf = async ({ store, id }: Doors & { id: string }, name: string) =>
  (await store.entries(id, 0, 1_000))
    .filter(({ kind }) => kind === 'fact')
    .map(({ data }) => JSON.parse(data))
    .filter(({ fact }) => fact === name)
    .map(({ at: _, ...fact }) => fact)

describe('POST /messages/{id}/feedback', () => {
  test('keeps what the owner and operators think of an answer, with the message, in the log and in the export', async () => {
    await using doors = await openAnswered()
    const { id, answer } = doors
    const rate = (body: unknown, headers: Headers) => doors.post(`/messages/${answer}/feedback`, body, headers)
    const note = 'The date is wrong.\u202e'
    await rate({ value: 'up' }, asAda)
    const said = await rate({ value: 'down', note }, asAda)
    const others = await rate({ value: 'up' }, asEve)

    expect([said.status, others.status]).toEqual([200, 200])
    const hers = { value: 'down', note, by: 'ada', at: expect.any(String) }
    const eves = { value: 'up', note: null, by: 'eve', at: expect.any(String) }
    expect(await said.json()).toEqual({ message_id: answer, session_id: id, feedback: [hers] })
    expect(await read(doors, `/sessions/${id}/feedback`, asAda)).toEqual({
      feedback: [
        { message_id: answer, ...hers, own: true },
        { message_id: answer, ...eves, own: false },
      ],
    })
    for (const path of [`/sessions/${id}`, `/sessions/${id}/export`]) {
      const { messages } = await read<{ messages: Message[] }>(doors, path, asAda)
      expect(messages.map(({ role, feedback }) => [role, feedback])).toEqual([
        ['user', undefined],
        ['assistant', [hers, eves]],
      ])
    }
    expect(await factsOf(doors, 'feedback')).toEqual([
      { fact: 'feedback', message: answer, value: 'up', note: null, by: 'ada' },
      { fact: 'feedback', message: answer, value: 'down', note, by: 'ada' },
      { fact: 'feedback', message: answer, value: 'up', note: null, by: 'eve' },
    ])
    const taken = await rate({ value: null }, asAda)
    expect(((await taken.json()) as Message).feedback).toEqual([eves])
  })

  test('narrows the list of sessions', async () => {
    await using doors = await openAnswered()
    await doors.post(`/messages/${doors.answer}/feedback`, { value: 'down' }, asAda)
    const found = async (query: string, headers: Headers = asAda) =>
      (await read<{ session_id: string }[]>(doors, `/sessions?${query}`, headers)).map(({ session_id }) => session_id)

    expect(await found('feedback=down')).toEqual([doors.id])
    expect(await found('feedback=down&owner=*', asOperator)).toEqual([doors.id])
    expect(await found('feedback=up')).toEqual([])
    expect(await refusalOf(await doors.get('/sessions?feedback=maybe', asAda))).toEqual({
      ...{ status: 422, code: 'invalid_request', pointers: ['feedback'] },
    })
  })

  test('refuses the answers of others, unknown ids and bad bodies', async () => {
    await using doors = await openAnswered()
    const rate = async (message: string, body: unknown, headers: Headers = asAda) =>
      refusalOf(await doors.post(`/messages/${message}/feedback`, body, headers))
    const unknown = { status: 404, code: 'message_not_found', pointers: [] }
    const invalid = (pointer: string) => ({ status: 400, code: 'invalid_request', pointers: [pointer] })

    expect(await rate(doors.answer, { value: 'up' }, asLocalUser)).toEqual(unknown)
    expect(await rate('nothing', { value: 'up' })).toEqual(unknown)
    expect(await rate(doors.answer, { value: 'great' })).toEqual(invalid('/value'))
    expect(await rate(doors.answer, {})).toEqual(invalid('/value'))
    expect(await rate(doors.answer, { value: 'up', note: ' ' })).toEqual(invalid('/note'))
    expect(await rate(doors.answer, { value: 'up', note: 'x'.repeat(2_001) })).toEqual(invalid('/note'))
    expect(await rate(doors.answer, { value: 'up', stars: 5 })).toEqual(invalid('/stars'))
    expect(await doors.store.messages.feedback(doors.id)).toEqual([])
  })
})

describe('PATCH /sessions/{id}', () => {
  test('names a session for its owner and for operators, and a blank title gives the automatic one back', async () => {
    await using doors = await openAnswered()
    const { id } = doors
    const titles = async (title: string | null, headers: Headers = asAda) => {
      const response = await patch(doors, id, { title }, headers)
      const [row] = await read<{ title: string }[]>(doors, '/sessions', asAda)
      return [((await response.json()) as { title: string }).title, row?.title]
    }
    const before = (await doors.store.sessions.get(id))?.lastActivity

    expect(await titles('  Holidays \n in\u202e May ')).toEqual(Array(2).fill('Holidays in<U+202E> May'))
    expect(await titles('Renamed', asEve)).toEqual(['Renamed', 'Renamed'])
    expect(await titles(' ')).toEqual(['Where to in May?', 'Where to in May?'])
    expect(await titles('x'.repeat(200))).toEqual(Array(2).fill('x'.repeat(200)))
    expect(await titles(null)).toEqual(['Where to in May?', 'Where to in May?'])
    expect((await factsOf(doors, 'renamed')).map(({ title, by }) => [title?.slice(0, 8) ?? null, by])).toEqual([
      ['Holidays', 'ada'],
      ['Renamed', 'eve'],
      [null, 'ada'],
      ['xxxxxxxx', 'ada'],
      [null, 'ada'],
    ])
    expect((await doors.store.sessions.get(id))?.lastActivity).toBe(before)
  })

  test('refuses sessions of others, and titles that are too long or missing', async () => {
    await using doors = await openAnswered()
    const refused = async (body: unknown, headers: Headers = asAda) =>
      refusalOf(await patch(doors, doors.id, body, headers))

    expect(await refused({ title: 'Mine' }, asLocalUser)).toMatchObject({ status: 404, code: 'session_not_found' })
    expect(await refused({ title: 'x'.repeat(201) })).toEqual({
      ...{ status: 400, code: 'invalid_request', pointers: ['/title'] },
    })
    expect(await refused({})).toMatchObject({ status: 400, pointers: ['/title'] })
    expect(await refused({ title: 'x', owner: 'eve' })).toMatchObject({ status: 400, pointers: ['/owner'] })
  })
})
