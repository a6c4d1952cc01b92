import type { Logger } from '../domain/logger.ts'

/** Only ever forwards, in this order; steps may be skipped. */
export const serverStates = ['initializing', 'ready', 'running', 'shutting_down', 'stopped'] as const

export type ServerStateName = (typeof serverStates)[number]

export interface ServerState {
  readonly current: ServerStateName
  /** `ready` and `running`: work is taken. */
  readonly takesWork: boolean
  /** A step back is ignored: a late "ready" must not reopen a server that stops. */
  advance(to: ServerStateName): void
}

export function createServerState(log: Logger): ServerState {
  let current: ServerStateName = 'initializing'
  return {
    get current() {
      return current
    },
    get takesWork() {
      return current === 'ready' || current === 'running'
    },
    advance(to) {
      if (serverStates.indexOf(to) <= serverStates.indexOf(current)) return
      current = to
      log.debug('server state', { state: to })
    },
  }
}
