// Servers are stopped, paused and cut off at the worst moments. Nothing that was acknowledged is lost, nothing is done twice, and a token
// that was revoked works nowhere.

import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { ms, print } from '../crash/support/figures.ts'
import { OPERATOR_TOKEN } from '../crash/support/operator.ts'
import { record } from '../crash/support/sse-recorder.ts'
import type { TestServer } from '../crash/support/start-server.ts'
import { until } from '../crash/support/until.ts'
import { askOnce } from '../postgres/test-database.ts'
import { openProxies } from './support/open-proxies.ts'
import { openTeam, type Team } from './support/team.ts'
import { withLoad } from './support/with-load.ts'

const running = ({ replicas }: Team): TestServer[] => replicas.flatMap((replica) => replica ?? [])

test.each(['SIGTERM', 'SIGKILL'] as const)('all servers are stopped at once with %s', async (signal) => {
  const { team, load } = await withLoad()
  await until('there is work', () => load.open().length > 3, 60_000)
  const exits = running(team).map((replica) => {
    replica.signal(signal)
    return replica.exited
  })
  const codes = (await Promise.all(exits)).map(({ code }) => code)
  await Promise.all(team.replicas.map((_, place) => team.start(place)))
  const figures = await load.finish()
  expect(codes).toEqual(codes.map(() => (signal === 'SIGTERM' ? 0 : null)))
  print(`All servers stopped at once (${signal}): ${figures}`)
})

test.each(['5s', '0s'])('a server is stopped inside an approved call, and gives it %s to end', async (drain) => {
  const { team, load } = await withLoad({ flags: ['--drain', drain] })
  const STOPS = 4
  for (let i = 0; i < STOPS; i += 1) {
    // Before the call has had its effect, and after it.
    const seen = () => (i % 2 === 0 ? team.begun() : team.ledger().map(({ pid }) => pid))
    const before = seen().length
    await until('an approved call has begun', () => seen().length > before, 60_000)
    const place = team.replicas.findIndex((replica) => replica?.pid === seen().at(-1))
    const replica = team.replicas[place]
    replica?.signal('SIGTERM')
    expect((await replica?.exited)?.code).toBe(0)
    await team.start(place)
  }
  print(`${STOPS} stops inside a call that was approved, drain ${drain}: ${await load.finish()}`)
})

test('a server that was paused wakes in the middle of its successor’s answer', async () => {
  const { team, load } = await withLoad()
  const WAKES = 2
  let met = 0
  for (let i = 0; i < WAKES; i += 1) {
    const replica = running(team)[i % 2]
    const owner = await ownerOf(replica)
    const runsOf = async (condition: string): Promise<string[]> =>
      (await askOnce(team.storeUrl(), `SELECT id FROM runs WHERE status = 'running' AND ${condition}`)).map(({ id }) =>
        String(id),
      )
    const its = () => runsOf(`lease_owner = '${owner}'`)
    await until('it answers', async () => (await its()).length > 1, 60_000)
    replica?.signal('SIGSTOP')
    const left = await its()
    onTestFinished(() => replica?.signal('SIGCONT'))
    const taken = async () => (await runsOf(`lease_owner <> '${owner}'`)).some((id) => left.includes(id))
    await until('another server answers', taken, 60_000).finally(() => replica?.signal('SIGCONT'))
    met += 1
    await pause(3_000)
  }
  print(`${met} servers woke in the middle of their successor’s answer: ${await load.finish()}`)
})

test('a revoked token works nowhere once that is answered', async () => {
  const { proxies, ...way } = await openProxies(3)
  const team = await openTeam(onTestFinished, way)
  const [here, other, third] = running(team)
  if (here === undefined || other === undefined || third === undefined) throw new Error('three servers run')
  const waits: number[] = []
  let asked = 0

  /** Uses a token everywhere, again and again, and revokes it meanwhile. */
  async function round(during: { before?: () => void; after?: () => void } = {}): Promise<string[]> {
    const { id, token } = await makeToken(here as TestServer)
    const faults: string[] = []
    let revokedAt = Number.POSITIVE_INFINITY
    let isOver = false
    async function use(server: TestServer): Promise<void> {
      const { url } = server
      while (!isOver) {
        const sentAt = performance.now()
        const { status } = await record({ url: `${url}/grants`, headers: bearer(token) }).done
        asked += 1
        if (status === 200 && sentAt > revokedAt) faults.push(`${url} took it ${ms(sentAt - revokedAt)} afterwards`)
        await pause(5)
      }
    }
    const everywhere = [here, other, third].map((server) => use(server as TestServer))
    await pause(500)
    during.before?.()
    const began = performance.now()
    const { status } = await record({
      url: `${here?.url}/tokens/${id}`,
      method: 'DELETE',
      headers: bearer(OPERATOR_TOKEN),
    }).done
    revokedAt = performance.now()
    waits.push(revokedAt - began)
    expect(status).toBe(204)
    during.after?.()
    await pause(1_500)
    isOver = true
    await Promise.all(everywhere)
    return faults
  }

  const faults: string[] = []
  for (let i = 0; i < 4; i += 1) faults.push(...(await round()))
  const calm = Math.max(...waits)
  faults.push(
    ...(await round({ before: () => other.signal('SIGSTOP'), after: () => other.signal('SIGCONT') })),
    ...(await round({ before: () => proxies[1]?.freeze(), after: () => proxies[1]?.thaw() })),
    ...(await round({ before: () => third.signal('SIGKILL') })),
  )
  print(
    `7 tokens revoked, used ${asked} times meanwhile: ${faults.length} times afterwards; answered within ${ms(calm)}, within ${ms(Math.max(...waits))} if a server hangs`,
  )
  expect(faults).toEqual([])
})

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

async function makeToken({ url }: TestServer): Promise<{ id: string; token: string }> {
  const body = { name: 'for a test', user: 'local_user', role: 'operator' }
  const made = await record({ url: `${url}/tokens`, method: 'POST', headers: bearer(OPERATOR_TOKEN), body }).done
  if (made.status !== 201) throw new Error(`no token: ${made.status} ${made.body}`)
  return JSON.parse(made.body)
}

/** The name under which a server owns runs. */
async function ownerOf(server: TestServer | undefined): Promise<string> {
  const { body } = await record({ url: `${server?.url}/metrics` }).done
  return /^quarterdeck_build_info\{.*replica="([^"]+)"/m.exec(body)?.[1] ?? ''
}
