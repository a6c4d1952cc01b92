import type { ServerResponse } from 'node:http'
import type { Clock } from '../../domain/clock.ts'
import { PassingSet } from '../../domain/passing.ts'
import { ClientGone, rejectAsGone } from '../client-gone.ts'
import type { ByteStream } from '../route.ts'

interface StreamOptions {
  response: ServerResponse
  streams: OpenStreams
  clock: Clock
  /** Sent after 15 s of silence. Null if the format has nothing for that. */
  keepAlive: string | null
  /** False once the reader's credential has been revoked. */
  isAllowed: () => boolean
  /** Another program's server received the request. */
  isMounted: boolean
}

/** Larger chunks go to the kernel in slices, so that a slow reader of a large chunk still shows progress. */
const SLICE_BYTES = 64 * 1024
const MAX_QUEUED_BYTES = 256 * 1024
const KEEP_ALIVE_MS = 15_000

/** The body of an answer whose headers node already has. A caller that waits for `write` never has more than one chunk in it. */
export class ResponseStream implements ByteStream, OpenStream {
  readonly #response: ServerResponse
  readonly #streams: OpenStreams
  readonly #clock: Clock
  readonly #keepAlive: string | null
  readonly #isAllowed: () => boolean
  readonly #framed: boolean
  /** Node has sent the head of the answer with our first chunk, so the rest may go to the socket. */
  #isBegun = false

  readonly #queue: Buffer[] = []
  #queuedBytes = 0
  #blocked: PromiseWithResolvers<void> | null = null
  /** When the kernel last took something. Null unless we wait for it to take more. */
  #blockedAt: number | null = null
  #wroteSinceTick = true
  #quietSince = 0
  #ended = false
  #gone = false

