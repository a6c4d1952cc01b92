// Full disks: starting on one, and filling one with what people say. The others are in full-disk.slow.test.ts.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mountSmallDisk, openSmallDisk } from './support/broken-machine.ts'
import { databaseFaults } from './support/database.ts'
import { print } from './support/figures.ts'
import { createPersistentClient } from './support/persistent-client.ts'
import { runInput } from './support/run-input.ts'
import { record } from './support/sse-recorder.ts'
import { DidNotStart, openYard } from './support/start-server.ts'
import { until } from './support/until.ts'

const answers = [
  { when: 'endless', parts: [{ text: 'tok ', repeat: 100_000, delay_ms: 10 }] },
  { parts: [{ text: 'ok' }] },
]

test.each([
  ['was killed', 'SIGKILL'],
  ['was stopped', 'SIGTERM'],
] as const)(
  'a full disk is said in one line, with exit 74, if a server that %s cannot start',
  async (_name, signal) => {
    const yard = await openYard(onTestFinished, { answers })
    const disk = await openSmallDisk(yard, onTestFinished)
    if (disk === null) return
    const flags = ['--log-level', 'error', '--drain', '0s']
    const start = () => yard.start({ dataDir: disk.dataDir, env: disk.env, flags })
    const client = createPersistentClient({ kind: 'stream', threadId: 'endless', name: 'endless' })
    const server = await start()
    const busy = client.go(server.url)
    await until('the run streams', () => client.frames.length > 5)
    server.signal(signal)
    await server.exited
    await busy

    await disk.fill()
    const failure: unknown = await start().catch((error: unknown) => error)
    if (failure instanceof DidNotStart) {
      expect(failure.exit).toMatchObject({ code: 74, signal: null })
      expect(failure.exit.log).toMatch(
        /^quarterdeck: The disk is full: [^\n]* Free [^\n]*\n {2}More: .+ explain storage_full\n$/,
      )
    }

    await disk.free()
    // Moving the log may have made room for the start.
    const again = failure instanceof DidNotStart ? await start() : (failure as Awaited<ReturnType<typeof start>>)
    await record({ url: `${again.url}/runs/endless/cancel`, method: 'POST', body: {} }).done
    await client.go(again.url)
    expect(await client.faults(again.url)).toEqual([])
  },
)

test('a small disk is used up by what is said, not by the log, and heals when sessions are deleted', {
  timeout: 300_000,
}, async ({ skip }) => {
  const yard = await openYard(onTestFinished, { answers })
  const disk = await mountSmallDisk(yard, onTestFinished, 40_000_000)
  if (disk === null) {
    print('P17: a small disk is skipped, no tmpfs can be mounted here')
    return skip()
  }
  const start = () => yard.start({ dataDir: disk.dataDir, env: disk.env, flags: ['--log-level', 'error'] })
  let server = await start()
  const text = `large ${'x'.repeat(90_000)}`
  const say = async (name: string) =>
    (await record({ url: server.url, method: 'POST', body: runInput(name, name, text) }).done).status
  let said = 0
  const sayUntilRefused = async () => {
    let status = await say(`large-${said}`)
    for (; status === 200; status = await say(`large-${said}`)) said += 1
    expect(status).toBe(507)
  }
  await sayUntilRefused()

  expect(statSync(join(disk.dataDir, 'quarterdeck.db')).size).toBeGreaterThan(30_000_000)
  // It can be killed and started again, and all that it has taken is there.
  await server.kill()
  server = await start()
  // The start has moved the log, which may have made room for one more.
  await sayUntilRefused()
  for (let i = 0; i < said; i += 1) {
    const { body } = await record({ url: `${server.url}/sessions/large-${i}` }).done
    expect(JSON.parse(body).messages).toHaveLength(2)
  }
  for (let i = 0; i < said; i += 2) {
    const { status } = await record({ url: `${server.url}/sessions/large-${i}`, method: 'DELETE' }).done
    expect(status).toBe(204)
  }
  await until('there is room again', async () => (await say('after')) === 200)
  expect((await record({ url: `${server.url}/health` }).done).status).toBe(200)
  await server.kill()
  expect(await databaseFaults({ ...yard, dataDir: disk.dataDir })).toEqual([])
  print(
    `P17: ${said} messages of 90 kB fit on a disk of 40 MB, then 507; killed, started, half of them deleted, healed`,
  )
})
