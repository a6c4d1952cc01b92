import type { Clock } from '../../domain/clock.ts'
import { decoderFor } from '../../outgoing/body-decoder.ts'
import { ConnectionFailure } from '../../outgoing/connection-failure.ts'
import type { AnswerHead, ExchangeHandlers, Flow } from '../../outgoing/exchange.ts'
import { type BodyTaker, collectBody, HttpConnectionError, HttpContentError, HttpStatusError } from './http-errors.ts'
import { createSseParser } from './sse-parser.ts'

/**
 * Takes the payloads that one or more reads of the socket completed. An empty array says that the server is alive: it sent a comment,
 * or a piece of a long event. It is not called again before the promise that it returns has resolved.
 */
export type TakePayloads = (payloads: readonly string[]) => Promise<unknown> | undefined

export interface PayloadStream {
  /** Resolves when the answer has ended and all of it was taken. Rejects with the failure that ended it, or with that of `take`. */
  readonly taken: Promise<void>
  /**
   * Call it when the answer is complete as far as its protocol is concerned. Returns the connection to the pool once the server has
   * ended the response, or closes it when that takes longer than a second.
   */
  release(): void
}

/** Reading stops when more bytes than this wait for the consumer. */
const MAX_QUEUED_BYTES = 64 * 1024
const RELEASE_MS = 1_000

export function createPayloadStream(
  send: (handlers: ExchangeHandlers) => Flow,
  clock: Clock,
  signal: AbortSignal,
  take: TakePayloads,
): PayloadStream {
  const queue = new PayloadQueue(take, () => abort())
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
    end(asError(error))
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

  if (signal.aborted) {
    end(null)
  } else {
    signal.addEventListener('abort', abort)
    try {
      queue.flow = send(handlers)
    } catch (error) {
      fail(error)
    }
  }

  return {
    taken: queue.taken,
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
    parseRead()
    queue.settle()
  }

  return {
    body(bytes) {
      if (queue.ended) return
      queue.received(bytes.length)
      if (pieces.length > 0) return void pieces.push(bytes)
      // Most reads bring one piece, and an array that is made with it takes a tenth of the memory of one that grows.
      pieces = [bytes]
      // The microtask runs after all pieces of this read have come. Parsing them together is three times as cheap.
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

/** Passes payloads on at once, or keeps them while the taker is busy. Pauses the flow while too much waits. */
class PayloadQueue {
  payloads: string[] = []
  /** Bytes came since the last batch, even if they completed no event. */
  alive = false
  ended = false
  /** Null until the request is sent. */
  flow: Flow | null = null
  readonly #over = Promise.withResolvers<void>()
  readonly taken = this.#over.promise
  readonly #take: TakePayloads
  readonly #abort: () => void
  #bytes = 0
  #paused = false
  #taking = false
  #failure: Error | null = null

  /** `abort` is called when `take` fails. */
  constructor(take: TakePayloads, abort: () => void) {
    this.#take = take
    this.#abort = abort
  }

  received(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes <= MAX_QUEUED_BYTES || this.#paused) return
    this.#paused = true
    this.flow?.pause()
  }

  /** What is queued goes first, then the failure or the end. */
  end(error: Error | null): void {
    this.ended = true
    this.#failure ??= error
    this.settle()
  }

  /** Passes on what there is. */
  settle(): void {
    while (!this.#taking && (this.payloads.length > 0 || (this.alive && !this.ended))) {
      const { payloads } = this
      this.payloads = []
      this.alive = false
      // Taking may release the connection, and reading on may bring the end: both come back to here.
      this.#taking = true
      try {
        const taking = this.#take(payloads)
        this.#readOn()
        if (taking !== undefined) return void taking.then(this.#onTaken, this.#onFailed)
        this.#taking = false
      } catch (error) {
        this.#onFailed(error)
      }
    }
    if (this.#taking || !this.ended) return
    if (this.#failure === null) this.#over.resolve()
    else this.#over.reject(this.#failure)
  }

  readonly #onTaken = (): void => {
    this.#taking = false
    this.settle()
  }

  readonly #onFailed = (error: unknown): void => {
    this.#failure = asError(error)
    this.#abort()
    this.#onTaken()
  }

  #readOn(): void {
    this.#bytes = 0
    if (!this.#paused || this.ended) return
    this.#paused = false
    this.flow?.resume()
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/** The answer is compressed in a way that we did not ask for. For an error the status is enough, without its body. */
const isUnreadable = ({ status, headers }: AnswerHead): boolean =>
  status < 300 &&
  headers['content-encoding'] !== undefined &&
  decoderFor(String(headers['content-encoding'])) === undefined
