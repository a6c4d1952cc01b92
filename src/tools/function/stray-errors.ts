// Errors that a tool's code leaves to nobody: a promise that it does not await, a throw in a timer, an emitter without a
// listener. They come up in the process, far from the call, and only the async context says whose they are.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '../../domain/logger.ts'

export interface StrayErrors {
  /** Runs a tool's code. What it leaves to nobody, now or later, is the call's. */
  within<T>(call: ToolCallScope, work: () => T): T
  /** Runs our own code that a tool's code calls: whatever goes wrong there later is no fault of the tool. */
  outside<T>(work: () => T): T
  /**
   * Gives an error that nobody caught to the call that it belongs to; false: it belongs to none. Only where the process tells of
   * the error does the context say whose it is, so it is asked there and at once.
   */
  take(error: unknown): boolean
  /** Errors that came when their call had ended, by tool. */
  readonly late: Readonly<Record<string, number>>
}

export interface ToolCallScope {
  tool: string
  log: Logger
  /** Ends the call with the error; false: it has ended already. */
  fail(error: unknown): boolean
}

/** Of one call. A timer that throws for ever must not fill the log. */
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
