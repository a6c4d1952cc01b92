/** The server says something on a stream at least every 15 seconds. */
const SILENCE_MS = 40_000

/**
 * A `fetch` that notices a dead connection. After a laptop has slept or a phone has changed networks, a stream often neither ends nor
 * fails: it only says nothing more.
 */
export function createWatchedFetch(ask: typeof fetch, now: () => number = Date.now) {
  const open = new Set<{ heardAt: number; abort: AbortController }>()
  return {
    async fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
      const one = { heardAt: now(), abort: new AbortController() }
      const signal = AbortSignal.any([one.abort.signal, ...(init?.signal ? [init.signal] : [])])
      signal.addEventListener('abort', () => open.delete(one))
      open.add(one)
      try {
        const { body, status, statusText, headers } = await ask(input, { ...init, signal })
        const heard = new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            one.heardAt = now()
            controller.enqueue(chunk)
          },
          flush: () => void open.delete(one),
        })
        return new Response(body?.pipeThrough(heard) ?? null, { status, statusText, headers })
      } catch (error) {
        open.delete(one)
        throw error
      }
    },
    /** Breaks off what has been silent for so long. */
    cut(silentMs = SILENCE_MS): void {
      const late = now() - silentMs
      for (const { heardAt, abort } of open) if (heardAt <= late) abort.abort(new Error('the connection was silent'))
    },
  }
}
