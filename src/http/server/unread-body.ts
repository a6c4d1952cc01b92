// Answers that come before the request's body has been read. Closing at once would reset the connection, and the client,
// busy sending, would never see the answer; reading on for ever is what it must not be able to ask for.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../domain/clock.ts'

/** A rest this small is left to node, which skips it and keeps the connection. */
const SMALL_BYTES = 64 * 1024
const LINGER_BYTES = 1024 * 1024
const LINGER_MS = 500

/** True when a body is still to come that nobody will read: the connection has to go. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete) return false
  const { 'content-length': length, 'transfer-encoding': encoding, expect } = request.headers
  return encoding !== undefined || expect !== undefined || Number(length ?? 0) > SMALL_BYTES
}

/** For an answer whose bytes are all written: ends it when the rest has come, or after 1 MiB or half a second of it. */
export function endAfterSkipping(response: ServerResponse, clock: Clock): void {
  const request = response.req
  let skipped = 0

  function finish(): void {
    cancel()
    request.off('data', onData).off('end', finish).off('close', finish)
    response.end()
  }

  function onData(chunk: Buffer): void {
    skipped += chunk.length
    if (skipped > LINGER_BYTES) finish()
  }

  const cancel = clock.after(LINGER_MS, finish)
  request.on('data', onData).on('end', finish).on('close', finish)
  request.resume()
}

/** For a request that has been answered while its body is on its way: node skips the rest, but would wait for it for ever. */
export function dropUnlessReceived(request: IncomingMessage, clock: Clock, ms: number): void {
  if (request.destroyed) return
  const cancel = clock.after(ms, () => request.socket.destroy())
  request.once('end', cancel).once('close', cancel)
}
