// What to do with a body that is still arriving when its request has been answered. Closing at once would reset the connection, and
// a client that is still sending would never see the answer. Reading on forever is not possible either.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../domain/clock.ts'

/** Node skips a rest this small and keeps the connection. */
const SMALL_BYTES = 64 * 1024
const MAX_SKIPPED_BYTES = 1024 * 1024
const MAX_SKIP_MS = 500

/** True when a body is still to come that nobody will read. Then the connection must be closed. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete) return false
  const { 'content-length': length, 'transfer-encoding': encoding, expect } = request.headers
  return encoding !== undefined || expect !== undefined || Number(length ?? 0) > SMALL_BYTES
}

/** Skips the rest of the body, at most 1 MiB or half a second of it, then ends the answer. All bytes of the answer must be written. */
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
    if (skipped > MAX_SKIPPED_BYTES) finish()
  }

  const cancel = clock.after(MAX_SKIP_MS, finish)
  request.on('data', onData).on('end', finish).on('close', finish)
  request.resume()
}

/** Closes the connection if the rest of an answered request does not arrive in time. Node skips the rest, but would wait forever. */
export function dropUnlessReceived(request: IncomingMessage, clock: Clock, ms: number): void {
  if (request.destroyed) return
  const cancel = clock.after(ms, () => request.socket.destroy())
  request.once('end', cancel).once('close', cancel)
}
