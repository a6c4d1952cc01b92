// A database can keep a commit open for as long as its standby is away. Whoever waits for it hears so in time, and the work goes on.

import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { HttpServer } from '../http/server/server.ts'

interface UnconfirmedDeps {
  http: Pick<HttpServer, 'refuseWaiting'>
  /** How long the commit that is under way has taken so far. */
  commitMs: () => number
  withinMs: number
  clock: Clock
}

const LOOK_MS = 500

/** Call what it returns to stop. */
export function refuseUnconfirmed({ http, commitMs, withinMs, clock }: UnconfirmedDeps): () => void {
  let cancel = () => {}
  const look = () => {
    if (commitMs() >= withinMs) http.refuseWaiting(withinMs, notConfirmed())
    cancel = clock.after(LOOK_MS, look)
  }
  look()
  return () => cancel()
}

const notConfirmed = (): ServerError =>
  new ServerError(
    'storage_failed',
    'The database has not confirmed this in time. It is done when the database confirms it. Look whether it is done before you send it again.',
  )
