// When the wall clock jumps by an hour, everything that the server measures in time goes on as if nothing had happened.
//
// A shim replaces the server's clocks. Without a C compiler the test is skipped and says so.

import { describe, expect, onTestFinished, test } from 'vitest'
import { breakMachine } from './support/broken-machine.ts'
import { print } from './support/figures.ts'
import { createPersistentClient } from './support/persistent-client.ts'
import { type Frame, record } from './support/sse-recorder.ts'
import { openYard } from './support/start-server.ts'
import { until } from './support/until.ts'

const HOUR = 3_600_000
/** The server checks its leases and sessions every 10 s. That much time passes at every step. */
const PASSING = 11_000

const answers = [
  { when: 'endless', parts: [{ text: 'tok ', repeat: 100_000, delay_ms: 10 }] },
  { parts: [{ text: 'tok ', repeat: 5 }] },
]

const timesOf = (frames: readonly Frame[]): number[] => frames.map(({ data }) => Number(JSON.parse(data).timestamp))
const isRising = (times: readonly number[]): boolean => times.every((time, i) => time >= (times[i - 1] ?? 0))

describe('a wall clock that jumps', () => {
  test('ends no run, loses no lease, ages no session and turns no time back', async ({ skip }) => {
    const yard = await openYard(onTestFinished, { answers })
    const machine = await breakMachine(yard)
    if (machine === null) {
      print('P33: skipped, there is no C compiler for the shim')
      return skip()
    }
    const server = await yard.start({
      env: { ...machine.env, QUARTERDECK_OPERATOR_TOKEN: 'operator-of-the-clock-test' },
      flags: ['--log-level', 'warn'],
    })
    const { url } = server
    const client = (name: string, threadId = name) => createPersistentClient({ kind: 'stream', threadId, name })
    const early = client('early')
    await early.go(url)
    const endless = client('endless')
    const busy = endless.go(url)
    await until('the run streams', () => endless.frames.length > 5)
    const runs = [early]

    const jumps = [HOUR, 0, -HOUR, HOUR, -HOUR]
    for (const [i, wall] of jumps.entries()) {
      await machine.moveClocks({ wall, monotonic: (i + 1) * PASSING })
      const seen = endless.frames.length
      await until('the run goes on', () => endless.frames.length > seen + 20)
      const next = client(`next-${i}`, 'one-thread')
      await next.go(url)
      runs.push(next)
    }
    await record({ url: `${url}/runs/endless/cancel`, method: 'POST', body: {} }).done
    await busy
    runs.push(endless)

    const faults = await Promise.all(runs.map((run) => run.faults(url)))
    expect(faults.flat()).toEqual([])
    expect(isRising(timesOf(endless.frames))).toBe(true)
    expect(
      isRising(runs.filter(({ plan }) => plan.threadId === 'one-thread').flatMap(({ frames }) => timesOf(frames))),
    ).toBe(true)
    expect(server.log()).toBe('')
    // A restart in the past finds everything as it was.
    await server.kill()
    const again = await yard.start({
      env: { ...machine.env, QUARTERDECK_OPERATOR_TOKEN: 'operator-of-the-clock-test' },
      flags: ['--log-level', 'warn'],
    })
    expect((await Promise.all(runs.map((run) => run.faults(again.url)))).flat()).toEqual([])
    print(
      `P33: ${jumps.length} jumps of the wall clock by up to 2 h: ${runs.length} runs unharmed, times never backwards within a session`,
    )
  })
})
