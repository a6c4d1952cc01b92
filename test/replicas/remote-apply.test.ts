// `postgres.commit: remote_apply` with a real standby. What was acknowledged can be read there at that moment. While there is no standby,
// nothing is acknowledged, and nothing is done twice when it comes back.

import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { print } from '../crash/support/figures.ts'
import { record } from '../crash/support/sse-recorder.ts'
import { until } from '../crash/support/until.ts'
import type { PostgresServer } from '../postgres/server.ts'
import { askOnce } from '../postgres/test-database.ts'
import { noStandby, startPair, untilSynchronous } from './support/standby.ts'
import { openTeam, type Team } from './support/team.ts'

const MESSAGES = 30
const LATE_MS = 60_000
/** Longer than an answer of Postgres is waited for, so that the connection is given up, and nobody knows what became of the commit. */
const AWAY_MS = 45_000

const openWith = (first: PostgresServer, env: Readonly<Record<string, string>>) =>
  openTeam(onTestFinished, { replicas: 1, server: first, env })

/** Sends a message, each in a session of its own. */
function send(team: Team, name: string, message = 'hello') {
  return record({
    url: `${team.url}/sessions/${name}/messages`,
    method: 'POST',
    headers: { 'Idempotency-Key': name },
    body: { message },
  }).done
}

const isAt = async ({ url }: PostgresServer, runId: string): Promise<boolean> =>
  (await askOnce(url, `SELECT 1 FROM runs WHERE id = '${runId}'`)).length > 0

const runIdOf = ({ body }: { body: string }): string => JSON.parse(body).run_id

test('what was acknowledged with remote_apply is on the standby at that moment', async ({ skip }) => {
  if (noStandby !== null) skip(noStandby)
  const { first, standby } = await startPair(onTestFinished)

  // The standby has it on disk, and does not show it: with `on` that is enough.
  const on = await openWith(first, {})
  await askOnce(standby.url, 'SELECT pg_wal_replay_pause()')
  const early = await send(on, 'early')
  expect(early.status).toBe(202)
  expect(await isAt(standby, runIdOf(early))).toBe(false)
  await askOnce(standby.url, 'SELECT pg_wal_replay_resume()')

  const team = await openWith(first, { QUARTERDECK_POSTGRES_COMMIT: 'remote_apply' })
  for (let i = 0; i < MESSAGES; i += 1) {
    const answer = await send(team, `m${i}`)
    expect([answer.status, await isAt(standby, runIdOf(answer))]).toEqual([202, true])
  }

  await askOnce(standby.url, 'SELECT pg_wal_replay_pause()')
  const waiting = send(team, 'waiting')
  let isAnswered = false
  void waiting.then(() => {
    isAnswered = true
  })
  const isHeld = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'`
  await until('the commit waits for the standby', async () => (await askOnce(first.url, isHeld)).length > 0, LATE_MS)
  expect(isAnswered).toBe(false)
  await askOnce(standby.url, 'SELECT pg_wal_replay_resume()')
  const answer = await waiting
  expect([answer.status, await isAt(standby, runIdOf(answer))]).toEqual([202, true])
  print(`remote_apply: ${MESSAGES + 1} messages acknowledged, ${MESSAGES + 1} on the standby at that moment`)
})

test('without a standby a request gets 503 with Retry-After, and is done once when the standby is back', async ({
  skip,
}) => {
  if (noStandby !== null) skip(noStandby)
  const { first, standby } = await startPair(onTestFinished)
  const team = await openWith(first, { QUARTERDECK_POSTGRES_COMMIT: 'remote_apply', QUARTERDECK_POSTGRES_WAIT: '2s' })
  expect((await send(team, 'before')).status).toBe(202)

  await standby.stop('fast')
  // Several: the first commit waits for the standby, and the others for the first.
  const names = Array.from({ length: 5 }, (_, i) => `c${i}`)
  const refused = await Promise.all(names.map((name) => send(team, name, 'Please charge')))
  expect(refused.map(({ status, headers }) => [status, Number(headers['retry-after']) > 0])).toEqual(
    names.map(() => [503, true]),
  )
  await pause(AWAY_MS)
  const pages = ['health', 'ready', 'live'].map((path) => record({ url: `${team.replicas[0]?.url}/${path}` }).done)
  expect((await Promise.all(pages)).map(({ status }) => status)).toEqual([503, 503, 200])
  // Again, while it is still away.
  expect((await send(team, 'c0', 'Please charge')).status).toBe(503)
  expect(team.ledger()).toEqual([])

  await standby.start()
  await untilSynchronous(first)
  const ids = new Set<string>()
  for (const name of names) {
    let status: number | null = null
    await until(
      `${name} is taken`,
      async () => {
        const answer = await send(team, name, 'Please charge')
        status = answer.status
        if (status === 202 || status === 200) ids.add(runIdOf(answer))
        return status !== 503
      },
      LATE_MS,
    )
    expect([name, [200, 202].includes(status ?? 0)]).toEqual([name, true])
  }
  await until('all have been charged', () => team.ledger().length >= names.length, LATE_MS)
  for (const name of names) {
    const [row] = await askOnce(
      first.url,
      `SELECT count(*)::int AS n FROM runs JOIN sessions ON sessions.id = runs.session WHERE sessions.alias = '${name}'`,
    )
    expect([name, row?.n]).toEqual([name, 1])
  }
  expect([team.ledger().length, ids.size]).toEqual([names.length, names.length])
  print(`Without a standby: ${refused.length + 1} times 503; afterwards ${names.length} done once, 0 twice`)
})
