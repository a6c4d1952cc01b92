// Errors of a tool's code that nobody catches: a promise that it does not await, a throw in a timer, an emitter without a listener.
// The process hears of them, far from the call, and only the async context says which call they belong to.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '../../domain/logger.ts'

export interface StrayErrors {
  /** Runs a tool's code. An error that it does not catch, now or later, belongs to the call. */
  within<T>(call: ToolCallScope, work: () => T): T
  /** Runs our own code when a tool's code calls it. An error there does not belong to the tool. */
  outside<T>(work: () => T): T
  /**
   * Gives an error that nobody caught to the call that it belongs to, and says whether there is one. Call it at once in the process's
   * handler for uncaught errors: only there does the async context know the call.
   */
  take(error: unknown): boolean
  /** How many errors came after their call had ended, by tool. */
  readonly late: Readonly<Record<string, number>>
}

export interface ToolCallScope {
  tool: string
  log: Logger
  /** Ends the call with the error. False if it has already ended. */
  fail(error: unknown): boolean
}

/** Lines in the log for one call. A timer that throws for ever must not fill the log. */
const MOST_LINES = 3

export function createStrayErrors(): StrayErrors {
  const running = new AsyncLocalStorage<ToolCallScope>()
  const late: Record<string, number> = {}
  const lines = new WeakMap<ToolCallScope, number>()
  return {
    late,
    within: (call, work) => running.run(call, work),
    outside: (work) => running.exit(work),
    take(error) {
      const call = running.getStore()
      if (call === undefined) return false
      if (running.exit(() => call.fail(error))) return true
      late[call.tool] = (late[call.tool] ?? 0) + 1
      const line = (lines.get(call) ?? 0) + 1
      lines.set(call, line)
      if (line <= MOST_LINES)
        call.log.error('a tool failed after its call had ended: it left something unawaited', { error })
      return true
    },
  }
}