  constructor({ response, streams, clock, keepAlive, isAllowed, isMounted }: StreamOptions) {
    this.#response = response
    this.#streams = streams
    this.#clock = clock
    this.#keepAlive = keepAlive
    this.#isAllowed = isAllowed
    // Node sends a chunk as four writes. One string with the same bytes costs a third less CPU for each event.
    // Not in another program's server, where a compression may process what we write.
    this.#framed = !isMounted && response.chunkedEncoding
    if (this.#framed) response.chunkedEncoding = false
    response.on('drain', () => this.#onDrain())
    response.on('close', () => this.#onClose())
    if (response.destroyed) this.#gone = true
    else streams.add(this)
  }

  write(chunk: string | Uint8Array): Promise<void> | undefined {
    if (this.#gone || this.#ended) return rejectAsGone()
    if (chunk.length === 0) return this.#blocked?.promise
    this.#wroteSinceTick = true
    if (this.#blocked === null && chunk.length <= SLICE_BYTES) {
      return this.#send(chunk) ? undefined : this.#block().promise
    }
    if (this.#queuedBytes > MAX_QUEUED_BYTES) {
      this.drop()
      return rejectAsGone()
    }
    this.#enqueue(Buffer.from(chunk))
    if (this.#blocked === null) this.#pump()
    return this.#blocked?.promise
  }

  end(): void {
    if (this.#ended || this.#gone) return
    this.#ended = true
    if (this.#blocked === null) this.#finish()
  }

  drop(): void {
    this.#response.req.socket.destroy()
    this.#onClose()
  }

  tick(now: number): void {
    if (!this.#isAllowed()) {
      this.drop()
      return
    }
    if (this.#blockedAt !== null) {
      if (now - this.#blockedAt >= STALL_MS) this.drop()
      return
    }
    if (this.#wroteSinceTick) {
      this.#wroteSinceTick = false
      // The write happened at some moment since the last tick. Count from that tick, so that silence is never longer than promised.
      this.#quietSince = now - TICK_MS
    } else if (this.#keepAlive !== null && now - this.#quietSince + TICK_MS > KEEP_ALIVE_MS) {
      this.#quietSince = now
      this.write(this.#keepAlive)
    }
  }

  #send(chunk: string | Uint8Array): boolean {
    if (!this.#framed) return this.#response.write(chunk)
    const size = typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.length
    const head = `${size.toString(16)}\r\n`
    if (typeof chunk === 'string') return this.#sendText(`${head}${chunk}\r\n`)
    // Not joined: copies of the slices of stalled readers would be so small that malloc keeps their memory.
    this.#response.cork()
    this.#response.write(head)
    this.#response.write(chunk)
    const isTaken = this.#response.write('\r\n')
    this.#response.uncork()
    return isTaken && !this.#response.writableNeedDrain
  }

  /** Past node's `response.write`, which holds every write back until the end of the tick: a sixth of the CPU of a write. */
  #sendText(text: string): boolean {
    const { socket } = this.#response
    // A pipelined request has no socket yet.
    if (!this.#isBegun || socket === null || !socket.writable) {
      this.#isBegun = true
      return this.#response.write(text)
    }
    const isTaken = socket.write(text)
    if (!isTaken) socket.once('drain', () => this.#onDrain())
    return isTaken
  }

  #enqueue(bytes: Buffer): void {
    for (let i = 0; i < bytes.length; i += SLICE_BYTES) this.#queue.push(bytes.subarray(i, i + SLICE_BYTES))
    this.#queuedBytes += bytes.length
  }

  #pump(): void {
    for (let slice = this.#queue.shift(); slice !== undefined; slice = this.#queue.shift()) {
      this.#queuedBytes -= slice.length
      if (!this.#send(slice)) {
        this.#block()
        return
      }
    }
    const waiting = this.#blocked
    this.#blocked = null
    this.#blockedAt = null
    waiting?.resolve()
    if (this.#ended) this.#finish()
  }

  #block(): PromiseWithResolvers<void> {
    this.#blockedAt = this.#clock.mono()
    this.#blocked ??= Promise.withResolvers<void>()
    // As in `rejectAsGone`.
    this.#blocked.promise.catch(() => {})
    return this.#blocked
  }

  #onDrain(): void {
    if (this.#blocked !== null) this.#pump()
  }

  #finish(): void {
    // Until node reports the close, the last bytes can still be stuck.
    this.#blockedAt = this.#clock.mono()
    if (this.#framed) this.#response.end('0\r\n\r\n')
    else this.#response.end()
  }

  #onClose(): void {
    if (this.#gone) return
    this.#gone = true
    this.#streams.remove(this)
    this.#queue.length = 0
    this.#blocked?.reject(new ClientGone())
  }
}

// All open streams of a server. One timer checks them; it runs only while there are any.

interface OpenStream {
  /** Called about once a second with the clock's monotonic time. */
  tick(now: number): void
  /** Ends the stream properly, because the server stops. */
  end(): void
}

export interface OpenStreams {
  add(stream: OpenStream): void
  remove(stream: OpenStream): void
  endAll(): void
  readonly size: number
}

const TICK_MS = 1_000
const STALL_MS = 30_000

export function createOpenStreams(clock: Clock): OpenStreams {
  const streams = new PassingSet<OpenStream>()
  let cancel: (() => void) | null = null

  function tick(): void {
    cancel = null
    const now = clock.mono()
    for (const stream of streams) stream.tick(now)
    arm()
  }

  function arm(): void {
    if (cancel === null && streams.size > 0) cancel = clock.after(TICK_MS, tick)
  }

  return {
    add(stream) {
      streams.add(stream)
      arm()
    },
    remove(stream) {
      streams.delete(stream)
      if (streams.size > 0) return
      cancel?.()
      cancel = null
    },
    endAll() {
      for (const stream of [...streams]) stream.end()
    },
    get size() {
      return streams.size
    },
  }
}

/** Drops the connection if an answer that was written in one piece has not been sent after 30 s. */
export function dropUnlessSent(response: ServerResponse, streams: OpenStreams, clock: Clock): void {
  const since = clock.mono()
  const stuck: OpenStream = {
    tick(now) {
      if (now - since >= STALL_MS) response.req.socket.destroy()
    },
    end() {},
  }
  streams.add(stuck)
  response.once('close', () => streams.remove(stuck))
}
