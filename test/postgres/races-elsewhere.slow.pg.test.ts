// An agent elsewhere that calls one server, and its operators at the other server or at both at the same moment.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, callAsAgent } from '../e2e/call-as-agent.ts'
import {
  asPeople,
  type Body,
  BUSY_MS,
  openReplicas,
  type Replica,
  type Replicas,
  readLog,
  readSession,
  statuses,
  until,
} from './open-replicas.ts'

const answers = [{ when: ' ', parts: [{ text: 'Hello.' }] }]

let house: Replicas
let a: Replica
let b: Replica

beforeAll(async () => {
  house = await openReplicas({ answers })
  // One after the other: each loads the whole program.
  a = await house.open('a')
  b = await house.open('b')
}, BUSY_MS)

afterAll(() => house[Symbol.asyncDispose](), BUSY_MS)

/** An agent with a session of its own. */
async function openAgent() {
  const bridge = crypto.randomUUID()
  const call = (at: Replica, tool: string, input: object = {}): Promise<Answer> =>
    callAsAgent({ url: at.url, token: house.token('agent'), bridge, tool, input })
  const session = String((await call(a, 'heartbeat')).session_id)
  const readers = [a, b].map((one) => readSession(one, session, { as: 'ada' }))
  return {
    session,
    call,
    /** What its log says, which both readers have seen as it is. */
    async log(): Promise<string[]> {
      const entries = await readLog(b, session)
      const events = entries.filter(({ kind }) => kind === 'event')
      for (const reader of readers) {
        await until(() => reader.seen.length >= events.length)
        await reader.leave()
        expect(reader.seen.map(({ data }) => data)).toEqual(events.map(({ data }) => data))
      }
      return entries.map(({ data }) => data)
    },
  }
}

/** What the audit trail says was done to a session by people: who and what. */
async function trail(session: string, kinds: readonly string[]): Promise<string[]> {
  const { entries } = (await b.get(`/audit?session=${session}&limit=500`, { as: 'ada' })).body as { entries: Body[] }
  return entries
    .toReversed()
    .filter(({ kind }) => kinds.includes(String(kind)))
    .map(({ by, details }) => `${by} ${(details as Body).what ?? (details as Body).decision}`)
}

/** Where it is done: at the server that the agent does not call, or at both at the same moment. */
const places = [
  { where: 'at the other server', at: () => [b] },
  { where: 'at both servers at the same moment', at: () => [a, b] },
]

for (const { where, at } of places) {
  describe(where, { timeout: BUSY_MS }, () => {
    const all = <T>(work: (replica: Replica, as: string) => Promise<T>): Promise<T[]> => asPeople(at(), work)
    const once = (): number[] => (at().length === 1 ? [200] : [200, 409])
    const waiting = (path: string, session: string): Promise<string> =>
      until(async () => {
        const { body } = await b.get(`/${path}?session=${session}`, { as: 'ada' })
        const found = (Object.values(body)[0] as Body[]).find(
          (one) => one.session_id === session && ['pending', 'open', 'waiting'].includes(String(one.status)),
        )
        return found === undefined ? null : String(found.prompt_id ?? found.wait_id ?? found.approval_id)
      })

    test('a prompt is answered', async () => {
      const { session, call, log } = await openAgent()
      const answer = call(a, 'forward_prompt', { prompt_text: 'Go on?' })
      const id = await waiting('prompts', session)

      const results = await all((one, as) =>
        one.post(`/prompts/${id}`, { decision: 'refine', instruction: as }, { as }),
      )

      expect(statuses(results)).toEqual(once())
      const winner = results[0]?.status === 200 ? 'ada' : 'ben'
      expect(await answer).toMatchObject({ decision: 'refine', instruction: winner })
      expect(await trail(session, ['decision'])).toEqual([expect.stringContaining(`${winner} `)])
      await log()
    })

    test('a waiting agent is told what to do', async () => {
      const { session, call, log } = await openAgent()
      const answer = call(a, 'wait_for_instruction', { message: 'Done.' })
      const id = await waiting('waits', session)

      const results = await all((one, as) => one.post(`/waits/${id}`, { instruction: as }, { as }))

      expect(statuses(results)).toEqual(once())
      const winner = results[0]?.status === 200 ? 'ada' : 'ben'
      expect(await answer).toMatchObject({ status: 'resumed', instruction: winner })
      await log()
    })

    test('a change to a file is approved, and written once', async () => {
      const { session, call, log } = await openAgent()
      const path = `${session}.txt`
      const answer = call(a, 'ask_approval', { title: 'Write', diff: 'one\n', file_path: path })
      const id = await waiting('approvals', session)

      const results = await all((one, as) => one.post(`/approvals/${id}`, { decision: 'approve' }, { as }))

      expect(statuses(results)).toEqual(once())
      const { request_id } = await answer
      const written = await Promise.all(at().map((one) => call(one, 'accept_diff', { request_id })))
      const outcomes = written.map((one) => one.status ?? one.error_code)
      expect(outcomes.filter((one) => one === 'applied').length).toBe(1)
      expect((await trail(session, ['decision'])).length).toBe(1)
      await log()
    })

    test('steering and tasks reach the agent once each', async () => {
      const { session, call, log } = await openAgent()

      const steered = await all((one, as) => one.post(`/sessions/${session}/steer`, { text: `left, ${as}` }, { as }))
      const tasks = await all((one, as) => one.post(`/sessions/${session}/task`, { text: `later, ${as}` }, { as }))

      expect(new Set(statuses([...steered, ...tasks]))).toEqual(new Set([202]))
      const heard = ((await call(a, 'heartbeat')).pending_steering as { text?: string; message?: string }[]) ?? []
      const texts = heard.map((one) => JSON.stringify(one))
      expect(texts.length).toBe(at().length)
      for (const as of ['ada', 'ben'].slice(0, at().length)) {
        expect(texts.filter((text) => text.includes(`left, ${as}`)).length).toBe(1)
      }
      // The call before has delivered them.
      await call(b, 'heartbeat')
      expect((await call(a, 'heartbeat')).pending_steering).toEqual([])
      await log()
    })

    test('a session is paused and resumed', async () => {
      const { session, call, log } = await openAgent()

      const paused = await all((one, as) => one.post(`/sessions/${session}/pause`, {}, { as }))
      expect(paused.some(({ status }) => status === 200)).toBe(true)
      expect((await call(a, 'remote_log', { message: 'x' })).error_code).toBe('session_paused')
      const resumed = await all((one, as) => one.post(`/sessions/${session}/resume`, {}, { as }))
      expect(resumed.some(({ status }) => status === 200)).toBe(true)
      expect(await call(a, 'remote_log', { message: 'x' })).toMatchObject({ posted: false })
      expect([...paused, ...resumed].map(({ status, body }) => [status, body.code])).toEqual(
        [...paused, ...resumed].map(() => [200, undefined]),
      )
      await log()
    })

    test('a session is terminated while its agent waits', async () => {
      const { session, call, log } = await openAgent()
      const answer = call(a, 'forward_prompt', { prompt_text: 'Go on?' })
      const id = await waiting('prompts', session)

      const results = await all((one, as) => one.post(`/sessions/${session}/terminate`, { reason: as }, { as }))

      expect(new Set(statuses(results))).toEqual(new Set([200]))
      expect(await answer).toMatchObject({ decision: 'stop' })
      expect((await b.get(`/prompts/${id}`, { as: 'ben' })).body.status).toBe('interrupted')
      expect((await trail(session, ['supervised'])).filter((line) => line.includes('terminated')).length).toBe(1)
      await log()
    })
  })
}

