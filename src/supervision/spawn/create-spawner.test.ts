import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { agentIn, ann, openSupervision } from '../testing/open-supervision.ts'
import { createSpawner, type SpawnerDeps } from './create-spawner.ts'
import { spawnPlaces } from './testing/spawn-places.ts'

const wanted = { owner: 'ann', prompt: 'Do it.', workspace: 'shop' }

function openSpawner(script: string, more: Partial<SpawnerDeps> = {}, limits: { maxOpen?: number } = {}) {
  const places = spawnPlaces(script)
  const service = openSupervision(limits)
  const revoked: string[] = []
  const told: [sessionId: string, text: string][] = []
  const { clock: _, log: __, onOutput: ___, onStart: ____, onRespawn: _____, ...machine } = places.deps
  const deps: SpawnerDeps = {
    ...service.parts,
    ...machine,
    clock: createSystemClock(),
    host: () => places.request,
    extraArgs: places.request.extraArgs,
    sandbox: async () => null,
    findWorkspace: () => ({ path: places.at('shop'), id: null, channelId: null, label: null }),
    tokens: {
      mint: async () => ({ id: 'minted', token: 'qd_secret' }),
      revoke: async (id) => void revoked.push(id),
    },
    mcpUrl: () => 'http://127.0.0.1:1/mcp',
    tell: (session, text) => void told.push([session.id, text]),
    ...more,
  }
  const statusOf = async (id: string) => (await service.sessions.get(id)).supervision
  return { ...service, places, revoked, told, deps, statusOf, spawner: createSpawner(deps) }
}

/** Looks again and again, without a limit of time, because the machine may be busy. */
async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await new Promise<void>((resolve) => void setTimeout(resolve, 5))
}

const isAlive = (pid: number | undefined): boolean => {
  try {
    process.kill(pid ?? 0, 0)
    return true
  } catch {
    return false
  }
}

test('an agent that ends leaves its session interrupted and its token revoked', async () => {
  const { spawner, statusOf, revoked, audit, places } = openSpawner('env > "$QUARTERDECK_WORKSPACE_ROOT/env"; exit 0')

  const session = await spawner.start({ ...wanted, title: 'A task' })
  await until(async () => (await statusOf(session.id)).status === 'interrupted')

  expect(await statusOf(session.id)).toMatchObject({ host: 'custom', prompt: 'Do it.', title: 'A task', spawned: null })
  expect(revoked).toEqual(['minted'])
  expect(existsSync(places.at('shop', 'env'))).toBe(true)
  expect(await audit()).toContainEqual(
    expect.objectContaining({ what: 'interrupted', reason: 'The agent has ended by itself.' }),
  )
  await spawner.close()
})

test('the chat room is told of each new start of an agent that crashed', async () => {
  const { spawner, told } = openSpawner('exit 3')
  const { id } = await spawner.start(wanted)
  await until(() => told.length === 1)
  await spawner.close()

  expect(told).toEqual([[id, 'The agent has crashed: exit code 3\nIt starts again in 1 s (new start 1).']])
})

test('a host ends with its session, and with the server', async () => {
  const { spawner, sessions, statusOf } = openSpawner('sleep 600')
  const first = await spawner.start(wanted)
  const second = await spawner.start(wanted)
  const [one, two] = [first, second].map(({ supervision }) => supervision.spawned?.pid)
  expect([isAlive(one), isAlive(two)]).toEqual([true, true])

  await sessions.terminate(ann, first.id)
  await until(() => !isAlive(one))
  await until(async () => (await statusOf(first.id)).spawned === null)
  expect(isAlive(two)).toBe(true)
  await spawner.close()

  expect(isAlive(two)).toBe(false)
  expect((await statusOf(second.id)).status).toBe('created')
})

test('a restarted server takes over the hosts of open sessions and ends the others', async () => {
  const { spawner, deps, sessions, places } = openSpawner('sleep 600')
  const first = await spawner.start(wanted)
  const second = await spawner.start(wanted)
  const [one, two] = [first, second].map(({ supervision }) => supervision.spawned?.pid)
  await until(() => places.records.list().length === 2)
  // As if the process had been killed: nobody watches any more.
  const next = createSpawner({ ...deps, changes: { watch: () => () => {}, close() {} } })
  await deps.takeStep(second.id, () => ({ result: null, supervision: { status: 'terminated' } }))

  await next.recover()
  await until(() => !isAlive(two))

  expect(isAlive(one)).toBe(true)
  expect((await sessions.get(first.id)).supervision.status).toBe('created')
  await next.close()
  await until(() => !isAlive(one))
  await spawner.close()
})

test('after a restart, the session of an agent that is gone is interrupted and its token revoked', async () => {
  const { spawner, deps, statusOf, revoked } = openSpawner('sleep 600')
  const first = await spawner.start(wanted)
  const second = await spawner.start(wanted)
  await deps.takeStep(second.id, () => ({ result: null, supervision: { status: 'terminated' } }))
  // The server stops, and its agents with it. Nobody is left to write that down.
  await spawner.close()
  expect(revoked).toEqual([])

  const next = createSpawner(deps)
  await next.recover()

  expect(await statusOf(first.id)).toMatchObject({ status: 'interrupted', spawned: null })
  expect(await statusOf(second.id)).toMatchObject({ status: 'terminated', spawned: null })
  expect(revoked).toEqual(['minted', 'minted'])
  await next.close()
})

