import { describe, expect, test } from 'vitest'
import { ulidOf } from '../../../domain/ids.ts'
import { testTool } from '../../../engine/testing/open-engine.ts'
import { compactEntries } from '../../../log/compact.ts'
import { scriptedModel } from '../../../models/testing/scripted-model.ts'
import { createGatedModel, stop, text } from '../../testing/gated-model.ts'
import { asAda, asConsole, asEve, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { readSse } from '../../testing/sse-reader.ts'

type Doors = Awaited<ReturnType<typeof openDoors>>

interface Page {
  events: { id: string; seq: number; at: string | null; event: { type: string; timestamp: number } }[]
  first_seq: number
  last_seq: number
}

/** Two runs of Ada's, and their frames as a stream has them. */
async function openTalk() {
  const model = createGatedModel()
  const doors = await openDoors({ model })
  const frames: { id?: string; data: string }[] = []
  let sessionId = ''
  for (const words of ['One', 'Two']) {
    model.say(text(words), text(' more'), stop)
    const response = await doors.post('/sessions/hers/messages', { message: `Say ${words}` }, asAda)
    const { run_id: runId } = (await response.json()) as { run_id: string }
    frames.push(...(await readSse(await doors.get(`/runs/${runId}/events`, asAda)).rest()))
    sessionId = (await doors.store.runs.get(runId))?.sessionId ?? ''
  }
  return Object.assign(doors, { frames, sessionId })
}

async function pageOf(doors: Doors, path: string, headers: Record<string, string> = asAda) {
  const response = await doors.get(path, headers)
  expect(response.status).toBe(200)
  const page = (await response.json()) as Page
  return { ...page, next: /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] ?? null }
}

/** All events of a walk through the pages. */
async function walk(doors: Doors, path: string) {
  const pages: Page['events'][] = []
  for (let next: string | null = path; next !== null; ) {
    const page: Awaited<ReturnType<typeof pageOf>> = await pageOf(doors, next)
    pages.push(page.events)
    next = page.next
    expect(pages.length).toBeLessThan(100)
  }
  return pages
}

const shown = (events: Page['events']) => events.map(({ id, event }) => ({ id, data: JSON.stringify(event) }))

