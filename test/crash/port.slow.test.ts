// Only one server gets a port, even if several start at the same moment. Sockets that share a port could also share it with them.
//
//   ROUNDS=50 vitest run test/crash/port.slow.test.ts      the long variant

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../src/http/testing/free-port.ts'
import { fromEnvironment, print } from './support/figures.ts'
import { record } from './support/sse-recorder.ts'
import { DidNotStart, openYard } from './support/start-server.ts'

const ROUNDS = fromEnvironment('ROUNDS', 2)
const AT_ONCE = 3
const racer = new URL('./support/port-racer.ts', import.meta.url)
const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'))

test('when several processes open sockets at once, only one process gets the port', {
  timeout: 300_000,
}, async () => {
  const racers = Array.from({ length: 4 }, () => fork(racer))
  onTestFinished(() => {
    for (const child of racers) child.kill('SIGKILL')
  })
  const heard = () => Promise.all(racers.map(async (child) => (await once(child, 'message'))[0]))
  await heard()
  for (let round = 0; round < ROUNDS * 25; round += 1) {
    const port = await freePort()
    const results = heard()
    for (const child of racers) child.send(port)
    expect((await results).filter((result) => result === 'won')).toHaveLength(1)
    const gone = heard()
    for (const child of racers) child.send('let go')
    await gone
  }
})

test('when several servers start on one port at once, only one gets it', { timeout: 300_000 }, async () => {
  const yards = await Promise.all(Array.from({ length: AT_ONCE }, () => openYard(onTestFinished)))
  for (let round = 0; round < ROUNDS; round += 1) {
    const port = await freePort()
    const flags = ['--port', String(port), '--log-level', 'error']
    const starts = await Promise.allSettled(yards.map((yard) => yard.start({ flags })))

    const won = starts.filter((start) => start.status === 'fulfilled').map(({ value }) => value)
    const lost = starts.filter((start) => start.status === 'rejected').map(({ reason }) => reason)
    await Promise.all(won.map((server) => server.kill()))
    expect([won.length, lost.length]).toEqual([1, AT_ONCE - 1])
    for (const failure of lost) {
      if (!(failure instanceof DidNotStart)) throw failure
      expect(failure.exit.code).toBe(69)
      expect(failure.exit.log).toMatch(new RegExp(`^quarterdeck: Port ${port} on 127\\.0\\.0\\.1 is in use by `))
    }
  }
  print(`port: ${ROUNDS}/${ROUNDS} times one of ${AT_ONCE} servers got it, the others ended with 69`)
})

test.skipIf(!hasIpv6)('localhost is this server by both protocols, or not at all', async () => {
  const yard = await openYard(onTestFinished)
  const server = await yard.start({ flags: ['--port', String(await freePort())] })
  const answers = await Promise.all(
    ['127.0.0.1', 'localhost', '[::1]'].map((name) => record({ url: `http://${name}:${server.port}/ready` }).done),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  await server.kill()

  const stranger = createServer()
  onTestFinished(() => void stranger.close())
  await new Promise<void>((resolve) => stranger.listen(server.port, '::1', resolve))
  const refused: unknown = await yard.start({ flags: ['--port', String(server.port)] }).catch((error: unknown) => error)
  if (!(refused instanceof DidNotStart)) throw new Error('it started although somebody else has ::1')
  expect([refused.exit.code, refused.exit.log]).toEqual([
    69,
    expect.stringMatching(new RegExp(`^quarterdeck: Port ${server.port} on ::1 is in use by `)),
  ])
  const alone = await yard.start({ flags: ['--port', String(server.port), '--host', '127.0.0.1'] })
  expect((await record({ url: `${alone.url}/ready` }).done).status).toBe(200)
})