test('one operator answers while the other ends the session', { timeout: BUSY_MS }, async () => {
  const { session, call, log } = await openAgent()
  const answer = call(a, 'forward_prompt', { prompt_text: 'Go on?' })
  const id = await until(async () => {
    const { prompts } = (await b.get('/prompts', { as: 'ada' })).body as { prompts: Body[] }
    return prompts.find((one) => one.session_id === session)?.prompt_id
  })

  const [answered, ended] = await Promise.all([
    b.post(`/prompts/${id}`, { decision: 'continue' }, { as: 'ada' }),
    a.post(`/sessions/${session}/terminate`, {}, { as: 'ben' }),
  ])

  expect(ended.status).toBe(200)
  expect((await answer).decision).toBe(answered.status === 200 ? 'continue' : 'stop')
  await log()
})

test('the same question at both servers is asked once, and another one has to wait', { timeout: BUSY_MS }, async () => {
  const { session, call, log } = await openAgent()
  const change = (diff: string) => ({ title: 'Write', diff, file_path: `${session}.txt` })
  const asked = [a, b].map((one) => call(one, 'ask_approval', change('one\n')))
  const listed = async () => {
    const { approvals } = (await b.get('/approvals', { as: 'ada' })).body as { approvals: Body[] }
    return approvals.filter((one) => one.session_id === session)
  }
  const [first] = await until(async () => ((await listed()).length > 0 ? listed() : null))

  const others = await Promise.all([a, b].map((one, i) => call(one, 'ask_approval', change(`other ${i}\n`))))
  expect(others.map(({ error_code }) => error_code)).toEqual(['approval_pending', 'approval_pending'])
  expect((await a.post(`/approvals/${first?.approval_id}`, { decision: 'reject' }, { as: 'ben' })).status).toBe(200)

  const answers = await Promise.all(asked)
  expect(answers.map(({ status, request_id }) => [status, request_id])).toEqual(
    answers.map(() => ['rejected', first?.approval_id]),
  )
  expect(await trail(session, ['approval_asked'])).toHaveLength(1)
  await log()
})

test('two new agents at once: one gets the last place', { timeout: BUSY_MS }, async () => {
  await using small = await openReplicas({ answers, settings: { max_concurrent_sessions: 1 } })
  const servers = [await small.open('a'), await small.open('b')]

  const results = await Promise.all(
    servers.map(({ url }) =>
      callAsAgent({ url, token: small.token('agent'), bridge: crypto.randomUUID(), tool: 'heartbeat', input: {} }),
    ),
  )

  expect(results.map((one) => one.error_code ?? one.acknowledged).toSorted()).toEqual(['limit', true].toSorted())
})
