// What people and clients do to a session at a server that does not execute its run, and at two servers at the same moment.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import type { ScriptedAnswer } from '../../src/models/scripted/script.ts'
import { serverTool } from '../../src/tools/testing/server-tool.ts'
import type { Tool } from '../../src/tools/tool.ts'
import { agUiInput } from '../e2e/doors.ts'
import {
  asPeople,
  type Body,
  BUSY_MS,
  clientTool,
  openReplicas,
  type Reader,
  type Replica,
  type Replicas,
  readSession,
  settledRuns,
  statuses,
  until,
} from './open-replicas.ts'

const answers: ScriptedAnswer[] = [
  { when: { tool: 'act' }, parts: [{ text: 'Acted.' }] },
  { when: { tool: 'launch' }, parts: [{ text: 'Launched.' }] },
  { when: { tool: 'locate' }, parts: [{ text: 'Located.' }] },
  { when: 'launch', parts: [{ tool_call: { name: 'launch' } }] },
  { when: 'act', parts: [{ tool_call: { name: 'act', arguments: { path: '/a' } } }] },
  { when: 'locate', parts: [{ tool_call: { name: 'locate' } }] },
  { when: 'hang', parts: [{ text: 'Half' }, { hang: true }] },
  { when: 'slow', parts: [{ text: 'bit ', repeat: 20, delay_ms: 5 }] },
  { when: ' ', parts: [{ text: 'Whole.' }] },
]

/** What the tool `act` was called with, and where. */
let acts: { at: string; path: unknown }[] = []

const tools = (at: string): Tool[] => {
  const act = serverTool({
    name: 'act',
    description: 'Acts.',
    approval: { ask: 'always' },
    parameters: { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false },
    binding: 'act',
    async call({ arguments: { path } }) {
      acts.push({ at, path })
      return { content: 'done', isError: false }
    },
  })
  return [act, { ...act, name: 'launch', risk: 'critical' }, clientTool('locate')]
}

let house: Replicas
let a: Replica
let b: Replica

beforeAll(async () => {
  house = await openReplicas({
    ...{ answers, tools },
    agent: { approval: { ...testAgent.approval, quorum: { low: 1, high: 1, critical: 2 } } },
    settings: { limits: { per_day: { users: { lim: { runs: 1 }, lam: { runs: 1 } } } } },
  })
  // One after the other: each loads the whole program.
  a = await house.open('a')
  b = await house.open('b')
}, BUSY_MS)

afterAll(() => house[Symbol.asyncDispose](), BUSY_MS)

/** A session with a run at A, and a reader of it at each server. */
async function begin(message: string) {
  const session = crypto.randomUUID()
  const run = await a.say(session, message)
  const readers: Reader[] = [readSession(a, session), readSession(b, session)]
  return { ...watched(session, readers), run }
}

const watched = (session: string, readers: readonly Reader[]) => ({
  session,
  readers,
  /** How its runs have ended, once they have. */
  async settled(): Promise<string[]> {
    const ended = await settledRuns(b, session, readers)
    for (const reader of readers) await reader.leave()
    return ended
  },
})

async function beginAsking(message = 'please act') {
  const begun = await begin(message)
  const approval = await until(async () => {
    const { body } = await b.get(`/approvals?session_id=${begun.session}`, { as: 'ada' })
    return (body.approvals as Body[]).find(({ session_id }) => session_id === begun.session)
  })
  return { ...begun, approval: String(approval.approval_id), digest: String(approval.digest) }
}

/** A run that waits for the result of a tool at the client. */
async function beginAtClient() {
  const session = crypto.randomUUID()
  await (await postAgUi(a, agUiInput({ session, message: 'locate' }))).text()
  const readers: Reader[] = [readSession(a, session), readSession(b, session)]
  const { id } = await b.engine.sessions.get('kim', session)
  const [call] = await b.engine.waits.openClientCalls(id)
  if (call === undefined) return expect.fail('the client has nothing to do')
  return { ...watched(session, readers), call }
}

const postAgUi = (replica: Replica, input: object): Promise<Response> =>
  replica.raw('/', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(input) })

