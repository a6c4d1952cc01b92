import type { Clock } from '../../domain/clock.ts'
import { decoderFor } from '../../outgoing/body-decoder.ts'
import { ConnectionFailure } from '../../outgoing/connection-failure.ts'
import type { AnswerHead, ExchangeHandlers, Flow } from '../../outgoing/exchange.ts'
import { type BodyTaker, collectBody, HttpConnectionError, HttpContentError, HttpStatusError } from './http-errors.ts'
import { createSseParser } from './sse-parser.ts'

/**
 * The payloads of one answer's events. Each array holds what one or more reads of the socket completed. An empty array says that the
 * server is alive: it sent a comment, or a piece of a long event.
 */
export interface PayloadStream extends AsyncIterable<readonly string[]> {
  /**
   * Call it when the answer is complete as far as its protocol is concerned. Returns the connection to the pool once the server has
   * ended the response, or closes it when that takes longer than a second. Leaving the loop without it closes the connection at once.
   */
  release(): void
}

/** Reading stops when more bytes than this wait for the consumer. */
const MAX_QUEUED_BYTES = 64 * 1024
const RELEASE_MS = 1_000

type Batch = IteratorResult<readonly string[], undefined>
const DONE: Batch = { done: true, value: undefined }

export function createPayloadStream(
  send: (handlers: ExchangeHandlers) => Flow,
  clock: Clock,
  signal: AbortSignal,
): PayloadStream {
  const queue = new PayloadQueue()
  let taker: BodyTaker | null = null
  let cancelTimer = () => {}

  /** Ignores what arrives later. What is queued is still delivered. */
  const end = (error: Error | null) => {
    if (queue.ended) return
    cancelTimer()
    signal.removeEventListener('abort', abort)
    queue.end(error)
  }

  const abort = () => {
    queue.payloads = []
    end(null)
    queue.flow?.destroy()
  }

  const fail = (error: unknown) => {
    end(error instanceof Error ? error : new Error(String(error)))
    queue.flow?.destroy()
  }

  const failWithBody = (failureOf: (body: string) => Error): BodyTaker => {
    const collector = collectBody(clock, (body) => {
      fail(failureOf(body))
    })
    cancelTimer = collector.cancel
    return collector
  }

  const takerFor = (head: AnswerHead): BodyTaker => {
    if (head.status < 200 || head.status >= 300) return failWithBody((body) => new HttpStatusError({ ...head, body }))
    const events = createEventTaker(queue, end, fail)
    if (String(head.headers['content-type']).includes('event-stream')) return events
    return {
      ...events,
      body(bytes) {
        // Some servers send a stream with a wrong content type, so the content decides: no event begins with these characters.
        const isOther = /^\s*[{[<]/.test(bytes.toString('latin1', 0, 64))
        taker = isOther ? failWithBody((body) => new HttpContentError({ ...head, body })) : events
        taker.body(bytes)
      },
    }
  }

  const handlers: ExchangeHandlers = {
    head(head) {
      if (queue.ended) return
      if (isUnreadable(head)) fail(new HttpContentError({ ...head, body: '' }))
      else taker = takerFor(head)
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
  }

  const begin = () => {
    if (signal.aborted) return end(null)
    signal.addEventListener('abort', abort)
    try {
      queue.flow = send(handlers)
    } catch (error) {
      fail(error)
    }
  }

  return {
    [Symbol.asyncIterator]: () => ({
      next() {
        if (queue.flow === null && !queue.ended) begin()
        return queue.next()
      },
      return() {
        if (!queue.ended) abort()
        return Promise.resolve(DONE)
      },
    }),
    release() {
      if (queue.ended) return
      queue.payloads = []
      end(null)
      const { flow } = queue
      if (flow === null) return
      // The pool gets the connection back only when the response was read to its end.
      flow.resume()
      cancelTimer = clock.after(RELEASE_MS, () => flow.destroy())
    },
  }
}

/** Parses the body of an event stream into the queue. */
function createEventTaker(
  queue: PayloadQueue,
  end: (error: Error | null) => void,
  fail: (error: unknown) => void,
): BodyTaker {
  const parser = createSseParser()
  /** What one read of the socket brought: as many pieces as the server sent chunks. */
  let pieces: Buffer[] = []
  let reading = false

  const parseRead = () => {
    if (pieces.length === 0 || queue.ended) return
    const [only] = pieces
    const read = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)
    pieces = []
    queue.alive = true
    try {
      parser.push(read, queue.payloads)
    } catch (error) {
      fail(error)
    }
  }

  const takeRead = () => {
    reading = false
    parseRead()
    queue.settle()
  }

  return {
    body(bytes) {
      if (queue.ended) return
      pieces.push(bytes)
      queue.received(bytes.length)
      if (reading) return
      // The microtask runs after all pieces of this read have come. Parsing them together is three times as cheap.
      reading = true
      queueMicrotask(takeRead)
    },
    end() {
      parseRead()
      if (queue.ended) return
      try {
        parser.end(queue.payloads)
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
}

/**
 * Payloads are pushed on one side and pulled in batches on the other: one promise per read of the socket, none while payloads wait.
 * Pauses the flow while too much waits.
 */
class PayloadQueue {
  payloads: string[] = []
  /** Bytes came since the last batch, even if they completed no event. */
  alive = false
  ended = false
  /** Null until the request is sent. */
  flow: Flow | null = null
  #bytes = 0
  #paused = false
  #failure: Error | null = null
  #waiting: { resolve: (batch: Batch) => void; reject: (error: Error) => void } | null = null

  received(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= MAX_QUEUED_BYTES || this.#paused) return
    this.#paused = true
    this.flow?.pause()
  }

  /** Whoever pulls gets what is queued first, then the failure or the end. */
  end(error: Error | null): void {
    this.ended = true
    this.#failure = error
    this.settle()
  }

  /** Gives the waiting consumer what there is. */
  settle(): void {
    const waiting = this.#waiting
    if (waiting === null) return
    // Taking may read on, and that may bring the end before it returns: then nobody may be waiting any more.
    this.#waiting = null
    const batch = this.#take()
    if (batch === null) this.#waiting = waiting
    else if (batch instanceof Error) waiting.reject(batch)
    else waiting.resolve(batch)
  }

  next(): Promise<Batch> {
    const batch = this.#take()
    if (batch instanceof Error) return Promise.reject(batch)
    if (batch !== null) return Promise.resolve(batch)
    const promise = new Promise<Batch>((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
    // All that was read may be the beginning of one long event. Without more reading its rest would never come.
    this.#readOn()
    return promise
  }

  /** Null: there is nothing yet. */
  #take(): Batch | Error | null {
    if (this.payloads.length === 0) {
      if (this.#failure !== null) return this.#failure
      if (this.ended) return DONE
      if (!this.alive) return null
    }
    const value = this.payloads
    this.payloads = []
    this.alive = false
    this.#readOn()
    return { done: false, value }
  }

  /** The consumer has come, so reading goes on. */
  #readOn(): void {
    this.#bytes = 0
    if (!this.#paused) return
    this.#paused = false
    this.flow?.resume()
  }
}

/** The answer is compressed in a way that we did not ask for. For an error the status is enough, without its body. */
const isUnreadable = ({ status, headers }: AnswerHead): boolean =>
  status < 300 &&
  headers['content-encoding'] !== undefined &&
  decoderFor(String(headers['content-encoding'])) === undefined
