// A host of the modern era has no connection between two calls, so a server could not tell a window that is quiet from one that is gone.
// The bridge holds a request open as long as it lives, and says goodbye when it ends.

import { type Clock, sleep } from '../../../domain/clock.ts'

interface PresenceOptions {
  /** The server's `/mcp` with the name of this bridge, now: a server that is started again may have another port. */
  url: () => string
  headers: Readonly<Record<string, string>>
  clock: Clock
}

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000
const GOODBYE_MS = 1_000
/** Trying again changes nothing: something else answers there, or the token is refused. */
const GIVE_UP: readonly number[] = [400, 401, 403, 404, 405]

/** The returned function says goodbye. It waits a second at most: a server that is away finds out by itself. */
export function keepPresent({ url, headers, clock }: PresenceOptions): () => Promise<void> {
  const left = new AbortController()

  async function stay(): Promise<void> {
    for (let wait = FIRST_WAIT_MS; !left.signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        const accept = { ...headers, Accept: 'text/event-stream' }
        const answer = await fetch(url(), { headers: accept, redirect: 'error', signal: left.signal })
        if (answer.ok) wait = FIRST_WAIT_MS
        await answer.body?.pipeTo(new WritableStream())
        if (GIVE_UP.includes(answer.status)) return
      } catch {
        // The server is away, or this is the end.
      }
      await sleep(clock, wait, left.signal)
    }
  }

  const staying = stay()
  return async () => {
    left.abort()
    const signal = AbortSignal.timeout(GOODBYE_MS)
    await fetch(url(), { method: 'DELETE', headers, redirect: 'error', signal }).catch(() => {})
    await staying
  }
}