/** What the audit trail says about a session, oldest first: `kind by`, and the decision. */
async function trail(session: string, kinds: readonly string[]): Promise<string[]> {
  const { body } = await b.get(`/audit?session=${session}&limit=500`, { as: 'ada' })
  return (body.entries as Body[])
    .toReversed()
    .filter(({ kind }) => kinds.includes(String(kind)))
    .map(({ kind, by, details }) => [kind, by, (details as Body).decision ?? ''].join(' ').trim())
}

/** Where it is done: at the server that does not execute the run, or at both at the same moment. */
const places = [
  { where: 'at the other server', at: () => [b] },
  { where: 'at both servers at the same moment', at: () => [a, b] },
]

for (const { where, at } of places) {
  describe(where, { timeout: BUSY_MS }, () => {
    const all = <T>(work: (replica: Replica, as: string) => Promise<T>): Promise<T[]> => asPeople(at(), work)

    test('a run is cancelled', async () => {
      const { run, settled } = await begin('hang')

      const results = await all((replica) => replica.post(`/runs/${run}/cancel`))

      expect(new Set(statuses(results))).toEqual(new Set([200]))
      expect(await settled()).toEqual(['cancelled'])
    })

    test('a run that waits for an approval is cancelled', async () => {
      const { run, session, approval, settled } = await beginAsking()

      const results = await all((replica) => replica.post(`/runs/${run}/cancel`))

      expect(new Set(statuses(results))).toEqual(new Set([200]))
      expect(await settled()).toEqual(['cancelled'])
      expect((await a.get(`/approvals/${approval}`, { as: 'ada' })).body.status).toBe('interrupted')
      expect((await trail(session, ['decision'])).length).toBeLessThanOrEqual(1)
    })

    for (const [decision, body, outcome] of [
      ['approved', { decision: 'approve' }, '/a'],
      ['rejected', { decision: 'reject' }, null],
      ['edited and approved', { decision: 'approve', arguments: { path: '/b' } }, '/b'],
      ['answered in the place of the tool', { decision: 'respond', result: 'never mind' }, null],
    ] as const) {
      test(`an approval is ${decision}`, async () => {
        acts = []
        const { session, approval, settled } = await beginAsking()

        const results = await all((replica, as) => replica.post(`/approvals/${approval}`, body, { as }))

        expect(statuses(results)).toEqual(at().length === 1 ? [200] : [200, 409])
        expect(await settled()).toEqual(['completed', 'completed'])
        expect(acts.map(({ path }) => path)).toEqual(outcome === null ? [] : [outcome])
        const decided = await trail(session, ['decision'])
        const winner = results[0]?.status === 200 ? 'ada' : 'ben'
        expect(decided.map((line) => line.split(' ')[1])).toEqual([winner])
      })
    }

    test('a call of the client is answered, over AG-UI', async () => {
      const { session, call, settled } = await beginAtClient()

      const results = await all(async (replica) => {
        const input = agUiInput({ session })
        const messages = [{ id: crypto.randomUUID(), role: 'tool', toolCallId: call.callId, content: 'here' }]
        const response = await postAgUi(replica, { ...input, messages })
        return { status: response.status, text: await response.text() }
      })

      expect(new Set(statuses(results))).toEqual(new Set([200]))
      for (const { text } of results) expect(text).toContain('RUN_FINISHED')
      expect(await settled()).toEqual(['completed', 'completed'])
    })

    test('a call of the client is answered, over REST', async () => {
      const { call, settled } = await beginAtClient()

      const results = await all((replica) =>
        replica.post('/tool_result', { execution_id: call.id, result: 'here', execution_time_ms: 1 }),
      )

      expect(statuses(results)).toEqual(at().length === 1 ? [200] : [200, 409])
      expect(await settled()).toEqual(['completed', 'completed'])
    })

    test('a session is deleted while it streams', async () => {
      const { session, readers } = await begin('hang')
      for (const reader of readers) await reader.until('Half')

      const results = await all((replica) => replica.remove(`/sessions/${session}`))

      expect(new Set(statuses(results))).toEqual(new Set([204]))
      for (const { ended, seen } of readers) {
        await ended
        expect(seen.filter(({ data }) => /"RUN_(FINISHED|ERROR)"/.test(data)).length).toBe(1)
        expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length)
      }
      expect([(await a.get(`/sessions/${session}`)).status, (await b.get(`/sessions/${session}`)).status]).toEqual([
        404, 404,
      ])
    })
  })
}

