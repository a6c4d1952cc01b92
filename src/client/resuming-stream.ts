import { ClientError } from './client-error.ts'
import { brokenBy, type Connection } from './connection.ts'
import { readSse, type SseMessage } from './read-sse.ts'

export interface StreamSource {
  connection: Connection
  /** Asks for what comes after `lastId`; null: from the beginning. */
  open(lastId: string | null): Promise<Response>
  /** Where to begin. */
  after: string | null
  /** `end`: the stream's last message. `away`: no message but a farewell, the rest comes from a later connection. */
  kindOf(message: SseMessage): 'message' | 'end' | 'away'
  signal: AbortSignal | undefined
  /** After how much silence a connection counts as lost. */
  silenceMs: number
}

/**
 * A stream that outlives its connections: when one breaks, the next goes on behind the last id. Each message comes once. It
 * ends behind the message that is the end, or when the server says that nothing is left.
 */
export async function* resumingStream(source: StreamSource): AsyncGenerator<SseMessage> {
  const { connection, signal } = source
  let lastId = source.after
  let tries = 0
  // Whoever hears something has a server; only silence uses up the tries.
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
  const message = `Events were expected, and ${type || 'nothing'} came. Check the address.`
  throw new ClientError('unexpected_answer', message, { status })
}
