import { ClientError } from './client-error.ts'
import { brokenBy, type Connection } from './connection.ts'
import { readSse, type SseMessage } from './read-sse.ts'

export interface StreamSource {
  connection: Connection
  /** Opens the stream after `lastId`; null opens it from the beginning. */
  open(lastId: string | null): Promise<Response>
  /** Where to begin. */
  after: string | null
  /** `end`: the last message of the stream. `away`: the server stops, and the rest comes from a later connection. */
  kindOf(message: SseMessage): 'message' | 'end' | 'away'
  signal: AbortSignal | undefined
  /** A connection that is silent for longer counts as lost. */
  silenceMs: number
}

/**
 * A stream that survives broken connections: the next connection continues after the last id, and each message comes once. It ends
 * after the last message, or when the server says that nothing is left.
 */
export async function* resumingStream(source: StreamSource): AsyncGenerator<SseMessage> {
  const { connection, signal } = source
  let lastId = source.after
  let tries = 0
  // Bytes prove that the server is there, so only silence uses up the tries.
  const onBytes = () => {
    tries = 1
  }
  for (;;) {
    tries += 1
    let broken: unknown
    try {
      const response = await source.open(lastId)
      if (response.status === 204) return
      const body = eventsIn(response)
      for await (const message of readSse(body, { onBytes, silenceMs: source.silenceMs })) {
        const kind = source.kindOf(message)
        if (kind === 'away') break
        lastId = message.id ?? lastId
        yield message
        if (kind === 'end') return
      }
      broken = new ClientError('unreachable', 'The stream broke off.')
    } catch (error) {
      broken = brokenBy(error, signal)
    }
    if (signal?.aborted) throw signal.reason
    await connection.pause(tries, broken, signal)
  }
}

function eventsIn({ headers, body, status }: Response): ReadableStream<Uint8Array> {
  const type = headers.get('content-type') ?? ''
  if (body !== null && type.startsWith('text/event-stream')) return body
  const message = `The answer is ${type || 'empty'} and not a stream of events. Check the address.`
  throw new ClientError('unexpected_answer', message, { status })
}
