// A fetch that limits the size of answers. The SDK reads a whole JSON body, or a whole event of a stream, into memory.

import type { FetchLike } from '@modelcontextprotocol/client'

const MAX_BYTES = 10_000_000

export function boundedFetch(fetch: FetchLike, maxBytes: number = MAX_BYTES): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (response.body === null) return response
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(limit(maxBytes, isStream)), { status, statusText, headers })
  }
}

/** In a stream of events the limit is for each event. An empty line ends an event. */
function limit(maxBytes: number, eachEvent: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  let last = 0
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of eachEvent ? chunk : []) {
        if (byte === CARRIAGE_RETURN) continue
        size = byte === NEWLINE && last === NEWLINE ? 0 : size + 1
        last = byte
        if (size > maxBytes) break
      }
      if (!eachEvent) size += chunk.length
      if (size > maxBytes) throw new Error(`The answer is longer than ${maxBytes / 1_000_000} MB.`)
      controller.enqueue(chunk)
    },
  })
}

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
