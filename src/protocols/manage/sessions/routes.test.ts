import { describe, expect, test } from 'vitest'
import { parseUuid, ulidOf } from '../../../domain/ids.ts'
import { outline } from '../../../engine/testing/open-engine.ts'
import { scriptedModel } from '../../../models/testing/scripted-model.ts'
import { createGatedModel, stop, text } from '../../testing/gated-model.ts'
import { asAda, asOperator, eventsOf, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { readSse } from '../../testing/sse-reader.ts'

type Doors = Awaited<ReturnType<typeof openDoors>>

const unknown = '0192f3a1-7b2c-7def-8abc-0123456789ab'

interface Accepted {
  run_id: string
  message_id: string
}

async function send(doors: Doors, session: string, message: string): Promise<Accepted> {
  const response = await doors.post(`/sessions/${session}/messages`, { message })
  expect(response.status).toBe(202)
  return (await response.json()) as Accepted
}

const events = async (doors: Doors, runId: string) => readSse(await doors.get(`/runs/${runId}/events`)).rest()

const answered = (answer: string) => [
  'RUN_STARTED',
  'STEP_STARTED step_1',
  'TEXT_MESSAGE_START',
  `TEXT_MESSAGE_CONTENT ${answer}`,
  'TEXT_MESSAGE_END',
  'STEP_FINISHED step_1',
  'RUN_FINISHED success',
]

describe('another answer and an edited message', () => {
  /** Sends a body, waits for the end of its run, and gives the run and how it began. */
  async function done(doors: Doors, body: object, key: string = crypto.randomUUID()) {
    const response = await doors.post('/sessions/s/messages', body, { 'Idempotency-Key': key })
    expect(response.status).toBe(202)
    const sent = (await response.json()) as Accepted
    const [started] = eventsOf(await events(doors, sent.run_id))
    return { ...sent, metadata: started !== undefined && 'metadata' in started ? started.metadata : undefined }
  }
  const shown = async (doors: Doors) => {
    const { id, messageCount } = await doors.engine.sessions.get('local_user', 's')
    const all = await doors.engine.messages.page(id, 100)
    expect(messageCount).toBe(all.length)
    return all.map(({ content }) => content)
  }

  test('part from the conversation, which the start of their run says; the first message can be edited too', async () => {
    await using doors = await openDoors()
    const first = await done(doors, { message: 'One' })
    const second = await done(doors, { message: 'Two' })
    expect(second.metadata).toBe(undefined)

    const again = await done(doors, { again: second.message_id })
    expect(again.metadata).toEqual({ quarterdeck: { after: second.message_id } })
    expect(again.message_id).toBe(second.message_id)
    expect(await shown(doors)).toEqual(['One', 'Hello.', 'Two', 'Hello.'])

    const edit = { message: 'Uno', replaces: first.message_id }
    const edited = await done(doors, edit, 'key')
    expect(edited.metadata).toEqual({ quarterdeck: { after: '' } })
    expect(await shown(doors)).toEqual(['Uno', 'Hello.'])
    expect((await done(doors, edit, 'key')).run_id).toBe(edited.run_id)

    await done(doors, { message: 'Un', replaces: first.message_id })
    expect(await shown(doors)).toEqual(['Un', 'Hello.'])
  })

  test.each([
    ['nothing to answer', {}],
    ['a message and another one', { message: 'a', again: 'b' }],
    ['an answer that replaces', { again: 'a', replaces: 'b' }],
    ['an unknown message', { again: unknown }],
    ['an edit of an unknown message', { message: 'a', replaces: unknown }],
  ])('%s is refused', async (_what, body) => {
    await using doors = await openDoors()
    await done(doors, { message: 'One' })

    expect(await refusalOf(await doors.post('/sessions/s/messages', body))).toEqual({
      status: 400,
      code: 'invalid_request',
    })
  })
})

describe('POST /sessions/{id}/messages', () => {
  test('takes a message and runs in the background', async () => {
    await using doors = await openDoors()

    const response = await doors.post('/sessions/holiday/messages', { message: 'Where to?' })
    const body = (await response.json()) as Accepted

    expect(response.status).toBe(202)
    expect(body).toEqual({ run_id: expect.any(String), message_id: expect.any(String) })
    expect(response.headers.get('location')).toBe(`/runs/${body.run_id}`)
    expect(outline(eventsOf(await events(doors, body.run_id)))).toEqual(answered('Hello.'))
    const session = await doors.engine.sessions.get('local_user', 'holiday')
    expect((await doors.engine.messages.page(session.id, 10))[0]).toMatchObject({
      id: body.message_id,
      role: 'user',
      content: 'Where to?',
    })
  })

  test('tries another model for an operator, one that the settings name, and marks the run', async () => {
    const tried = [scriptedModel({ name: 'other', answers: [{ parts: [{ text: 'I am another.' }] }] })]
    await using doors = await openDoors({ tried })
    const ask = (model: string, headers = asOperator) =>
      doors.post('/sessions/holiday/messages', { message: 'Who are you?', model }, headers)

    expect(await refusalOf(await ask('scripted/other', asAda))).toEqual({ status: 403, code: 'forbidden' })
    const unknown = await ask('scripted/gone')
    expect([unknown.status, await unknown.json()]).toMatchObject([
      400,
      { code: 'invalid_request', detail: expect.stringContaining('scripted/other'), errors: [{ pointer: '/model' }] },
    ])
    const { run_id } = (await (await ask('scripted/other')).json()) as Accepted
    const seen = eventsOf(await readSse(await doors.get(`/runs/${run_id}/events`, asOperator)).rest())
    expect(outline(seen)).toEqual(answered('I am another.'))
    expect(seen[0]).toMatchObject({ metadata: { quarterdeck: { triedModel: 'scripted/other' } } })
    expect(await (await doors.get(`/runs/${run_id}`, asOperator)).json()).toMatchObject({
      tried_model: 'scripted/other',
    })
  })

  test('creates a session under a well-formed id, which answers to both spellings', async () => {
    await using doors = await openDoors()

    await send(doors, ulidOf(unknown), 'Hi')

    expect((await doors.engine.sessions.get('local_user', unknown)).id).toBe(unknown)
    await send(doors, unknown, 'Hi again')
    expect((await doors.engine.sessions.get('local_user', ulidOf(unknown))).id).toBe(unknown)
  })

  test('continues a conversation that another protocol began', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    model.say(text('One'), stop)
    await doors.run('/', { threadId: 'shared', runId: 'r', messages: [{ id: 'm1', role: 'user', content: 'First' }] })
    model.say(text('Two'), stop)

    const { run_id } = await send(doors, 'shared', 'Second')
    await events(doors, run_id)

    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(['First', 'One', 'Second'])
  })

  test.each([
    ['nothing', {}, '/message'],
    ['a blank message', { message: ' \n' }, '/message'],
    ['no text', { message: 7 }, '/message'],
    ['a message that is too long', { message: 'x'.repeat(10_001) }, '/message'],
    ['an unknown key', { message: 'Hi', mood: 'good' }, '/mood'],
    ['a list', [], ''],
  ])('refuses %s and says where', async (_what, body, pointer) => {
    await using doors = await openDoors()

    const response = await doors.post('/sessions/s/messages', body)

    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalid_request', errors: [{ pointer }] })
    expect(doors.engine.stats().runsStarted).toBe(0)
  })

  test('takes 10,000 characters, counted as people count', async () => {
    await using doors = await openDoors()

    await send(doors, 's', '😀'.repeat(10_000))
  })

  test('knows no agent of another name', async () => {
    await using doors = await openDoors()

    const response = await doors.post('/sessions/s/messages', { message: 'Hi', agent: 'nobody' })

    expect(await refusalOf(response)).toEqual({ status: 404, code: 'agent_not_found' })
  })

  test("does not write into another owner's session", async () => {
    await using doors = await openDoors()
    await doors.post(`/sessions/${unknown}/messages`, { message: 'Hers' }, asAda)

    expect(await refusalOf(await doors.post(`/sessions/${unknown}/messages`, { message: 'Mine' }))).toEqual({
      status: 404,
      code: 'session_not_found',
    })
  })

  test.each(['%20', 'x'.repeat(129), '%E2%80%A8'])('refuses the id %s', async (id) => {
    await using doors = await openDoors()

    const response = await doors.post(`/sessions/${id}/messages`, { message: 'Hi' })

    expect(await refusalOf(response)).toEqual({ status: 400, code: 'malformed_id' })
  })
})

