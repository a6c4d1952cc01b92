import { ClientError } from './client-error.ts'
import { brokenBy, type Connection } from './connection.ts'

export interface SseMessage {
  /** The id of this message; null if it has none. */
  id: string | null
  event: string
  data: string
}

/** A stream that is silent for longer is lost: the server sends something at least every 15 s. */
export const SILENCE_MS = 45_000

interface SseOptions {
  /** Called whenever bytes arrive, comments included. */
  onBytes?: () => void
  /** Closes a connection that is silent for longer: nothing else tells a client that its network is gone. Default: never. */
  silenceMs?: number
}

/**
 * The messages of a stream of server-sent events. A message that the end of the stream cuts off is dropped, as the standard says.
 * Leaving the loop closes the connection.
 */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
  { onBytes, silenceMs }: SseOptions = {},
): AsyncGenerator<SseMessage> {
  // Some browsers cannot iterate over a stream.
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let message = emptyMessage()
  // `cancel` rejects when the connection is already broken.
  const close = () => void reader.cancel().catch(() => {})
  try {
    for (;;) {
      const silence = silenceMs === undefined ? undefined : setTimeout(close, silenceMs)
      const { done, value } = await reader.read().finally(() => clearTimeout(silence))
      if (done) return
      onBytes?.()
      const text = decoder.decode(value, { stream: true })
      // Splitting a long line again with every piece of it would take quadratic time.
      if (!text.includes('\n')) {
        rest += text
        continue
      }
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const raw of lines) {
        const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
        if (line !== '') {
          takeLine(message, line)
          continue
        }
        const { id, event, data } = message
        message = emptyMessage()
        if (data.length > 0) yield { id, event, data: data.join('\n') }
      }
    }
  } finally {
    close()
  }
}

interface OpenMessage extends Omit<SseMessage, 'data'> {
  data: string[]
}

const emptyMessage = (): OpenMessage => ({ id: null, event: 'message', data: [] })

function takeLine(message: OpenMessage, line: string): void {
  const colon = line.indexOf(':')
  const field = colon === -1 ? line : line.slice(0, colon)
  const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
  if (field === 'data') message.data.push(value)
  else if (field === 'event') message.event = value
  else if (field === 'id') message.id = value
}

interface StreamSource {
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