describe('GET /sessions/{id}/log', () => {
  test('shows the events as the stream has them, whole and page by page, in both directions', async () => {
    await using doors = await openTalk()
    const { frames } = doors
    const whole = await pageOf(doors, '/sessions/hers/log')

    expect(shown(whole.events)).toEqual(frames)
    expect(whole.next).toBe(null)
    expect([whole.first_seq, whole.last_seq]).toEqual([1, await doors.store.head(doors.sessionId)])
    const [first] = whole.events
    expect(first?.id).toBe(`${ulidOf(doors.sessionId)}.${first?.seq}`)
    expect(first?.at).toBe(new Date(first?.event.timestamp ?? 0).toISOString())
    for (const limit of [1, 3, 7]) {
      const forwards = await walk(doors, `/sessions/hers/log?limit=${limit}`)
      expect(shown(forwards.flat())).toEqual(frames)
      expect(forwards[0]?.length).toBe(limit)
      const backwards = await walk(doors, `/sessions/hers/log?limit=${limit}&before=${whole.last_seq + 1}`)
      expect(shown(backwards.toReversed().flat())).toEqual(frames)
    }
  })

  test('begins at an event, by its id or its number', async () => {
    await using doors = await openTalk()
    const { frames } = doors
    const [place = '', seq = ''] = [frames[5]?.id ?? '', frames[5]?.id?.split('.')[1] ?? '']

    for (const at of [place, seq]) {
      expect(shown((await pageOf(doors, `/sessions/hers/log?after=${at}`)).events)).toEqual(frames.slice(6))
      expect(shown((await pageOf(doors, `/sessions/hers/log?before=${at}`)).events)).toEqual(frames.slice(0, 5))
      expect(shown((await pageOf(doors, `/sessions/hers/log?before=${at}&limit=2`)).events)).toEqual(frames.slice(3, 5))
    }
    expect((await pageOf(doors, '/sessions/hers/log?after=999999')).events).toEqual([])
    expect((await pageOf(doors, '/sessions/hers/log?before=1')).events).toEqual([])
  })

  test('leaves out the pieces of texts where only the structure is asked for', async () => {
    await using doors = await openTalk()
    const { events } = await pageOf(doors, '/sessions/hers/log?structure=true&limit=4')
    const types = (await walk(doors, '/sessions/hers/log?structure=true&limit=4')).flat().map(({ event }) => event.type)

    expect(events.length).toBe(4)
    expect(types).toEqual(
      doors.frames.map(({ data }) => JSON.parse(data).type).filter((type) => type !== 'TEXT_MESSAGE_CONTENT'),
    )
  })

  test('gives each character once to a reader that goes on after the session was compacted', async () => {
    await using doors = await openTalk()
    const whole = await pageOf(doors, '/sessions/hers/log')
    const pieces = whole.events.filter(({ event }) => event.type === 'TEXT_MESSAGE_CONTENT')
    const stored = await doors.store.entries(doors.sessionId, 0, 1_000)
    await doors.store.commit([
      {
        type: 'compact_session',
        sessionId: doors.sessionId,
        head: whole.last_seq,
        entries: compactEntries(stored).filter(({ spans }) => spans !== undefined),
      },
    ])
    const after = await pageOf(doors, `/sessions/hers/log?after=${pieces[0]?.seq}&limit=1`)

    expect(after.events).toEqual([expect.objectContaining({ seq: pieces[1]?.seq })])
    expect(after.events[0]?.event).toMatchObject({ type: 'TEXT_MESSAGE_CONTENT', delta: ' more' })
  })

  test('shows an operator the log of others, on record, and nothing to anybody else', async () => {
    await using doors = await openTalk()
    const path = `/sessions/${doors.sessionId}`

    expect(shown((await pageOf(doors, `${path}/log`, asOperator)).events)).toEqual(doors.frames)
    const { next } = await pageOf(doors, `${path}/log?limit=1`, asEve)
    expect(next).toMatch(new RegExp(`^${path}/log\\?limit=1&after=\\d+$`))
    const kinds = (await doors.store.audit.entries(0, 100)).map(({ text: entry }) => JSON.parse(entry).kind)
    expect(kinds.filter((kind) => kind === 'operator_read').length).toBe(2)
    for (const what of ['log', 'export']) {
      expect(await refusalOf(await doors.get(`${path}/${what}`))).toEqual({ status: 404, code: 'session_not_found' })
      expect((await doors.get(`/sessions/hers/${what}`)).status).toBe(400)
    }
  })

  test.each([
    ['two places', 'after=1&before=2', 'invalid_request'],
    ['a place that is none', 'after=x', 'malformed_id'],
    ['a limit above 1,000', 'limit=1001', 'invalid_request'],
    ['another word for structure', 'structure=yes', 'invalid_request'],
  ])('%s is refused', async (_what, query, code) => {
    await using doors = await openTalk()

    expect(await refusalOf(await doors.get(`/sessions/hers/log?${query}`, asAda))).toEqual({ status: 400, code })
  })

  test('a place in another session is not found', async () => {
    await using doors = await openTalk()
    const other = '01J9ZQ3V6K8R2T4Y7B5N0M1C3D.1'

    expect((await doors.get(`/sessions/hers/log?after=${other}`, asAda)).status).toBe(404)
  })

  test('ends a page of large events at its size', async () => {
    await using doors = await openTalk()
    const { store, sessionId } = doors
    const session = (await store.sessions.get(sessionId)) ?? expect.fail('no session')
    const data = JSON.stringify({ type: 'CUSTOM', name: 'x', value: 'x'.repeat(1024 * 1024), timestamp: 1 })
    const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
    const entries = Array.from({ length: 10 }, (_, i) => ({ seq: i + 1, runId: null, kind: 'event' as const, data }))
    await store.commit([
      { type: 'import_session', session: { ...session, id, alias: 'large' }, runs: [], messages: [], entries },
    ])
    const pages = await walk(doors, '/sessions/large/log')

    expect(pages.map((events) => events.length)).toEqual([4, 4, 2])
  })
})

