import type { Clock } from '../../domain/clock.ts'
import { decoderFor } from '../../outgoing/body-decoder.ts'
import { ConnectionFailure } from '../../outgoing/connection-failure.ts'
import type { AnswerHead, ExchangeHandlers, Flow } from '../../outgoing/exchange.ts'
import { type BodyTaker, collectBody, HttpConnectionError, HttpContentError, HttpStatusError } from './http-errors.ts'
import { createSseParser } from './sse-parser.ts'

/**
 * The payloads of one answer's events. Each array holds what one or more reads of the socket completed; an empty one says that the
 * server is alive: a comment came, or a piece of a long event.
 */
export interface PayloadStream extends AsyncIterable<readonly string[]> {
  /**
   * The answer is complete as far as its protocol is concerned. Hands the connection back to the pool once the server has
   * ended the response, or closes it when that takes longer than a second. Leaving the loop without it closes at once.
   */
  release(): void
}

/** What is read beyond this stops the reading of the socket until the consumer comes. */
const MAX_QUEUED_BYTES = 64 * 1024
const RELEASE_MS = 1_000

type Taken = IteratorResult<readonly string[], undefined>
const DONE: Taken = { done: true, value: undefined }

/** A push-to-pull bridge by hand: one promise per read of the socket, none while payloads are waiting. */
export function createPayloadStream(
  send: (handlers: ExchangeHandlers) => Flow,
  clock: Clock,
  signal: AbortSignal,
): PayloadStream {
  const parser = createSseParser()
  let exchange: Flow | null = null
  let taker: BodyTaker | null = null
  let cancelTimer = () => {}
  let queue: string[] = []
  let queuedBytes = 0
  let paused = false
  let alive = false
  let pieces: Buffer[] = []
  let reading = false
  let ended = false
  let failure: Error | null = null
  let waiting: { resolve: (taken: Taken) => void; reject: (error: Error) => void } | null = null

  const settle = () => {
    if (waiting === null) return
    const { resolve, reject } = waiting
    if (queue.length > 0) {
      waiting = null
      resolve(take())
    } else if (failure !== null) {
      waiting = null
      reject(failure)
    } else if (ended) {
      waiting = null
      resolve(DONE)
    } else if (alive) {
      waiting = null
      resolve(take())
    }
  }

  /** The consumer is here: what was read so far no longer holds the reading up. */
  const readOn = () => {
    queuedBytes = 0
    if (!paused) return
    paused = false
    exchange?.resume()
  }

  const take = (): Taken => {
    const value = queue
    queue = []
    alive = false
    readOn()
    return { done: false, value }
  }

  /** Nothing that arrives later counts. What is queued is still delivered. */
  const end = (error: Error | null) => {
    if (ended) return
    ended = true
    failure = error
    cancelTimer()
    signal.removeEventListener('abort', abort)
    settle()
  }

  const abort = () => {
    queue = []
    end(null)
    exchange?.destroy()
  }

  const fail = (error: unknown) => {
    end(error instanceof Error ? error : new Error(String(error)))
    exchange?.destroy()
  }

  /** What one read of the socket brought: as many pieces as the server made chunks of it. */
  const parseRead = () => {
    if (pieces.length === 0 || ended) return
    const [only] = pieces
    const read = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)
    pieces = []
    alive = true
    try {
      parser.push(read, queue)
    } catch (error) {
      fail(error)
    }
  }

  const takeRead = () => {
    reading = false
    parseRead()
    settle()
  }

  const eventStream: BodyTaker = {
    body(bytes) {
      if (ended) return
      pieces.push(bytes)
      queuedBytes += bytes.length
      if (queuedBytes > MAX_QUEUED_BYTES && !paused) {
        paused = true
        exchange?.pause()
      }
      if (reading) return
      // Comes after all pieces of this read, and parsing them together is three times as cheap.
      reading = true
      queueMicrotask(takeRead)
    },
    end() {
      parseRead()
      if (ended) return
      try {
        parser.end(queue)
      } catch (error) {
        return fail(error)
      }
      end(null)
    },
    lost(error) {
      parseRead()
      end(new HttpConnectionError(error, true))
    },
  }

  const wholeAnswer = (failureOf: (body: string) => Error): BodyTaker => {
    const collector = collectBody(clock, (body) => {
      fail(failureOf(body))
    })
    cancelTimer = collector.cancel
    return collector
  }

  const takerOf = (head: AnswerHead): BodyTaker => {
    if (head.status < 200 || head.status >= 300) return wholeAnswer((body) => new HttpStatusError({ ...head, body }))
    if (String(head.headers['content-type']).includes('event-stream')) return eventStream
    return {
      ...eventStream,
      body(bytes) {
        // Some servers label their stream wrongly, so the content decides: no event begins with these.
        const isContent = /^\s*[{[<]/.test(bytes.toString('latin1', 0, 64))
        taker = isContent ? wholeAnswer((body) => new HttpContentError({ ...head, body })) : eventStream
        taker.body(bytes)
      },
    }
  }

  const begin = () => {
    exchange = send({
      head(head) {
        if (ended) return
        if (isUnreadable(head)) fail(new HttpContentError({ ...head, body: '' }))
        else taker = takerOf(head)
      },
      body: (bytes) => taker?.body(bytes),
      end() {
        cancelTimer()
        taker?.end()
      },
      failed(error) {
        cancelTimer()
        if (taker !== null) taker.lost(error)
        else end(error instanceof ConnectionFailure ? new HttpConnectionError(error, false) : error)
      },
    })
  }

  const next = (): Promise<Taken> => {
    if (exchange === null && !ended) {
      if (signal.aborted) {
        ended = true
      } else {
        signal.addEventListener('abort', abort)
        try {
          begin()
        } catch (error) {
          fail(error)
        }
      }
    }
    if (queue.length > 0) return Promise.resolve(take())
    if (failure !== null) return Promise.reject(failure)
    if (ended) return Promise.resolve(DONE)
    if (alive) return Promise.resolve(take())
    // All that was read may be the beginning of one long event: its rest must come, or nobody ever gets it.
    readOn()
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject }
    })
  }

  return {
    [Symbol.asyncIterator]: () => ({
      next,
      return() {
        if (!ended) abort()
        return Promise.resolve(DONE)
      },
    }),
    release() {
      if (ended) return
      queue = []
      end(null)
      if (exchange === null) return
      // Read to its end, or the pool does not get the connection back.
      exchange.resume()
      cancelTimer = clock.after(RELEASE_MS, () => exchange?.destroy())
    },
  }
}

/** Compressed in a way that nobody asked for. An error's status says enough without its body. */
const isUnreadable = ({ status, headers }: AnswerHead): boolean =>
  status < 300 &&
  headers['content-encoding'] !== undefined &&
  decoderFor(String(headers['content-encoding'])) === undefined
