import type { Logger } from '../../domain/logger.ts'
import type { Changes, TakeStep } from './take-step.ts'

/** Does work for an agent. Its silence does not count meanwhile: the stall timer pauses. */
export type WhileWorking = <T>(sessionId: string, work: () => Promise<T>) => Promise<T>

export function createWhileWorking({ takeStep, logger }: { takeStep: TakeStep; logger: Logger }): WhileWorking {
  /** Pieces of work at this moment, by session. */
  const working = new Map<string, number>()

  const pause = (sessionId: string, stallPaused: boolean): Promise<unknown> =>
    takeStep(sessionId, ({ session: { supervision }, at }): Changes => {
      if (supervision.stallPaused === stallPaused) return {}
      return { supervision: { stallPaused, updatedAt: at } }
    })

  return async (sessionId, work) => {
    const others = working.get(sessionId) ?? 0
    working.set(sessionId, others + 1)
    try {
      if (others === 0) await pause(sessionId, true)
      return await work()
    } finally {
      const left = (working.get(sessionId) ?? 1) - 1
      if (left > 0) working.set(sessionId, left)
      else {
        working.delete(sessionId)
        // The work is done, whatever becomes of the timer. The next start sets it going.
        await pause(sessionId, false).catch((error: unknown) =>
          logger.warn('the stall timer of a session stays paused', { session_id: sessionId, error }),
        )
      }
    }
  }
}
