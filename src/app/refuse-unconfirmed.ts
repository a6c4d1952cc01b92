// A database can keep a commit open for as long as its standby is away. Whoever waits for it hears so in time, and the work goes on.

import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { HttpServer } from '../http/server/server.ts'
import type { Store } from '../store/store.ts'

interface UnconfirmedDeps {
  commit: Store['commit']
  http: Pick<HttpServer, 'refuseWaiting'>
  withinMs: number
  clock: Clock
}

const LOOK_MS = 500

/** The same commit, watched. Call `stop` when nobody waits any more. */
export function refuseUnconfirmed({ commit, http, withinMs, clock }: UnconfirmedDeps) {
  /** When the commit that is under way began. */
  let since: number | null = null
  let cancel = () => {}
  const look = () => {
    if (since !== null && clock.mono() - since >= withinMs) http.refuseWaiting(withinMs, notConfirmed())
    cancel = clock.after(LOOK_MS, look)
  }
  look()
  return {
    commit: (async (commands) => {
      since = clock.mono()
      try {
        return await commit(commands)
      } finally {
        since = null
      }
    }) satisfies Store['commit'],
    stop: () => cancel(),
  }
}

const notConfirmed = (): ServerError =>
  new ServerError(
    'storage_failed',
    'The database has not confirmed this in time. It is done when the database confirms it. Look whether it is done before you send it again.',
  )
