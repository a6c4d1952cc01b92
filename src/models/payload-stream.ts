import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Clock } from '../domain/clock.ts'
import { HttpConnectionError, HttpContentError, HttpStatusError, readBody } from './http-answer.ts'
import { createSseParser } from './sse-parser.ts'

/** The payloads of one answer's events. Each array holds what one or more reads of the socket completed. */
export interface PayloadStream extends AsyncIterable<readonly string[]> {
  /**
   * The answer is complete as far as its protocol is concerned. Hands the connection back to the pool once the server has
   * ended the response, or closes it when that takes longer than a second. Leaving the loop without it closes at once.
   */
  release(): void
}

/** Queued payloads beyond this stop the reading of the socket until the consumer comes. */
const MAX_QUEUED_BYTES = 64 * 1024
const RELEASE_MS = 1_000

type Taken = IteratorResult<readonly string[], undefined>
const DONE: Taken = { done: true, value: undefined }

/** A push-to-pull bridge by hand: one promise per read of the socket, none while payloads are waiting. */
export function createPayloadStream(send: () => ClientRequest, clock: Clock, signal: AbortSignal): PayloadStream {
  const parser = createSseParser()
  let request: ClientRequest | null = null
  let response: IncomingMessage | null = null
  let queue: string[] = []
  let queuedBytes = 0
  let paused = false
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
    }
  }

  const take = (): Taken => {
    const value = queue
    queue = []
    queuedBytes = 0
    if (paused) {
      paused = false
      response?.resume()
    }
    return { done: false, value }
  }

  /** Nothing that arrives later counts. What is queued is still delivered. */
  const end = (error: Error | null) => {
    if (ended) return
    ended = true
    failure = error
    signal.removeEventListener('abort', abort)
    settle()
  }

  const abort = () => {
    queue = []
    end(null)
    request?.destroy()
  }

  const read = (message: IncomingMessage) => {
    response = message
    const answer = { status: message.statusCode ?? 0, headers: message.headers }
    if (answer.status < 200 || answer.status >= 300) {
      void readBody(message, clock).then((body) => end(new HttpStatusError({ ...answer, body })))
      return
    }
    let isStream = message.headers['content-type']?.includes('event-stream') === true
    const onData = (bytes: Buffer) => {
      if (ended) return
      if (!isStream) {
        // Some servers label their stream wrongly, so the content decides: no event begins with these.
        if (/^\s*[{[<]/.test(bytes.toString('latin1', 0, 64))) {
          message.off('data', onData)
          message.off('end', onEnd)
          void readBody(message, clock, bytes).then((body) => end(new HttpContentError({ ...answer, body })))
          return
        }
        isStream = true
      }
      try {
        parser.push(bytes, queue)
      } catch (error) {
        end(error instanceof Error ? error : new Error(String(error)))
        request?.destroy()
        return
      }
      if (waiting !== null) return settle()
      queuedBytes += bytes.length
      if (queuedBytes > MAX_QUEUED_BYTES && !paused) {
        paused = true
        message.pause()
      }
    }
    const onEnd = () => {
      if (ended) return
      parser.end(queue)
      end(null)
    }
    message.on('data', onData)
    message.on('end', onEnd)
    message.on('error', (error) => end(new HttpConnectionError(error, true)))
  }

  const begin = (again: boolean) => {
    const sent = send()
    request = sent
    sent.once('response', read)
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close an idle connection in the moment we use it again. That is nobody's failure: ask once more.
      const stale = sent.reusedSocket && response === null && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      if (stale && again && !ended) begin(false)
      else end(new HttpConnectionError(error, response !== null))
    })
  }

  const next = (): Promise<Taken> => {
    if (request === null && !ended) {
      if (signal.aborted) {
        ended = true
      } else {
        signal.addEventListener('abort', abort)
        begin(true)
      }
    }
    if (queue.length > 0) return Promise.resolve(take())
    if (failure !== null) return Promise.reject(failure)
    if (ended) return Promise.resolve(DONE)
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
      // Read to its end, or the pool does not get the connection back.
      response?.resume()
      const cancel = clock.after(RELEASE_MS, () => request?.destroy())
      response?.once('close', cancel)
    },
  }
}
