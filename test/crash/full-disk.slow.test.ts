// Disks that are full, and disks that fail to sync.
//
//   ROUNDS=50 vitest run test/crash/full-disk.slow.test.ts      the long variant
//
// A full disk is a small tmpfs if this process may mount one (root on Linux), otherwise a shim under the server. A failing sync is
// always a shim. Without a C compiler, tests that need one are skipped and say so.

import { describe, expect, onTestFinished, test } from 'vitest'
import { runs } from '../tier.ts'
import { breakMachine, openSmallDisk } from './support/broken-machine.ts'
import { databaseFaults } from './support/database.ts'
import { fromEnvironment, print } from './support/figures.ts'
import { createPersistentClient } from './support/persistent-client.ts'
import { hydration, runInput } from './support/run-input.ts'
import { record } from './support/sse-recorder.ts'
import { DidNotStart, openYard } from './support/start-server.ts'
import { until } from './support/until.ts'

const FULL_ROUNDS = fromEnvironment('ROUNDS', 1)
/** One for each kind of write. */
const SYNC_ROUNDS = fromEnvironment('ROUNDS', runs(2))

const answers = [
  { when: 'endless', parts: [{ text: 'tok ', repeat: 100_000, delay_ms: 10 }] },
  { when: 'large', parts: [{ text: 'ok' }] },
  { parts: [{ text: 'tok ', repeat: 5, delay_ms: 5 }] },
]

const typeOf = (frame: { data: string } | undefined): unknown => JSON.parse(frame?.data ?? '{}').type

describe('a full disk', () => {
  test('stops writes but not reads, and the server recovers by itself', { timeout: 300_000 }, async ({ skip }) => {
    const yard = await openYard(onTestFinished, { answers })
    const disk = await openSmallDisk(yard, onTestFinished)
    if (disk === null) {
      print('P17: skipped, neither a tmpfs nor a shim can be had here')
      return skip()
    }
    const flags = ['--log-level', 'error']
    const server = await yard.start({ dataDir: disk.dataDir, env: disk.env, flags })
    const { url } = server
    const old = createPersistentClient({ kind: 'stream', threadId: 'old', name: 'old' })
    await old.go(url)
    const clients = [old]
    let refusals = 0

    for (let round = 0; round < FULL_ROUNDS; round += 1) {
      const inFlight = createPersistentClient({ kind: 'stream', threadId: `flight-${round}`, name: `endless-${round}` })
      const busy = inFlight.go(url)
      await until('the run streams', () => inFlight.frames.length > 5)
      await disk.fill()

      const full = { status: 507, type: 'application/problem+json', code: 'storage_full' }
      const name = `refused-${round}`
      const post = async (path: string, body: unknown) => {
        const { status, headers, body: text } = await record({ url: url + path, method: 'POST', body }).done
        refusals += 1
        return { status, type: headers['content-type'], code: JSON.parse(text || '{}').code }
      }
      expect(await post('/', runInput(name, name, 'Is there room?'))).toEqual(full)
      expect(await post(`/sessions/${name}/messages`, { message: 'Is there room?' })).toEqual(full)
      expect(await post('/sessions/old/messages', { message: 'Is there room?' })).toEqual(full)
      expect(await old.replay(url)).toEqual(old.frames)
      expect((await record({ url: `${url}/runs/old` }).done).status).toBe(200)
      // Its end is stored if moving the log has made room. If not, its reader hears why, and does not wait for that.
      await busy
      const told = inFlight.ended ? inFlight.frames.at(-1) : inFlight.notices.at(-1)
      expect(JSON.parse(told?.data ?? '{}')).toMatchObject({ type: 'RUN_ERROR', code: 'storage_full' })

      await disk.free()
      await inFlight.go(url)
      expect(JSON.parse(inFlight.frames.at(-1)?.data ?? '{}')).toMatchObject({
        type: 'RUN_ERROR',
        code: 'storage_full',
      })
      const after = createPersistentClient({ kind: 'background', threadId: name, name: `after-${round}` })
      await after.go(url)
      expect(typeOf(after.frames.at(-1))).toBe('RUN_FINISHED')
      clients.push(inFlight, after)
    }

    await until('it is ready again', async () => (await record({ url: `${url}/ready` }).done).status === 200)
    const faults = (await Promise.all(clients.map((client) => client.faults(url)))).flat()
    const { frames } = await record({ url, method: 'POST', body: hydration('old') }).done
    expect([faults, frames.filter(({ data }) => data.includes('Is there room?'))]).toEqual([[], []])
    await server.kill()
    expect(await databaseFaults({ ...yard, dataDir: disk.dataDir })).toEqual([])
    print(
      `P17: ${FULL_ROUNDS} times full (${disk.kind}), ${refusals} writes refused with 507, reads went on, 0 acknowledged and lost, 0 exits, healed ${FULL_ROUNDS}/${FULL_ROUNDS}`,
    )
  })
})

