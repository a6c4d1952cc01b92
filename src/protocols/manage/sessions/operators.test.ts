import { describe, expect, test } from 'vitest'
import { openChat, refusalOf } from '../../shared/chat-route/testing/open-chat.ts'
import { createGatedModel, stop, text } from '../../testing/gated-model.ts'
import { asAda, asLocalUser, asOperator } from '../../testing/open-doors.ts'
import { readSse } from '../../testing/sse-reader.ts'

type Doors = Awaited<ReturnType<typeof openChat>>

/** A run of Ada's that has ended, in a session that she calls `hers`. */
async function openForeign() {
  const doors = await openChat()
  const response = await doors.post('/sessions/hers/messages', { message: 'My secret' }, asAda)
  const { run_id: runId } = (await response.json()) as { run_id: string }
  const frames = await readSse(await doors.get(`/runs/${runId}/events`, asAda)).rest()
  const run = (await doors.store.runs.get(runId)) ?? expect.fail('there is no run')
  return Object.assign(doors, { runId, sessionId: run.sessionId, frames })
}

const trail = async (doors: Doors): Promise<string[]> =>
  (await doors.store.audit.entries(0, 100))
    .map(({ text }) => JSON.parse(text))
    .filter(({ kind }) => kind.startsWith('operator_'))
    .map(({ kind, by, session, run }) =>
      [kind, by, session === null ? '' : 'session', run === null ? '' : 'run'].join(' ').trim(),
    )

describe('an operator', () => {
  test('reads a session of somebody else, its runs and its events, under ids of ours, on record once', async () => {
    await using doors = await openForeign()
    const { sessionId, runId, frames } = doors
    const read = async (path: string) => (await doors.get(path, asOperator)).json()

    const info = { session_id: sessionId, owner: 'ada', user_id: 'ada', message_count: 2 }
    expect(await read(`/sessions/${sessionId}`)).toMatchObject({ ...info, messages: [{ content: 'My secret' }, {}] })
    expect(await read(`/sessions/${sessionId}/runs`)).toMatchObject({
      runs: [{ run_id: runId, session_id: sessionId }],
    })
    expect(await read(`/runs/${runId}`)).toMatchObject({ run_id: runId, session_id: sessionId, answer: 'Hello.' })
    expect(await readSse(await doors.get(`/runs/${runId}/events`, asOperator)).rest()).toEqual(frames)
    const session = readSse(await doors.get(`/sessions/${sessionId}/events`, asOperator))
    expect(await session.until('RUN_FINISHED')).toEqual(frames)
    await session.close()
    expect(await trail(doors)).toEqual(['operator_read operator session'])
  })

  test('lists the sessions of all owners, or of one, page by page', async () => {
    await using doors = await openForeign()
    await doors.post('/chat', { message: 'Hi', user_id: 'kim' }, {})
    const list = async (query: string) => {
      const response = await doors.get(`/sessions${query}`, asOperator)
      const sessions = (await response.json()) as { owner?: string; user_id: string; session_id: string }[]
      return { sessions, next: /<\/sessions([^>]+)>/.exec(response.headers.get('link') ?? '')?.[1] }
    }
    const names = async (query: string) => (await list(query)).sessions.map(({ owner, user_id }) => [owner, user_id])

    expect(await names('?owner=*')).toEqual([
      ['local_user', 'kim'],
      ['ada', 'ada'],
    ])
    expect(await names('?owner=ada')).toEqual([['ada', 'ada']])
    expect(await names('?owner=nobody')).toEqual([])
    const first = await list('?owner=*&limit=1')
    const second = await list(first.next ?? '')
    expect([first, second].map(({ sessions }) => sessions.map(({ owner }) => owner))).toEqual([['local_user'], ['ada']])
    const byId = await list(`?owner=*&before=${first.sessions[0]?.session_id}`)
    expect(byId.sessions).toEqual(second.sessions)
    expect(await names('')).toEqual([])
    expect(await names('?owner=local_user')).toEqual([])
    expect(await trail(doors)).toEqual(['operator_list operator', 'operator_list operator', 'operator_list operator'])
  })

  test('stops a run of somebody else', async () => {
    const model = createGatedModel()
    await using doors = await openChat({ model })
    const response = await doors.post('/sessions/hers/messages', { message: 'Go' }, asAda)
    const { run_id: runId } = (await response.json()) as { run_id: string }
    const events = readSse(await doors.get(`/runs/${runId}/events`, asAda))
    const cancelled = await doors.post(`/runs/${runId}/cancel`, {}, asOperator)
    const again = await doors.post(`/runs/${runId}/cancel`, {}, asOperator)
    model.say(text('Too late'), stop)

    expect([cancelled.status, again.status]).toEqual([200, 200])
    expect(await cancelled.json()).toMatchObject({ run_id: runId })
    expect((await events.rest()).at(-1)?.data).toContain('"cancelled"')
    expect(await trail(doors)).toEqual(['operator_read operator session', 'operator_cancel operator session run'])
  })

  test('may not talk in it, delete it, or find it by the name that its owner gave it', async () => {
    await using doors = await openForeign()
    const { sessionId } = doors

    const talk = await doors.post(`/sessions/${sessionId}/messages`, { message: 'Hi' }, asOperator)
    expect(talk.status).toBe(404)
    expect((await doors.post('/chat', { message: 'Hi', session_id: sessionId }, asOperator)).status).toBe(404)
    expect((await doors.remove(`/sessions/${sessionId}`, asOperator)).status).toBe(204)
    expect((await doors.get(`/sessions/${sessionId}`, asAda)).status).toBe(200)
    expect((await doors.get('/sessions/hers', asOperator)).status).not.toBe(200)
    expect((await doors.get('/sessions/hers/events', asOperator)).status).toBe(400)
  })
})

test('a user is not told that it exists', async () => {
  await using doors = await openForeign()
  const { sessionId, runId } = doors

  for (const headers of [asLocalUser, {}]) {
    for (const path of [`/sessions/${sessionId}`, `/sessions/${sessionId}/events`, `/sessions/${sessionId}/runs`]) {
      expect((await doors.get(path, headers)).status).toBe(404)
    }
    for (const path of [`/runs/${runId}`, `/runs/${runId}/events`])
      expect((await doors.get(path, headers)).status).toBe(404)
    expect((await doors.post(`/runs/${runId}/cancel`, {}, headers)).status).toBe(404)
    expect(await refusalOf(await doors.get('/sessions?owner=*', headers))).toMatchObject({
      status: 403,
      code: 'forbidden',
    })
    expect(await refusalOf(await doors.get('/sessions?owner=ada', headers))).toMatchObject({ status: 403 })
    expect((await doors.get('/sessions?owner=local_user', headers)).status).toBe(200)
  }
  expect(await trail(doors)).toEqual([])
})

test.each(['owner=', 'owner=*&user_id=kim', `owner=${'x'.repeat(201)}`])('%s is refused', async (query) => {
  await using doors = await openChat()

  expect(await refusalOf(await doors.get(`/sessions?${query}`, asOperator))).toMatchObject({
    status: 422,
    pointers: ['owner'],
  })
})