describe('at both servers at the same moment', { timeout: BUSY_MS }, () => {
  const both = [0, 1]
  const at = (i: number): Replica => (i === 0 ? a : b)

  test('a message with one Idempotency-Key is taken once', async () => {
    const session = crypto.randomUUID()
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const path = `/sessions/${session}/messages`

    const results = await Promise.all(both.map((i) => at(i).post(path, { message: 'hello there' }, { headers })))

    expect(statuses(results)).toEqual([202, 202])
    expect(results[0]?.body).toEqual(results[1]?.body)
    expect(await settledRuns(a, session)).toEqual(['completed'])
  })

  for (const [onBusy, expected] of [
    ['queue', [202, 202]],
    ['reject', [202, 409]],
  ] as const) {
    test(`two messages are taken one after the other (${onBusy})`, async () => {
      const session = crypto.randomUUID()
      const headers = { 'x-on-busy': onBusy }
      const path = `/sessions/${session}/messages`

      const results = await Promise.all(both.map((i) => at(i).post(path, { message: `slow ${i}` }, { headers })))

      expect(statuses(results)).toEqual(expected)
      const readers = both.map((i) => readSession(at(i), session))
      expect(await settledRuns(b, session, readers)).toEqual(
        expected.filter((one) => one === 202).map(() => 'completed'),
      )
      for (const reader of readers) await reader.leave()
    })
  }

  test('metadata of a thread is merged key by key', async () => {
    const session = crypto.randomUUID()
    await a.say(session, 'hello there')

    const results = await Promise.all(
      both.map((i) =>
        at(i).post('/chat', { thread_id: session, message: 'hello there', stream: false, metadata: { [`k${i}`]: i } }),
      ),
    )

    expect(statuses(results)).toEqual([200, 200])
    expect(await settledRuns(b, session)).toEqual(['completed', 'completed', 'completed'])
    expect((await a.get(`/threads/${session}`)).body.metadata).toMatchObject({ k0: 0, k1: 1 })
  })

  test('a message is edited, and both edits are branches of one log', async () => {
    const session = crypto.randomUUID()
    const first = { id: crypto.randomUUID(), role: 'user', content: 'hello there' }
    await (await postAgUi(a, { ...agUiInput({ session }), messages: [first] })).text()

    const results = await Promise.all(
      both.map(async (i) => {
        const messages = [{ id: crypto.randomUUID(), role: 'user', content: `edited ${i}` }]
        const response = await postAgUi(at(i), { ...agUiInput({ session }), messages })
        return { status: response.status, text: await response.text() }
      }),
    )

    expect(statuses(results)).toEqual([200, 200])
    expect(await settledRuns(b, session)).toEqual(['completed', 'completed', 'completed'])
    const shown = await Promise.all(both.map((i) => at(i).get(`/sessions/${session}`)))
    expect(shown[0]?.body.messages).toEqual(shown[1]?.body.messages)
  })

  test('an answer is asked for again, once for each who asks', async () => {
    const session = crypto.randomUUID()
    const first = { id: crypto.randomUUID(), role: 'user', content: 'hello there' }
    await (await postAgUi(a, { ...agUiInput({ session }), messages: [first] })).text()

    const results = await Promise.all(
      both.map(async (i) => {
        const response = await postAgUi(at(i), { ...agUiInput({ session }), messages: [first] })
        return { status: response.status, text: await response.text() }
      }),
    )

    expect(statuses(results)).toEqual([200, 200])
    expect(await settledRuns(b, session)).toEqual(['completed', 'completed', 'completed'])
    const { messages } = (await b.get(`/sessions/${session}`)).body as { messages: Body[] }
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: hello there',
      'assistant: Whole.',
    ])
  })

  test('an uploaded file is sent with one message', async () => {
    const form = new FormData()
    form.append('file', new Blob(['a note'], { type: 'text/plain' }), 'note.txt')
    const uploaded = (await (await a.raw('/files', { method: 'POST', body: form })).json()) as Body
    const sessions = [crypto.randomUUID(), crypto.randomUUID()]

    const results = await Promise.all(
      both.map((i) =>
        at(i).post(`/sessions/${sessions[i]}/messages`, {
          message: 'read this',
          files: [{ file_id: uploaded.file_id }],
        }),
      ),
    )

    expect(statuses(results)).toEqual([202, 404])
    const [taken = 0] = both.filter((i) => results[i]?.status === 202)
    expect(await settledRuns(a, sessions[taken] ?? '')).toEqual(['completed'])
    expect((await at(1 - taken).get(`/files/${uploaded.file_id}`)).body).toEqual({ text: 'a note' })
    expect((await at(1 - taken).remove(`/sessions/${sessions[taken]}`)).status).toBe(204)
    for (const i of both) expect((await at(i).get(`/files/${uploaded.file_id}`)).status).toBe(404)
  })

  test('the last run of a day is given to one of two', async () => {
    const how = { as: 'lim' }
    const results = await Promise.all(
      both.map((i) => at(i).post(`/sessions/${crypto.randomUUID()}/messages`, { message: 'hello there' }, how)),
    )

    expect(statuses(results)).toEqual([202, 429])
    // What was refused is counted off again, which nobody waits for.
    await until(async () => JSON.stringify((await b.get('/me/limits', how)).body).includes('"runs":{"used":1'))
  })

  test('a request that is sent again is not refused when the day is used up', async () => {
    const how = { as: 'lam', headers: { 'idempotency-key': crypto.randomUUID() } }
    const path = `/sessions/${crypto.randomUUID()}/messages`

    const results = await Promise.all(both.map((i) => at(i).post(path, { message: 'hello there' }, how)))

    expect(statuses(results)).toEqual([202, 202])
    expect(results[0]?.body).toEqual(results[1]?.body)
    expect((await b.post(path, { message: 'hello there' }, how)).body).toEqual(results[0]?.body)
  })
})