describe('GET /sessions/{id}/events', () => {
  test('replays all runs of a session, then continues live', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    model.say(text('One'), stop)
    const first = await send(doors, 's', 'a')
    const firstRun = await events(doors, first.run_id)

    const reader = readSse(await doors.get('/sessions/s/events'))
    expect(await reader.until('RUN_FINISHED')).toEqual(firstRun)
    model.say(text('Two'), stop)
    await send(doors, 's', 'b')

    expect(outline(eventsOf(await reader.until('RUN_FINISHED')))).toEqual(answered('Two'))
    await reader.close()
  })

  test.each(['after', 'Last-Event-ID'])('continues after the event that %s names', async (how) => {
    await using doors = await openDoors()
    const { run_id } = await send(doors, 's', 'a')
    const frames = await events(doors, run_id)
    const id = frames[2]?.id ?? ''
    const [, seq] = id.split('.')

    for (const cursor of [id, seq ?? '']) {
      const response =
        how === 'after'
          ? await doors.get(`/sessions/s/events?after=${cursor}`)
          : await doors.get('/sessions/s/events?after=0', { 'Last-Event-ID': cursor })
      const reader = readSse(response)
      expect(await reader.until('RUN_FINISHED')).toEqual(frames.slice(3))
      await reader.close()
    }
  })

  test('refuses a cursor that is malformed, of another session, or gone', async () => {
    await using doors = await openDoors()
    await events(doors, (await send(doors, 's', 'a')).run_id)
    const other = await events(doors, (await send(doors, 'other', 'a')).run_id)
    const refused = async (cursor: string) => refusalOf(await doors.get(`/sessions/s/events?after=${cursor}`))

    expect(await refused('x')).toEqual({ status: 400, code: 'malformed_id' })
    expect(await refused('')).toEqual({ status: 400, code: 'malformed_id' })
    expect(await refused(other[0]?.id ?? '')).toEqual({ status: 404, code: 'session_not_found' })
    expect(await refused('9999')).toEqual({ status: 410, code: 'events_gone' })
  })

  test('knows neither unknown nor foreign sessions', async () => {
    await using doors = await openDoors()
    await doors.post('/sessions/hers/messages', { message: 'Hers' }, asAda)
    const session = await doors.engine.sessions.get('ada', 'hers')

    const refused = async (id: string) => refusalOf(await doors.get(`/sessions/${id}/events`))
    expect(await refused(unknown)).toEqual({ status: 404, code: 'session_not_found' })
    expect(await refused(session.id)).toEqual({ status: 404, code: 'session_not_found' })
    expect(await refused('hers')).toEqual({ status: 400, code: 'malformed_id' })
  })
})