test('a restarted server leaves an agent alone whose session is only interrupted', async () => {
  const { spawner, deps, sessions, places } = openSpawner('sleep 600')
  const { id, supervision } = await spawner.start(wanted)
  await until(() => places.records.list().length === 1)
  await sessions.interrupt(id, 'Nobody has heard from it.')
  const next = createSpawner(deps)

  await next.recover()

  expect(isAlive(supervision.spawned?.pid)).toBe(true)
  await next.close()
  await spawner.close()
})

test('a session knows the process of an agent that was started again', async () => {
  const clock = createManualClock()
  const { spawner, statusOf } = openSpawner('[ -e tried ] && exec sleep 600; touch tried; exit 3', { clock })
  const { id, supervision } = await spawner.start(wanted)

  await until(async () => {
    await clock.advance(500)
    const { spawned } = await statusOf(id)
    return spawned !== null && spawned.pid !== supervision.spawned?.pid && isAlive(spawned.pid)
  })
  await spawner.close()
})

test('nothing is started by a server that stops', async () => {
  const { spawner, revoked, store } = openSpawner('sleep 600', {
    sandbox: async () => {
      await spawner.close()
      return null
    },
  })

  await expect(spawner.start(wanted)).rejects.toMatchObject({ code: 'shutting_down' })

  expect(revoked).toEqual(['minted'])
  const left = await store.supervised.sessions({ limit: 10 })
  expect(left.map(({ supervision }) => supervision?.status)).toEqual(['terminated'])
})

test('an agent reports to the channel that it is started from, and a workspace stays in its own', async () => {
  const { spawner, deps } = openSpawner('exit 0')
  const ofC1 = createSpawner({ ...deps, findWorkspace: (path) => ({ ...deps.findWorkspace(path), channelId: 'C1' }) })
  const channelOf = async (one: typeof spawner, channel: object) =>
    (await one.start({ ...wanted, ...channel })).supervision.channelId

  expect(await channelOf(spawner, {})).toBe(null)
  expect(await channelOf(spawner, { channelId: 'C2' })).toBe('C2')
  expect(await channelOf(ofC1, {})).toBe('C1')
  expect(await channelOf(ofC1, { channelId: 'C1' })).toBe('C1')
  await expect(channelOf(ofC1, { channelId: 'C2' })).rejects.toMatchObject({ code: 'forbidden' })
  await spawner.close()
  await ofC1.close()
})

test('what cannot be started is refused, and nothing is left of it', async () => {
  const { spawner, revoked, store } = openSpawner('exit 0', { extraArgs: [] })

  await expect(spawner.start(wanted)).rejects.toMatchObject({ code: 'conflict' })
  await expect(spawner.start({ ...wanted, host: 'codex' })).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(spawner.start({ ...wanted, owner: 'mallory' })).rejects.toMatchObject({ code: 'forbidden' })

  expect(revoked).toEqual([])
  expect(await store.supervised.sessions({ limit: 10 })).toEqual([])
  await spawner.close()
})

test('a check refuses what a start would refuse, and starts nothing', async () => {
  const { spawner, store, deps, sessions } = openSpawner('exit 0', {}, { maxOpen: 1 })
  const refuse = (code: 'forbidden' | 'config_invalid') => () => {
    throw new ServerError(code, 'No.')
  }
  const broken = (more: Partial<SpawnerDeps>) => createSpawner({ ...deps, ...more }).check(wanted)

  await spawner.check(wanted)
  expect(await store.supervised.sessions({ limit: 10 })).toEqual([])
  await expect(spawner.check({ ...wanted, host: 'codex' })).rejects.toMatchObject({ code: 'invalid_request' })
  await expect(broken({ findWorkspace: refuse('forbidden') })).rejects.toMatchObject({ code: 'forbidden' })
  await expect(broken({ host: refuse('config_invalid') })).rejects.toMatchObject({ code: 'conflict' })
  await expect(broken({ extraArgs: [] })).rejects.toMatchObject({ code: 'conflict' })
  await sessions.attach(agentIn('/srv/other'))
  await expect(spawner.check(wanted)).rejects.toMatchObject({ code: 'limit' })
  await spawner.close()
})

test('a crash is told with the last lines of stderr: in the record and the trail', async () => {
  const clock = createManualClock()
  const script = 'echo "Error: url is not supported for stdio, API_KEY=abc" >&2; exit 1'
  const { spawner, statusOf, audit } = openSpawner(script, { clock })
  const words = 'exit code 1; its last words: Error: url is not supported for stdio, API_KEY=[masked]'

  const { id } = await spawner.start(wanted)
  await until(async () => {
    await clock.advance(1_000)
    return (await statusOf(id)).status === 'interrupted'
  })

  expect(await statusOf(id)).toMatchObject({ crash: words, spawned: null })
  const reason = `The agent has crashed after 3 new starts: ${words}`
  expect(await audit()).toContainEqual(expect.objectContaining({ what: 'interrupted', reason }))
  await spawner.close()
})