describe('one thing at one server, another at the other', { timeout: BUSY_MS }, () => {
  test('a yes and a cancel: the call runs if the yes was first, and the trail says so', async () => {
    acts = []
    const { session, run, approval, settled } = await beginAsking()

    const [decided, cancelled] = await Promise.all([
      b.post(`/approvals/${approval}`, { decision: 'approve' }, { as: 'ada' }),
      a.post(`/runs/${run}/cancel`),
    ])

    expect(cancelled.status).toBe(200)
    const runs = await settled()
    const { status } = (await a.get(`/approvals/${approval}`, { as: 'ben' })).body
    const lines = await trail(session, ['decision', 'call_started', 'call_finished', 'approval_voided'])
    const begun = lines.filter((line) => line.startsWith('call_started'))
    if (decided.status === 409) {
      expect([runs, status, acts]).toEqual([['cancelled'], 'interrupted', []])
    } else {
      expect([decided.status, runs.length, lines[0]]).toEqual([200, 2, 'decision ada approved'])
      // The cancel may come when the call is about to begin.
      expect(status).toBe(begun.length === 1 ? 'consumed' : 'interrupted')
    }
    expect(lines.filter((line) => line.startsWith('call_finished')).length).toBe(begun.length)
    expect(acts.length).toBeLessThanOrEqual(begun.length)
  })

  test('a yes and a no', async () => {
    acts = []
    const { session, approval, settled } = await beginAsking()

    const [yes, no] = await Promise.all([
      a.post(`/approvals/${approval}`, { decision: 'approve' }, { as: 'ada' }),
      b.post(`/approvals/${approval}`, { decision: 'reject' }, { as: 'ben' }),
    ])

    expect(statuses([yes, no])).toEqual([200, 409])
    expect(await settled()).toEqual(['completed', 'completed'])
    expect(acts.length).toBe(yes.status === 200 ? 1 : 0)
    expect(await trail(session, ['decision'])).toEqual([
      yes.status === 200 ? 'decision ada approved' : 'decision ben rejected',
    ])
    const late = yes.status === 200 ? no : yes
    expect(late.body).toMatchObject({ code: 'approval_decided', decided_by: yes.status === 200 ? 'ada' : 'ben' })
  })

  for (const [who, people, expected, status] of [
    ['two people', ['ada', 'ben'], [200, 200], 'consumed'],
    ['one person', ['ada', 'ada'], [200, 409], 'pending'],
  ] as const) {
    test(`a yes of ${who} where two are needed`, async () => {
      acts = []
      const { session, approval, settled } = await beginAsking('launch')

      const yes = { decision: 'approve' }
      const results = await Promise.all(
        [a, b].map((one, i) => one.post(`/approvals/${approval}`, yes, { as: people[i] ?? '' })),
      )

      expect(statuses(results)).toEqual(expected)
      await settled()
      expect((await a.get(`/approvals/${approval}`, { as: 'ben' })).body.status).toBe(status)
      expect(acts.length).toBe(status === 'consumed' ? 1 : 0)
      const deciders = (await trail(session, ['decision'])).map((line) => line.split(' ')[1])
      expect(deciders.toSorted()).toEqual([...new Set(people)])
    })
  }

  test('a yes and a deletion', async () => {
    acts = []
    const { session, approval, readers } = await beginAsking()

    const [decided, deleted] = await Promise.all([
      b.post(`/approvals/${approval}`, { decision: 'approve' }, { as: 'ada' }),
      a.remove(`/sessions/${session}`),
    ])

    expect(deleted.status).toBe(204)
    expect([200, 404, 409]).toContain(decided.status)
    for (const { ended } of readers) await ended
    for (const one of [a, b]) expect((await one.get(`/sessions/${session}`)).status).toBe(404)
    const lines = await trail(session, ['call_started', 'call_finished'])
    expect(acts.length * 2).toBeLessThanOrEqual(lines.length)
    expect(lines.length % 2).toBe(0)
  })

  test('a message and a deletion', async () => {
    const { session, readers } = await begin('hang')

    const [said, deleted] = await Promise.all([
      b.post(`/sessions/${session}/messages`, { message: 'hello there' }),
      a.remove(`/sessions/${session}`),
    ])

    expect(deleted.status).toBe(204)
    expect([202, 404]).toContain(said.status)
    for (const { ended } of readers) await ended
    for (const one of [a, b]) expect((await one.get(`/sessions/${session}`)).status).toBe(404)
    expect(await b.engine.runs.open(session)).toEqual([])
  })

  test('a message that interrupts, at each of them', async () => {
    const { session, settled } = await begin('hang')
    const headers = { 'x-on-busy': 'interrupt' }

    const results = await Promise.all(
      [a, b].map((one) => one.post(`/sessions/${session}/messages`, { message: 'hello there' }, { headers })),
    )

    expect(statuses(results)).toEqual([202, 202])
    const ended = await settled()
    expect([ended.length, ended[0], ended[2]]).toEqual([3, 'cancelled', 'completed'])
  })

  test('the same run of an AG-UI client', async () => {
    const input = agUiInput({ session: crypto.randomUUID(), message: 'slow' })

    const texts = await Promise.all([a, b].map(async (one) => (await postAgUi(one, input)).text()))

    expect(await settledRuns(b, input.threadId)).toEqual(['completed'])
    const eventsIn = (text: string) => text.split('\n').filter((line) => line.startsWith('data: '))
    expect(eventsIn(texts[0] ?? '')).toEqual(eventsIn(texts[1] ?? ''))
  })
})