describe('GET /runs/{id}/events', () => {
  test('ends after the terminal event', async () => {
    await using doors = await openDoors()
    const { run_id } = await send(doors, 's', 'a')

    const frames = await events(doors, run_id)

    expect(outline(eventsOf(frames))).toEqual(answered('Hello.'))
    expect(await events(doors, ulidOf(parseUuid(run_id) ?? ''))).toEqual(frames)
  })

  test('shows one run of several, and continues after a cursor', async () => {
    await using doors = await openDoors()
    await events(doors, (await send(doors, 's', 'a')).run_id)
    const { run_id } = await send(doors, 's', 'b')
    const frames = await events(doors, run_id)

    const rest = readSse(await doors.get(`/runs/${run_id}/events`, { 'Last-Event-ID': frames[1]?.id ?? '' }))
    expect(await rest.rest()).toEqual(frames.slice(2))
    const early = readSse(await doors.get(`/runs/${run_id}/events?after=1`))
    expect(await early.rest()).toEqual(frames)
  })

  test('answers 204 behind the last event, so that an EventSource does not come again', async () => {
    await using doors = await openDoors()
    const { run_id } = await send(doors, 's', 'a')
    const frames = await events(doors, run_id)

    const response = await doors.get(`/runs/${run_id}/events`, { 'Last-Event-ID': frames.at(-1)?.id ?? '' })

    expect(response.status).toBe(204)
  })
})

