// Postgres commits, and does not say so: its standby is away. It is a server of its own, because all its commits wait.

import { expect, test } from 'vitest'
import { callAsAgent } from '../e2e/call-as-agent.ts'
import { type Body, BUSY_MS, openReplicas, type Replica, settledRuns, until } from './open-replicas.ts'
import { startPostgres } from './server.ts'
import { askOnce } from './test-database.ts'

const answers = [{ when: ' ', parts: [{ text: 'Half' }, { hang: true }] }] as const

test('who cancels, deletes or answers while the standby is away gets 503, and it is done once', {
  timeout: BUSY_MS,
}, async () => {
  const server = await startPostgres()
  await using _server = { [Symbol.asyncDispose]: () => server.discard() }
  const setStandby = async (value: string) => {
    await askOnce(server.url, `ALTER SYSTEM SET synchronous_standby_names = '${value}'`)
    await askOnce(server.url, 'SELECT pg_reload_conf()')
    await until(async () => {
      const [row] = await askOnce(server.url, 'SHOW synchronous_standby_names')
      return row?.synchronous_standby_names === value
    })
  }
  await using house = await openReplicas({ answers, settings: { postgres: { wait: '1s' } } }, server.url)
  const a = await house.open('a')
  const b = await house.open('b')
  const [stopped, gone] = [crypto.randomUUID(), crypto.randomUUID()]
  const run = await a.say(stopped, 'go on')
  await a.say(gone, 'go on')
  const agent = { url: a.url, token: house.token('agent'), bridge: crypto.randomUUID() }
  const session = String((await callAsAgent({ ...agent, tool: 'heartbeat', input: {} })).session_id)
  const asked = callAsAgent({ ...agent, tool: 'forward_prompt', input: { prompt_text: 'Go on?' } })
  const prompt = await until(async () => {
    const { body } = await b.get(`/prompts?session=${session}`, { as: 'ada' })
    return (body.prompts as Body[]).find((one) => one.session_id === session)?.prompt_id
  })
  const post = (replica: Replica, path: string, as: string, body: object = {}) =>
    replica.raw(
      path,
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      { as },
    )

  await setStandby('nobody')
  const refused = await Promise.all([
    post(b, `/runs/${run}/cancel`, 'kim'),
    b.raw(`/sessions/${gone}`, { method: 'DELETE' }),
    post(b, `/prompts/${prompt}`, 'ada', { decision: 'refine', instruction: 'left' }),
  ])

  expect(refused.map(({ status, headers }) => [status, Number(headers.get('retry-after')) > 0])).toEqual([
    [503, true],
    [503, true],
    [503, true],
  ])
  await setStandby('')
  expect(await settledRuns(a, stopped)).toEqual(['cancelled'])
  await until(async () => (await a.get(`/sessions/${gone}`)).status === 404)
  expect(await asked).toMatchObject({ decision: 'refine', instruction: 'left' })
  const { body } = await a.get(`/audit?session=${session}&limit=500`, { as: 'ada' })
  expect((body.entries as Body[]).filter(({ kind }) => kind === 'decision').length).toBe(1)
})