test('a first start that runs out of space does not keep the next one from starting', async () => {
  const yard = await openYard(onTestFinished, { answers })
  const disk = await openSmallDisk(yard, onTestFinished)
  if (disk === null) return
  const start = () => yard.start({ dataDir: disk.dataDir, env: disk.env, flags: ['--log-level', 'error'] })
  // Enough for the log of the new tables, too little to move them into the database.
  await disk.fill(320_000)
  const failure: unknown = await start().catch((error: unknown) => error)
  if (!(failure instanceof DidNotStart)) throw new Error('it started on a full disk')
  expect(failure.exit).toMatchObject({ code: 74, signal: null })

  await disk.free()
  const again = await start()
  expect((await record({ url: `${again.url}/ready` }).done).status).toBe(200)
})

describe('a disk that fails to sync', () => {
  test('ends the process with 74, and what it could not sync is not acknowledged', { timeout: 300_000 }, async ({
    skip,
  }) => {
    const yard = await openYard(onTestFinished, { answers })
    const machine = await breakMachine(yard)
    if (machine === null) {
      print('P18: skipped, there is no C compiler for the shim')
      return skip()
    }
    const clients = []
    const kinds = ['a message', 'a run', 'the end of a run'] as const
    for (let round = 0; round < SYNC_ROUNDS; round += 1) {
      const kind = kinds[round % kinds.length] ?? 'a run'
      const server = await yard.start({ env: machine.env, flags: ['--log-level', 'error'] })
      const before = createPersistentClient({ kind: 'stream', threadId: `before-${round}`, name: `before-${round}` })
      await before.go(server.url)
      clients.push(before)
      const name = `${kind === 'the end of a run' ? 'endless' : 'broken'}-${round}`
      const client = createPersistentClient({
        kind: kind === 'a message' ? 'background' : 'stream',
        threadId: name,
        name,
      })

      if (kind === 'the end of a run') {
        const busy = client.go(server.url)
        await until('the run streams', () => client.frames.length > 5)
        await machine.break('eio-wal')
        const cancel = await record({ url: `${server.url}/runs/${name}/cancel`, method: 'POST', body: {} }).done
        expect(cancel.status).toBe(null)
        await busy
        expect(client.ended).toBe(false)
        clients.push(client)
      } else {
        await machine.break('eio-wal')
        await client.go(server.url)
        expect(client.acknowledged).toBe(false)
      }

      expect(await server.exited).toMatchObject({ code: 74, signal: null })
      await machine.mend('eio-wal')
      expect(await databaseFaults(yard)).toEqual([])
    }

    const server = await yard.start({ env: machine.env, flags: ['--log-level', 'error'] })
    for (const client of clients) {
      if (!client.ended) {
        await record({ url: `${server.url}/runs/${client.plan.name}/cancel`, method: 'POST', body: {} }).done
        await client.go(server.url)
      }
      expect(await client.faults(server.url)).toEqual([])
    }
    print(`P18: ${SYNC_ROUNDS}/${SYNC_ROUNDS} failed syncs of the log ended the process with 74, 0 acknowledged`)
  })

  test('ends the process also when the log is moved into the database', async ({ skip }) => {
    const yard = await openYard(onTestFinished, { answers })
    const machine = await breakMachine(yard)
    if (machine === null) return skip()
    const server = await yard.start({ env: machine.env, flags: ['--log-level', 'error'] })
    await machine.break('eio-db')

    // Large messages fill the log until the server moves it.
    const text = `large ${'x'.repeat(90_000)}`
    let sent = 0
    let isRunning = true
    void server.exited.then(() => {
      isRunning = false
    })
    const keepSending = async () => {
      while (isRunning && sent < 2_000) {
        const name = `run-${sent}`
        sent += 1
        await record({ url: server.url, method: 'POST', body: runInput(name, name, text) }).done
      }
    }
    await Promise.all([keepSending(), keepSending(), keepSending()])

    expect(isRunning).toBe(false)
    expect(await server.exited).toMatchObject({ code: 74, signal: null })
    print(`P18: a failed sync of the database ended the process with 74 after ${sent} messages`)
  })
})
