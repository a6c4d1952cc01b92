import { expect, test } from 'vitest'
import { asAda, asEve, asOperator, asOperatorElsewhere, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { createMemoryRoutes } from './routes.ts'

type Headers = Record<string, string>
interface Listed {
  memories: { memory_id: string; owner: string; agent: string; text: string; corrected_at: string | null }[]
  complete: boolean
}

async function open() {
  const doors = await openDoors({}, ({ memories, oversight }) => createMemoryRoutes({ memories, oversight }))
  const keep = (owner: string, id: string, text: string, agent = 'tester') =>
    doors.memories.remember(owner, { id, agent, text, session: 's', run: 'r' })
  await keep('local_user', 'mine', 'Likes tea.')
  await keep('ada', 'hers', 'Likes coffee.')
  await keep('ada', 'other', 'Lives in Rome.', 'another')
  const list = async (query = '', headers: Headers = {}) =>
    (await (await doors.get(`/memories${query}`, headers)).json()) as Listed
  const ids = async (query = '', headers: Headers = {}) =>
    (await list(query, headers)).memories.map(({ memory_id }) => memory_id).sort()
  const patch = (path: string, body: unknown, headers: Headers = {}) =>
    fetch(doors.url + path, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const trail = async () =>
    (await doors.store.audit.entries(0, 100))
      .map(({ text }) => JSON.parse(text))
      .filter(({ kind }) => kind === 'operator_list')
      .map(({ by, details }) => `${by} ${details.owner}`)
  return { ...doors, list, ids, patch, trail, [Symbol.asyncDispose]: () => doors[Symbol.asyncDispose]() }
}

test('a user sees, corrects and erases their own, and nobody else’s', async () => {
  await using doors = await open()
  const { list, ids, patch, remove } = doors

  expect(await list('', asAda)).toEqual({
    memories: [
      expect.objectContaining({ memory_id: 'other', owner: 'ada', agent: 'another' }),
      {
        ...{ memory_id: 'hers', owner: 'ada', agent: 'tester', text: 'Likes coffee.', session_id: 's', run_id: 'r' },
        ...{ created_at: expect.any(String), corrected_at: null },
      },
    ],
    complete: true,
  })
  expect(await ids('?agent=another', asAda)).toEqual(['other'])
  for (const owner of ['*', 'local_user']) {
    expect(await refusalOf(await doors.get(`/memories?owner=${owner}`, asAda))).toMatchObject({ code: 'forbidden' })
    expect((await remove(`/memories?owner=${owner}`, asAda)).status).toBe(owner === '*' ? 400 : 403)
  }
  expect(await refusalOf(await remove('/memories/mine?owner=local_user', asAda))).toMatchObject({ status: 403 })
  expect(await refusalOf(await patch('/memories/mine?owner=local_user', { text: 'x' }, asAda))).toMatchObject({
    status: 403,
  })
  expect(await refusalOf(await remove('/memories/mine', asAda))).toEqual({ status: 404, code: 'record_not_found' })
  expect(await refusalOf(await patch('/memories/mine', { text: 'x' }, asAda))).toMatchObject({ status: 404 })

  const corrected = await (await patch('/memories/hers', { text: 'Likes\u202E milk.' }, asAda)).json()
  expect(corrected).toMatchObject({ text: 'Likes<U+202E> milk.', corrected_at: expect.any(String) })
  expect((await remove('/memories/hers', asAda)).status).toBe(204)
  expect(await (await remove('/memories', asAda)).json()).toEqual({ forgotten: 1 })
  expect(await ids('', asAda)).toEqual([])
  expect(await ids()).toEqual(['mine'])
  expect(await doors.trail()).toEqual([])
})

test('an operator sees and erases those of everybody, on record', async () => {
  await using doors = await open()
  const { ids, patch, remove } = doors

  expect(await ids('?owner=*', asEve)).toEqual(['hers', 'mine', 'other'])
  expect(await ids('?owner=*&agent=tester', asEve)).toEqual(['hers', 'mine'])
  expect(await ids('', asEve)).toEqual([])
  expect((await patch('/memories/hers?owner=ada', { text: 'Likes milk.' }, asEve)).status).toBe(200)
  expect((await remove('/memories/hers?owner=ada', asEve)).status).toBe(204)
  expect(await refusalOf(await remove('/memories?owner=*', asEve))).toMatchObject({ code: 'invalid_request' })
  expect(await (await remove('/memories?owner=ada', asEve)).json()).toEqual({ forgotten: 1 })
  expect(await ids('?owner=*', asOperator)).toEqual(['mine'])
  expect(await doors.trail()).toEqual(['eve *', 'eve ada', 'operator *'])
})

test('a token for one agent sees and erases what that agent keeps', async () => {
  await using doors = await open()
  const { ids, patch, remove } = doors
  await doors.memories.remember('local_user', { id: 'its', agent: 'another', text: 'A', session: 's', run: 'r' })

  expect(await ids('', asOperatorElsewhere)).toEqual(['its'])
  expect(await ids('?agent=tester', asOperatorElsewhere)).toEqual([])
  expect((await patch('/memories/mine', { text: 'x' }, asOperatorElsewhere)).status).toBe(404)
  expect((await remove('/memories/mine', asOperatorElsewhere)).status).toBe(404)
  expect(await (await remove('/memories?agent=tester', asOperatorElsewhere)).json()).toEqual({ forgotten: 0 })
  expect(await (await remove('/memories', asOperatorElsewhere)).json()).toEqual({ forgotten: 1 })
  expect(await ids()).toEqual(['mine'])
})

test.each([
  [{}, 'invalid_request'],
  [{ text: '' }, 'invalid_request'],
  [{ text: ' ' }, 'invalid_request'],
  [{ text: 'x'.repeat(501) }, 'invalid_request'],
  [{ text: '\u202E'.repeat(500) }, 'invalid_request'],
  [{ text: 'x', agent: 'y' }, 'invalid_request'],
])('refuses %j', async (body, code) => {
  await using doors = await open()

  expect(await refusalOf(await doors.patch('/memories/mine', body))).toEqual({ status: 400, code })
  expect((await doors.list()).memories).toMatchObject([{ text: 'Likes tea.', corrected_at: null }])
})
