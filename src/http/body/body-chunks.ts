import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../domain/clock.ts'
import type { ServerError } from '../../domain/errors.ts'
import { ClientGone } from '../client-gone.ts'
import { tooSlow } from './body.ts'

/** How fast a long body must arrive. Only the time that we wait for the client counts. */
export interface Pace {
  windowMs: number
  /** Average in each window. */
  minBytesPerSecond: number
}

interface ChunkLimits {
  maxBytes: number
  /** Makes the error for a body that is too large. */
  tooLarge: () => ServerError
  pace: Pace
  clock: Clock
}

/** The chunks of a body, read no faster than they are requested. */
export interface Chunks {
  /** Null at the end. Throws the error of `tooLarge`, `request_timeout` if the body arrives too slowly, or `ClientGone`. */
  next(): Promise<Buffer | null>
  /** Stops reading. A pending `next` gets null. */
  stop(): void
}

export function readChunks(request: IncomingMessage, { maxBytes, tooLarge, pace, clock }: ChunkLimits): Chunks {
  const chunks: Buffer[] = []
  let isOver = request.readableEnded
  let failure: Error | null = request.destroyed && !isOver ? new ClientGone() : null
  let size = 0
  let sizeInWindow = 0
  let waitedInWindow = 0
  let wake = () => {}

  function onData(chunk: Buffer): void {
    request.pause()
    size += chunk.length
    sizeInWindow += chunk.length
    if (size > maxBytes) failure = tooLarge()
    else chunks.push(chunk)
    wake()
  }

  function onEnd(): void {
    isOver = true
    wake()
  }

  function onGone(): void {
    if (!isOver) failure ??= new ClientGone()
    wake()
  }

  function detach(): void {
    request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
  }

  async function wait(): Promise<void> {
    const startedAt = clock.mono()
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = clock.after(Math.max(0, pace.windowMs - waitedInWindow), resolve)
    wake = resolve
    request.resume()
    await promise
    cancel()
    wake = () => {}
    waitedInWindow += clock.mono() - startedAt
    if (waitedInWindow >= pace.windowMs) endWindow()
  }

  function endWindow(): void {
    if (!isOver && sizeInWindow < (pace.minBytesPerSecond * pace.windowMs) / 1000) {
      failure ??= tooSlow()
    }
    waitedInWindow = 0
    sizeInWindow = 0
  }

  request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  // Adding a data listener starts the flow.
  request.pause()

  return {
    async next() {
      for (;;) {
        if (failure !== null) {
          detach()
          throw failure
        }
        const chunk = chunks.shift()
        if (chunk !== undefined) return chunk
        if (isOver) return null
        await wait()
      }
    },
    stop() {
      detach()
      chunks.length = 0
      if (!isOver) request.pause()
      onEnd()
    },
  }
}