describe('secrets that an approval masks', () => {
  const secret = 'hunter2'
  const args = `{"user":"ada","login":{"password":"${secret} and more"},"count":3}`
  const call = { toolCallId: 'c1', timestamp: 1 }
  /** What `approve_tool` answers. */
  const answer = { id: 'b', role: 'tool', content: `{"behavior":"allow","updatedInput":${args}}` }
  const assistant = { id: 'a', role: 'assistant', toolCalls: [{ id: 'c1', function: { name: 'go', arguments: args } }] }

  /** A session of Ada's with a call whose arguments came letter by letter, and every other event that can hold them. */
  async function openCall() {
    const doors = await openTalk()
    const session = (await doors.store.sessions.get(doors.sessionId)) ?? expect.fail('no session')
    const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
    const events: object[] = [
      { type: 'RUN_STARTED', threadId: 't', runId: 'r', input: { messages: [assistant] }, timestamp: 1 },
      { type: 'TOOL_CALL_START', toolCallName: 'go', ...call },
      ...[...args].map((delta) => ({ type: 'TOOL_CALL_ARGS', delta, ...call })),
      { type: 'TOOL_CALL_END', ...call },
      { type: 'STATE_SNAPSHOT', snapshot: { password: secret, list: [{ apiKey: secret }] }, timestamp: 1 },
      { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/login/password', value: secret }], timestamp: 1 },
      { type: 'MESSAGES_SNAPSHOT', messages: [assistant, answer], timestamp: 1 },
      { type: 'TOOL_CALL_RESULT', messageId: 'm', ...call, ...answer },
      { type: 'TOOL_CALL_RESULT', messageId: 'n', ...call, role: 'tool', content: '{no JSON' },
    ]
    const entries = events.map((event, i) => ({
      seq: i + 1,
      runId: null,
      kind: 'event' as const,
      data: JSON.stringify(event),
    }))
    await doors.store.commit([
      { type: 'import_session', session: { ...session, id, alias: 'call' }, runs: [], messages: [], entries },
    ])
    return Object.assign(doors, { id, entries })
  }

  const argumentsIn = (events: Page['events']): string =>
    events.map(({ event }) => ('delta' in event && event.type === 'TOOL_CALL_ARGS' ? event.delta : '')).join('')

  test.each([1, 2, 7, 200])('are not in the log, read in pages of %i, in both directions', async (limit) => {
    await using doors = await openCall()
    const forwards = (await walk(doors, `/sessions/call/log?limit=${limit}`)).flat()
    const backwards = (await walk(doors, `/sessions/call/log?limit=${limit}&before=1000`)).toReversed().flat()

    for (const events of [forwards, backwards]) {
      expect(events.length).toBe(doors.entries.length)
      expect(JSON.stringify(events)).not.toContain(secret)
      const shownArguments = '{"user":"ada","login":{"password":"[masked]"},"count":3}'
      expect(argumentsIn(events)).toBe(shownArguments)
      expect(events.slice(-2).map(({ event }) => event)).toMatchObject([
        { content: `{"behavior":"allow","updatedInput":${shownArguments}}` },
        { content: '{no JSON' },
      ])
    }
  })

  test('are not in the log after the pieces were joined, wherever a page begins', async () => {
    await using doors = await openCall()
    const whole = argumentsIn((await pageOf(doors, '/sessions/call/log')).events)
    await doors.store.commit([
      {
        type: 'compact_session',
        sessionId: doors.id,
        head: doors.entries.length,
        entries: compactEntries(doors.entries).filter(({ spans }) => spans !== undefined),
      },
    ])

    for (let after = 2; after <= args.length; after += 1) {
      const { events } = await pageOf(doors, `/sessions/call/log?after=${after}`)
      expect(JSON.stringify(events)).not.toContain(secret)
      expect(whole.endsWith(argumentsIn(events))).toBe(true)
    }
  })

  test("are in no operator's or console's stream, and in the stream of the owner's program", async () => {
    await using doors = await openCall()
    async function read(path: string, headers: Record<string, string>): Promise<string> {
      const reader = readSse(await doors.get(path, headers))
      const wanted = doors.entries.length
      let text = ''
      for (let count = 0; count < wanted; ) {
        const { data } = (await reader.next()) ?? expect.fail('the stream has ended')
        if (data.includes('"type":"cursor"')) continue
        text += `${data}\n`
        count += 1
      }
      await reader.close()
      return text
    }

    expect(await read(`/sessions/${doors.id}/events`, asAda)).toContain(secret)
    expect(await read(`/sessions/${doors.id}/events`, asEve)).not.toContain(secret)
    expect(await read(`/events?session=${ulidOf(doors.id)}`, asConsole)).not.toContain(secret)
  })
})

describe('GET /sessions/{id}/export', () => {
  test('is one document with messages, runs and approvals, as a download', async () => {
    await using doors = await openTalk()
    const response = await doors.get('/sessions/hers/export', asAda)
    const body = (await response.json()) as Record<string, unknown[]> & { session: object }

    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="session-${ulidOf(doors.sessionId)}.json"`,
    )
    expect(body.session).toMatchObject({ session_id: 'hers', owner: 'ada', title: 'Say One', message_count: 4 })
    expect(body.messages).toMatchObject([
      { role: 'user', content: 'Say One' },
      { role: 'assistant', content: 'One more', agent_name: 'tester' },
      { role: 'user', content: 'Say Two' },
      { role: 'assistant', content: 'Two more' },
    ])
    expect(body.runs?.length).toBe(2)
    expect(body.approvals).toEqual([])
  })

  test('masks the secrets in arguments for the console and for everybody but the owner', async () => {
    await using doors = await openTalk()
    const { store, sessionId } = doors
    const session = (await store.sessions.get(sessionId)) ?? expect.fail('no session')
    const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
    const called = (args: string) => ({
      id: 'c',
      type: 'function' as const,
      function: { name: 'log_in', arguments: args },
    })
    const toolCalls = [called('{"user":"ada","password":"hunter2"}'), called('password: hunter2')]
    const messages = [{ id: 'm', role: 'assistant' as const, content: '', runId: 'r', createdAt: 1, toolCalls }]
    await store.commit([
      { type: 'import_session', session: { ...session, id, alias: 'log-in' }, runs: [], messages, entries: [] },
    ])
    const read = async (headers: Record<string, string>) => (await doors.get(`/sessions/${id}/export`, headers)).text()

    expect(await read(asAda)).toContain('hunter2')
    for (const reader of [asConsole, asOperator]) {
      const masked = await read(reader)
      expect(masked).toContain('log_in')
      expect(masked).toContain('ada')
      expect(masked).not.toContain('hunter2')
    }
  })

  test('has every message of a long session once, in order', async () => {
    await using doors = await openTalk()
    const { store, sessionId } = doors
    const session = (await store.sessions.get(sessionId)) ?? expect.fail('no session')
    const messages = Array.from({ length: 450 }, (_, i) => ({
      id: `m${i}`,
      role: 'user' as const,
      content: i % 100 === 0 ? 'x'.repeat(600_000) : `number ${i}`,
      runId: 'r',
      createdAt: i,
    }))
    const id = '0192f3a1-7b2c-7def-8abc-0123456789ab'
    await store.commit([
      { type: 'import_session', session: { ...session, id, alias: 'long' }, runs: [], messages, entries: [] },
    ])
    const response = await doors.get(`/sessions/${id}/export`, asOperator)
    const body = (await response.json()) as { messages: { message_id: string }[]; session: { session_id: string } }

    expect(body.session.session_id).toBe(id)
    expect(body.messages.map(({ message_id }) => message_id)).toEqual(messages.map((one) => one.id))
  })
})

describe('GET /sessions/{id}/steps/{seq}', () => {
  test('shows an operator what was sent, with secrets masked, and nobody else', async () => {
    const login = { name: 'nowhere', arguments: { user: 'ada', password: 'hunter2' } }
    const answers = [{ parts: [{ tool_call: login }] }, { parts: [{ text: 'Done.' }] }]
    await using doors = await openDoors({ model: scriptedModel({ answers }) })
    const response = await doors.post('/sessions/hers/messages', { message: 'Log in' }, asAda)
    const { run_id: runId } = (await response.json()) as { run_id: string }
    const frames = await readSse(await doors.get(`/runs/${runId}/events`, asAda)).rest()
    const sessionId = (await doors.store.runs.get(runId))?.sessionId ?? ''
    const seq = frames.findLast(({ data }) => data.includes('STEP_STARTED'))?.id?.split('.')[1]
    const path = `/sessions/${sessionId}/steps/${seq}`
    const answered = await doors.get(path, asOperator)

    expect(answered.status).toBe(200)
    expect(await answered.json()).toEqual({
      step: 'step_2',
      run_id: runId,
      agent: expect.any(String),
      parameters: expect.objectContaining({ provider: expect.any(String), context_window: 128_000 }),
      sent: {
        system: expect.any(String),
        messages: [
          expect.objectContaining({ role: 'user', content: 'Log in' }),
          expect.objectContaining({
            role: 'assistant',
            tool_calls: [
              { id: expect.any(String), name: 'nowhere', arguments: '{"user":"ada","password":"[masked]"}' },
            ],
          }),
          expect.objectContaining({ role: 'tool', tool_name: 'nowhere', is_error: true }),
        ],
        tools: expect.any(Array),
        response_format: null,
      },
      unknown: [],
    })
    expect((await doors.get(path, asAda)).status).toBe(403)
    expect((await doors.get(`/sessions/${sessionId}/steps/1`, asOperator)).status).toBe(404)
    expect((await doors.get(`/sessions/${sessionId}/steps/x`, asOperator)).status).toBe(400)
  })

  test('masks the keys in instructions, in tools and in what was said, too', async () => {
    const key = 'sk-0123456789abcdef'
    const tool = testTool({
      name: 'look',
      description: `Needs ${key}.`,
      parameters: { type: 'object', default: key },
      call: async () => ({ content: '', isError: false }),
    })
    await using doors = await openDoors({ tools: [tool], agent: { instructions: `The key is ${key}.` } })
    const response = await doors.post('/sessions/hers/messages', { message: `Is it ${key}?` }, asAda)
    const { run_id: runId } = (await response.json()) as { run_id: string }
    const frames = await readSse(await doors.get(`/runs/${runId}/events`, asAda)).rest()
    const sessionId = (await doors.store.runs.get(runId))?.sessionId ?? ''
    const seq = frames.find(({ data }) => data.includes('STEP_STARTED'))?.id?.split('.')[1]
    const text = await (await doors.get(`/sessions/${sessionId}/steps/${seq}`, asOperator)).text()

    expect(text).toContain('The key is [masked].')
    expect(text).toContain('Needs [masked].')
    expect(text).toContain('Is it [masked]?')
    expect(text).not.toContain(key)
  })
})