describe('GET /runs/{id}', () => {
  test('shows a run that has ended', async () => {
    await using doors = await openDoors({
      answers: [{ parts: [{ text: 'Hi' }, { usage: { input: 3, output: 4 } }] }],
    })
    const { run_id } = await send(doors, 's', 'a')
    await events(doors, run_id)

    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(await (await doors.get(`/runs/${run_id}`)).json()).toEqual({
      tried_model: null,
      run_id,
      session_id: 's',
      parent_run_id: null,
      status: 'completed',
      created_at: time,
      started_at: time,
      finished_at: time,
      usage: [{ provider: 'scripted', model: 'script', input_tokens: 3, output_tokens: 4, total_tokens: 7 }],
      error: null,
      answer: 'Hi',
    })
  })

  test('has no answer before its end', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    model.say(text('Hi'))
    const { run_id } = await send(doors, 's', 'a')
    const answer = async () => ((await (await doors.get(`/runs/${run_id}`)).json()) as { answer: unknown }).answer

    expect(await answer()).toBe(null)
    model.say(stop)
    await events(doors, run_id)
    expect(await answer()).toBe('Hi')
  })

  test('shows why a run failed', async () => {
    await using doors = await openDoors({
      answers: [{ parts: [{ error: { code: 'model_auth_failed', message: 'No.' } }] }],
    })
    const { run_id } = await send(doors, 's', 'a')
    await events(doors, run_id)

    expect(await (await doors.get(`/runs/${run_id}`)).json()).toMatchObject({
      status: 'failed',
      error: { code: 'model_auth_failed' },
      answer: null,
    })
  })

  test('finds a run by the name its client gave it', async () => {
    await using doors = await openDoors()
    const messages = [{ id: 'm', role: 'user', content: 'Hi' }]
    await doors.run('/', { threadId: 't', runId: 'my run', parentRunId: 'p', messages })

    expect(await (await doors.get('/runs/my%20run')).json()).toMatchObject({
      run_id: 'my run',
      session_id: 't',
      parent_run_id: 'p',
      status: 'completed',
    })
  })

  test('knows neither unknown nor foreign runs', async () => {
    await using doors = await openDoors()
    const { run_id } = await send(doors, 's', 'a')

    expect(await refusalOf(await doors.get(`/runs/${unknown}`))).toEqual({ status: 404, code: 'run_not_found' })
    expect(await refusalOf(await doors.get(`/runs/${run_id}`, asAda))).toEqual({ status: 404, code: 'run_not_found' })
    expect(await refusalOf(await doors.get('/runs/%E2%80%A8'))).toEqual({ status: 400, code: 'malformed_id' })
  })
})