describe('at the other server', { timeout: BUSY_MS }, () => {
  test('what was just said is found', async () => {
    const session = crypto.randomUUID()
    const word = `w${crypto.randomUUID().slice(0, 8)}`
    await a.say(session, `hello ${word}`)

    // A server that has begun to index it is not waited for. The answer then says that it is not complete.
    const { results } = await until(async () => {
      const { body } = await b.get(`/search?q=${word}`)
      return body.complete === true ? (body as { results: Body[] }) : null
    })

    expect(results.map(({ session_id }) => session_id)).toEqual([session])
    await settledRuns(a, session)
  })

  test('a yes for good is known at once, and no longer once it is revoked', async () => {
    acts = []
    const first = await beginAsking()
    const decided = await b.post(
      `/approvals/${first.approval}`,
      { decision: 'approve', remember: 'always' },
      { as: 'ada' },
    )
    expect(decided.status).toBe(200)
    await first.settled()

    const session = crypto.randomUUID()
    await a.say(session, 'please act')
    expect(await settledRuns(b, session)).toEqual(['completed'])
    const { grants } = (await a.get('/grants', { as: 'ben' })).body as { grants: Body[] }
    const revoked = await Promise.all([a, b].map((one) => one.remove(`/grants/${grants[0]?.grant_id}`, { as: 'ben' })))
    expect(statuses(revoked)[0]).toBe(204)
    expect(statuses(revoked)[1]).toBeGreaterThanOrEqual(404)
    const second = await beginAsking()
    expect((await b.post(`/approvals/${second.approval}`, { decision: 'reject' }, { as: 'ben' })).status).toBe(200)
    await second.settled()
    expect(acts.length).toBe(2)
    const { entries } = (await b.get('/audit?limit=500', { as: 'ada' })).body as { entries: Body[] }
    const about = (kind: string) => entries.filter((one) => one.kind === kind).map(({ by }) => by)
    expect([about('grant_made'), about('grant_revoked')]).toEqual([['ada'], ['ben']])
  })

  test('a token that is revoked ends what it reads', async () => {
    const made = await a.post('/tokens', { name: 'short', user: 'kim', role: 'user' }, { as: 'ada' })
    const { token, id } = made.body as { token: string; id: string }
    const session = crypto.randomUUID()
    await a.say(session, 'hang', { as: token })
    const response = await b.raw(`/sessions/${session}/events`, {}, { as: token })
    const reading = response.text().catch(() => 'ended')

    expect((await b.remove(`/tokens/${id}`, { as: 'ben' })).status).toBe(204)

    await reading
    expect((await b.get(`/sessions/${session}`, { as: token })).status).toBe(401)
    await until(async () => (await a.get(`/sessions/${session}`, { as: token })).status === 401)
    await a.remove(`/sessions/${session}`)
  })

  test('a token that was just made is revoked', async () => {
    const made = await a.tokens.create({ name: 'new', user: 'kim', role: 'user' }, 'test')

    const results = await Promise.all([a, b].map((one) => one.remove(`/tokens/${made.record.id}`, { as: 'ada' })))

    expect(statuses(results)).toEqual([204, 404])
    const { entries } = (await b.get('/audit?kind=token_revoked', { as: 'ada' })).body as { entries: Body[] }
    expect(entries.filter(({ details }) => (details as Body).token === made.record.id).length).toBe(1)
  })

  test('a token that was just made is listed and revoked', async () => {
    const { record, token } = await a.tokens.create({ name: 'new', user: 'kim', role: 'user' }, 'test')

    const { tokens } = (await b.get('/tokens', { as: 'ada' })).body as { tokens: Body[] }
    expect(tokens.filter(({ id }) => id === record.id).length).toBe(1)
    expect((await b.remove(`/tokens/${record.id}`, { as: 'ada' })).status).toBe(204)
    expect((await b.get('/sessions', { as: token })).status).toBe(401)
    await until(async () => (await a.get('/sessions', { as: token })).status === 401)
  })

  test('a device that is signed out elsewhere ends what it reads', async () => {
    const { code } = (await a.post('/devices/codes', { user: 'ada' }, { as: 'ada' })).body
    const signedIn = await b.post('/sign-in', { code })
    const { token, device } = signedIn.body as { token: string; device: Body }
    const reading = (await b.raw('/events', {}, { as: token })).text().catch(() => 'ended')

    const results = await Promise.all([a, b].map((one) => one.remove(`/devices/${device.device_id}`, { as: 'ada' })))

    expect(statuses(results)).toEqual([204, 404])
    await reading
    for (const one of [a, b]) await until(async () => (await one.get('/me', { as: token })).status === 401)
    const { entries } = (await b.get('/audit?kind=device_revoked', { as: 'ada' })).body as { entries: Body[] }
    expect(entries.filter(({ details }) => (details as Body).device === device.device_id).length).toBe(1)
  })

  test('the audit trail of both is whole', async () => {
    for (const one of [a, b]) expect((await one.get('/audit/chain', { as: 'ada' })).body.broken_at).toBe(null)
  })
})
