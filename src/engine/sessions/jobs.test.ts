import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import type { Shared } from '../../store/ports/shared.ts'
import { createJobs, createOwnJobs, type Jobs } from './jobs.ts'

const HOUR_MS = 3_600_000

function openTwo() {
  const clock = createManualClock()
  const shared = createLocalShared(clock)
  const state = { isCut: false }
  const cut: Shared = {
    ...shared,
    hold: (...how) => (state.isCut ? Promise.reject(new Error('away')) : shared.hold(...how)),
  }
  const logger = silentLogger
  return {
    clock,
    /** While `isCut`, the first one cannot reach the others. */
    state,
    here: createJobs({ shared: cut, owner: 'here', clock, logger }),
    there: createJobs({ shared, owner: 'there', clock, logger }),
  }
}

const noting = (done: string[], who: string) => async () => void done.push(who)

describe('a job of several processes', () => {
  test('is done by its holder alone, and by another one when the holder is gone', async () => {
    const { clock, here, there } = openTwo()
    const done: string[] = []
    const round = async (...who: [Jobs, string][]) => {
      for (const [jobs, name] of who) await jobs.asHolder('sweep', 15_000, noting(done, name))
      await clock.advance(10_000)
    }
    await round([here, 'here'], [there, 'there'])
    await round([there, 'there'], [here, 'here'])
    expect(done).toEqual(['here', 'here'])

    await round([there, 'there'])
    await round([there, 'there'])
    expect(done).toEqual(['here', 'here', 'there'])
  })

  test('goes to another process at once when its holder lets it go', async () => {
    const { here, there } = openTwo()
    const done: string[] = []
    await here.asHolder('sweep', 15_000, noting(done, 'here'))
    await here.release('sweep')
    await there.asHolder('sweep', 15_000, noting(done, 'there'))

    expect(done).toEqual(['here', 'there'])
  })

  test('that is due once an hour is done once, however many ask at the same time', async () => {
    const { clock, here, there } = openTwo()
    const done: string[] = []
    const ask = () =>
      Promise.all(
        [here, there, here, there].map((jobs, i) => jobs.onceIn(HOUR_MS, 'purge', noting(done, String(i % 2)))),
      )
    await ask()
    await clock.advance(HOUR_MS - 1)
    await ask()
    expect(done).toHaveLength(1)

    await clock.advance(2)
    await ask()
    expect(done).toHaveLength(2)
  })

  test('that failed is tried again, by whoever comes next', async () => {
    const { here, there } = openTwo()
    const done: string[] = []
    const failing = async () => {
      throw new Error('no')
    }
    await expect(here.onceIn(HOUR_MS, 'purge', failing)).rejects.toThrow('no')
    await there.onceIn(HOUR_MS, 'purge', noting(done, 'there'))

    expect(done).toEqual(['there'])
  })

  test('that a dead process had begun is done by another one ten minutes later', async () => {
    const { clock, here, there } = openTwo()
    const done: string[] = []
    void here.onceIn(HOUR_MS, 'purge', () => new Promise(() => {}))
    await clock.advance(9 * 60_000)
    await there.onceIn(HOUR_MS, 'purge', noting(done, 'there'))
    expect(done).toEqual([])

    await clock.advance(60_001)
    await there.onceIn(HOUR_MS, 'purge', noting(done, 'there'))
    expect(done).toEqual(['there'])
  })
})

describe('a job that goes on and on', () => {
  const working = (log: string[], who: string) => async (signal: AbortSignal) => {
    log.push(`${who} begins`)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    log.push(`${who} ends`)
  }

  test('is done by one process, and by another one within a second after it stops', async () => {
    const { clock, here, there } = openTwo()
    const log: string[] = []
    const first = here.whileHeld('outbox', working(log, 'here'))
    await clock.advance(10)
    const second = there.whileHeld('outbox', working(log, 'there'))
    await clock.advance(60_000)
    expect(log).toEqual(['here begins'])

    await first.close()
    await clock.advance(1_000)
    expect(log).toEqual(['here begins', 'here ends', 'there begins'])
    await second.close()
  })

  test('goes to another process within ten seconds after a death, and one that only slept ends its work', async () => {
    const { clock, here, there, state } = openTwo()
    const log: string[] = []
    const first = here.whileHeld('outbox', working(log, 'here'))
    await clock.advance(500)
    const second = there.whileHeld('outbox', working(log, 'there'))
    await clock.advance(20_000)
    state.isCut = true
    await clock.advance(10_000)
    expect(log).toEqual(['here begins', 'here ends', 'there begins'])

    state.isCut = false
    await clock.advance(20_000)
    expect(log).toEqual(['here begins', 'here ends', 'there begins'])
    await first.close()
    await second.close()
  })

  test('is begun again when it fails', async () => {
    const { clock, here } = openTwo()
    let tries = 0
    const job = here.whileHeld('outbox', async () => {
      tries += 1
      if (tries < 3) throw new Error('no')
    })
    await clock.advance(30_000)
    expect(tries).toBe(3)
    await job.close()
  })

  test('is done at once where one process owns the store, until it is closed', async () => {
    const log: string[] = []
    const job = createOwnJobs(createManualClock()).whileHeld('outbox', working(log, 'here'))
    expect(log).toEqual(['here begins'])
    await job.close()
    expect(log).toEqual(['here begins', 'here ends'])
  })
})

test('where one process owns the store, it does every job itself', async () => {
  const clock = createManualClock()
  const jobs = createOwnJobs(clock)
  const done: string[] = []
  for (let i = 0; i < 3; i += 1) {
    await jobs.asHolder('sweep', 15_000, noting(done, 'sweep'))
    await jobs.onceIn(HOUR_MS, 'purge', noting(done, 'purge'))
  }
  await clock.advance(HOUR_MS)
  await jobs.onceIn(HOUR_MS, 'purge', noting(done, 'purge'))

  expect(done).toEqual(['sweep', 'purge', 'sweep', 'sweep', 'purge'])
})
