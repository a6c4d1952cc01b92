// The one connection of this browser to the stream of the server. It is opened again whenever it breaks, and goes on after the last
// event that came. Only the leading tab runs it.

import { type Client, ClientError } from 'quarterdeck/client'
import type { LiveMessage, LiveState, Watched } from './live-types.ts'

interface StreamLoopOptions {
  client: Pick<Client, 'feed'>
  emit: (message: LiveMessage) => void
  /** Where an earlier leader stopped. Null: from now on. */
  cursor: string | null
}

export type StreamLoop = ReturnType<typeof startStreamLoop>

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000

export function startStreamLoop(options: StreamLoopOptions) {
  const { client, emit } = options
  let cursor = options.cursor
  let watched: readonly Watched[] = []
  /** The last event of each session that the stream has brought. */
  const places = new Map<string, number>()
  let isStopped = false
  let connection = new AbortController()
  let waiting = new AbortController()

  const say = (state: LiveState) => emit({ kind: 'state', state })

  async function connectOnce(): Promise<void> {
    const { signal } = connection
    const sessions = watched.map(({ sessionId, after }) => {
      const place = places.get(sessionId) ?? after
      return place === 0 ? sessionId : `${sessionId}.${place}`
    })
    for await (const frame of client.feed({ sessions, ...(cursor === null ? {} : { after: cursor }), signal })) {
      if (signal.aborted) return
      if (frame.type === 'cursor') say({ status: 'live' })
      if (frame.type === 'taken') emit({ kind: 'taken', items: frame.items })
      if (frame.type === 'feed') {
        emit({ kind: 'feed', item: frame })
        cursor = frame.id
      } else if (frame.type === 'entry') {
        const seq = Number(frame.id.slice(frame.id.lastIndexOf('.') + 1))
        places.set(frame.session_id, seq)
        const at = frame.event.timestamp ?? null
        emit({ kind: 'entries', sessionId: frame.session_id, entries: [{ seq, at, event: frame.event }] })
      } else {
        // Only the part about the feed: the sessions may be others next time.
        cursor = frame.cursor.split(',')[0] ?? frame.cursor
      }
    }
  }

  async function run(): Promise<void> {
    for (let failures = 0; !isStopped; ) {
      connection = new AbortController()
      if (failures === 0) say({ status: 'connecting' })
      try {
        await connectOnce()
        failures = 0
        if (connection.signal.aborted) continue
      } catch (error) {
        if (isStopped) return
        if (connection.signal.aborted) continue
        if (error instanceof ClientError && (error.status === 401 || error.status === 403))
          return say({ status: 'refused' })
        if (error instanceof ClientError && error.code === 'events_gone') {
          cursor = null
          places.clear()
          emit({ kind: 'gone', sessionId: null })
        } else if (error instanceof ClientError && error.code === 'session_not_found') {
          // One of the sessions was deleted. The others must not suffer from it: their tabs ask for them again.
          watched = []
          emit({ kind: 'gone', sessionId: null })
        }
        failures += 1
      }
      waiting = new AbortController()
      const ms = Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, failures - 1), LONGEST_PAUSE_MS)
      say({ status: 'waiting', retryAt: Date.now() + ms, reason: 'The server does not answer.' })
      await pause(ms, waiting.signal)
    }
  }

  void run()
  return {
    /** The sessions whose events are needed too. The stream is opened again if it does not carry them yet. */
    watch(next: readonly Watched[]): void {
      const carried = (one: Watched) =>
        watched.some(({ sessionId }) => sessionId === one.sessionId) &&
        (places.get(one.sessionId) ?? one.after) <= one.after
      const isCarried = next.every(carried)
      for (const { sessionId, after } of next) {
        const place = places.get(sessionId)
        if (place === undefined || place > after) places.set(sessionId, after)
      }
      watched = next
      if (!isCarried) connection.abort()
    },
    /** Tries at once, instead of waiting. */
    retryNow: () => waiting.abort(),
    stop(): void {
      isStopped = true
      connection.abort()
      waiting.abort()
    },
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