describe('GET /sessions/{id}/runs', () => {
  test('lists the runs, newest first, page by page', async () => {
    await using doors = await openDoors()
    const sent: string[] = []
    for (const message of ['a', 'b', 'c']) {
      const { run_id } = await send(doors, 's', message)
      await events(doors, run_id)
      sent.unshift(run_id)
    }

    const pages: string[][] = []
    for (let path: string | null = '/sessions/s/runs?limit=2'; path !== null; ) {
      const response = await doors.get(path)
      const { runs } = (await response.json()) as { runs: { run_id: string; session_id: string; status: string }[] }
      expect(runs[0]).toMatchObject({ session_id: 's', status: 'completed', error: null })
      pages.push(runs.map(({ run_id }) => run_id))
      path = /<(.*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? null
    }

    expect(pages).toEqual([sent.slice(0, 2), sent.slice(2)])
  })

  test('is the owner’s alone, and knows its own places', async () => {
    await using doors = await openDoors()
    await send(doors, 's', 'a')
    const { run_id } = await send(doors, 'other', 'a')

    expect(await refusalOf(await doors.get(`/sessions/${unknown}/runs`))).toMatchObject({ code: 'session_not_found' })
    expect(await refusalOf(await doors.get('/sessions/s/runs', asAda))).toMatchObject({ code: 'malformed_id' })
    for (const query of ['limit=0', 'limit=101', `before=${unknown}`, `before=${run_id}`]) {
      expect(await refusalOf(await doors.get(`/sessions/s/runs?${query}`))).toEqual({
        status: 400,
        code: 'invalid_request',
      })
    }
  })
})

describe('POST /runs/{id}/cancel', () => {
  test('stops a run, as often as it is asked', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const { run_id } = await send(doors, 's', 'a')
    const reader = readSse(await doors.get(`/runs/${run_id}/events`))
    await reader.until('RUN_STARTED')

    const response = await doors.post(`/runs/${run_id}/cancel`, undefined)

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ run_id, session_id: 's' })
    expect(outline(eventsOf(await reader.rest())).at(-1)).toBe('RUN_FINISHED cancelled')
    const again = await doors.post(`/runs/${run_id}/cancel`, undefined)
    expect([again.status, await again.json()]).toEqual([200, expect.objectContaining({ run_id, status: 'cancelled' })])
  })

  test('does not stop what belongs to another', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const { run_id } = await send(doors, 's', 'a')

    const response = await doors.post(`/runs/${run_id}/cancel`, undefined, asAda)

    expect(await refusalOf(response)).toEqual({ status: 404, code: 'run_not_found' })
    expect((await doors.engine.runs.get('local_user', run_id)).cancelRequested).toBe(false)
  })
})

describe('DELETE /sessions/{id}', () => {
  test('deletes a session with all that it holds, and stops its run', async () => {
    const model = createGatedModel()
    await using doors = await openDoors({ model })
    const { run_id } = await send(doors, 's', 'a')
    const session = await doors.engine.sessions.get('local_user', 's')

    expect((await doors.remove('/sessions/s')).status).toBe(204)

    expect(await doors.engine.sessions.find('local_user', session.id)).toBeNull()
    expect(await refusalOf(await doors.get(`/sessions/${session.id}/events`))).toEqual({
      status: 404,
      code: 'session_not_found',
    })
    expect((await doors.get(`/runs/${run_id}`)).status).toBe(404)
  })

  test('answers 204 for what is unknown or foreign, and deletes nothing of others', async () => {
    await using doors = await openDoors()
    await doors.post('/sessions/hers/messages', { message: 'Hers' }, asAda)
    const session = await doors.engine.sessions.get('ada', 'hers')

    expect((await doors.remove(`/sessions/${unknown}`)).status).toBe(204)
    expect((await doors.remove(`/sessions/${session.id}`)).status).toBe(204)

    expect((await doors.engine.sessions.get('ada', 'hers')).id).toBe(session.id)
  })

  test.each(['nobody-knows-it', '%E2%80%A8'])('refuses %s, which is not an id', async (id) => {
    await using doors = await openDoors()

    expect(await refusalOf(await doors.remove(`/sessions/${id}`))).toEqual({ status: 400, code: 'malformed_id' })
  })
})
