// Work that one process does for all processes of a store. If it dies, another one takes the work over.

import { type Clock, sleep } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Shared } from '../../store/ports/shared.ts'

export interface Jobs {
  /** Does the work if no other process holds the job. This one then keeps it for `ms`: call it again before they are over. */
  asHolder(job: string, ms: number, work: () => Promise<void>): Promise<void>
  /** Does the work if no process has done it in the last `everyMs`, and none is doing it now. It is done again if it fails. */
  onceIn(everyMs: number, job: string, work: () => Promise<void>): Promise<void>
  /**
   * Runs `work` while this process holds the job, again and again. Its signal aborts when the job is lost or closed; it must resolve soon
   * afterwards. Work that fails is begun again, here or elsewhere. The job moves within a second after `close`, and within ten seconds
   * after a death.
   */
  whileHeld(job: string, work: (signal: AbortSignal) => Promise<void>): HeldJob
  /** Lets another process have the job at once. */
  release(job: string): Promise<void>
}

interface HeldJob {
  /** Ends the work, and hands the job over at once. */
  close(): Promise<void>
}

interface JobsDeps {
  shared: Pick<Shared, 'get' | 'put' | 'hold' | 'release'>
  /** The name of this process. No other one has it. */
  owner: string
  clock: Clock
  logger: Logger
}

const DONE = 'job_done'
/** Nobody works longer at something that is done once in a while. If the process dies, another one begins after this time. */
const LONGEST_MS = 10 * 60_000

export function createJobs(deps: JobsDeps): Jobs {
  const { shared, owner, clock } = deps
  /** A process does not hold a job against itself. */
  const underWay = new Set<string>()
  const isDone = async (job: string): Promise<boolean> => (await shared.get(DONE, job)) !== null

  return {
    async asHolder(job, ms, work) {
      if (await shared.hold(job, owner, ms)) await work()
    },

    async onceIn(everyMs, job, work) {
      if (underWay.has(job)) return
      underWay.add(job)
      try {
        if ((await isDone(job)) || !(await shared.hold(job, owner, LONGEST_MS))) return
        // Another process may have done it between the two questions.
        if (!(await isDone(job))) {
          await work()
          await shared.put({ kind: DONE, key: job, value: owner, version: null, expiresAt: clock.now() + everyMs })
        }
        await shared.release(job, owner)
      } catch (error) {
        await shared.release(job, owner).catch(() => {})
        throw error
      } finally {
        underWay.delete(job)
      }
    },

    whileHeld: (job, work) => holdJob(deps, job, work),
    release: (job) => shared.release(job, owner),
  }
}

/** Where no other process uses the store. */
export function createOwnJobs(clock: Pick<Clock, 'mono'>): Jobs {
  const doneUntil = new Map<string, number>()
  return {
    asHolder: (_job, _ms, work) => work(),
    async onceIn(everyMs, job, work) {
      if (clock.mono() < (doneUntil.get(job) ?? Number.NEGATIVE_INFINITY)) return
      await work()
      doneUntil.set(job, clock.mono() + everyMs)
    },
    whileHeld(_job, work) {
      const closing = new AbortController()
      const working = work(closing.signal)
      return {
        async close() {
          closing.abort()
          await working
        },
      }
    },
    async release() {},
  }
}

/** After a death the job is free within this time and `TRY_EVERY_MS`. */
const HOLD_MS = 9_000
const RENEW_EVERY_MS = 3_000
const TRY_EVERY_MS = 1_000

function holdJob(
  { shared, owner, clock, logger }: JobsDeps,
  job: string,
  work: (signal: AbortSignal) => Promise<void>,
): HeldJob {
  const closing = new AbortController()
  /** Monotonic ms until which nobody else can have it. */
  let heldUntil = 0

  async function hold(): Promise<boolean> {
    // From before the question: the answer may take long.
    const from = clock.mono()
    const isOurs = await shared.hold(job, owner, HOLD_MS)
    if (closing.signal.aborted && isOurs) await shared.release(job, owner)
    heldUntil = isOurs && !closing.signal.aborted ? from + HOLD_MS : 0
    return heldUntil > 0
  }

  /** Resolves when the job is lost or closed. */
  async function keep(): Promise<void> {
    while (!closing.signal.aborted && heldUntil > clock.mono()) {
      const leftMs = heldUntil - clock.mono()
      await sleep(
        clock,
        Math.min(leftMs, leftMs < HOLD_MS - RENEW_EVERY_MS ? TRY_EVERY_MS : RENEW_EVERY_MS),
        closing.signal,
      )
      if (closing.signal.aborted) return
      const asked = hold().catch((error: unknown) => logger.warn('a job could not be kept yet', { job, error }))
      // A store that does not answer must not keep us working when the time is over.
      await Promise.race([asked, sleep(clock, Math.max(heldUntil - clock.mono(), 0), closing.signal)])
    }
  }

  async function runTerm(): Promise<void> {
    const lost = new AbortController()
    logger.debug('a job is done here from now on', { job })
    const working = work(lost.signal).catch((error: unknown) => {
      if (!lost.signal.aborted) logger.error('a job has failed', { job, error })
      return 'failed' as const
    })
    // Work that is done by itself keeps its job, so that nobody else begins it again.
    const failed = working.then((how) => (how === 'failed' ? undefined : new Promise<void>(() => {})))
    await Promise.race([keep(), failed])
    lost.abort()
    await working
    if (heldUntil > clock.mono()) await shared.release(job, owner).catch(() => {})
    heldUntil = 0
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const asked = hold().catch((error: unknown) => {
        logger.debug('a job could not be asked for', { job, error })
        return false
      })
      const isOurs = await Promise.race([asked, closed.then(() => false)])
      if (isOurs) await runTerm()
      await sleep(clock, TRY_EVERY_MS, closing.signal)
    }
  }

  const closed = new Promise<void>((resolve) => closing.signal.addEventListener('abort', () => resolve()))
  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}
