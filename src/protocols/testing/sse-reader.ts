import { readSse as readMessages } from '../../client/read-sse.ts'

export interface Frame {
  id?: string
  event?: string
  data: string
}

/** Reads a stream of server-sent events frame by frame. A frame with an `event:` line fails the test: see `namedEvents`. */
export interface SseReader {
  /** The next frame; null at the end of the stream. Comments are skipped. */
  next(): Promise<Frame | null>
  /** Frames up to and including the first whose data contains `part`. */
  until(part: string): Promise<Frame[]>
  /** All remaining frames. */
  rest(): Promise<Frame[]>
  close(): Promise<void>
}

export function readSse(response: Response): SseReader {
  const closing = new AbortController()
  const frames = framesIn(bodyOf(response, closing.signal))

  async function next(): Promise<Frame | null> {
    const { value = null } = await frames.next()
    if (value?.event !== undefined) throw new Error(`unexpected event line: ${value.event}`)
    return value
  }

  async function collect(isLast: (frame: Frame) => boolean): Promise<Frame[]> {
    const collected: Frame[] = []
    for (let frame = await next(); frame !== null; frame = await next()) {
      collected.push(frame)
      if (isLast(frame)) break
    }
    return collected
  }

  return {
    next,
    until: (part) => collect(({ data }) => data.includes(part)),
    rest: () => collect(() => false),
    close: async () => closing.abort(),
  }
}

/** A server-sent event with the name in its `event:` line. */
export interface NamedEvent {
  id?: string
  event?: string
  data: Record<string, unknown>
}

export async function* namedEvents(response: Response): AsyncGenerator<NamedEvent> {
  for await (const frame of framesOf(response)) yield { ...frame, data: JSON.parse(frame.data) }
}

/** All remaining events, or all up to and including the first with that name. */
export async function takeEvents(events: AsyncGenerator<NamedEvent>, last?: string): Promise<NamedEvent[]> {
  const taken: NamedEvent[] = []
  for (let next = await events.next(); !next.done; next = await events.next()) {
    taken.push(next.value)
    if (next.value.event === last) break
  }
  return taken
}

/** The frames of a stream, without comments. Throws when the stream ends inside a frame. */
export const framesOf = (response: Response): AsyncGenerator<Frame, undefined> => framesIn(bodyOf(response))

async function* framesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame, undefined> {
  for await (const { id, event, data } of readMessages(body)) {
    yield { ...(id === null ? {} : { id }), ...(event === 'message' ? {} : { event }), data }
  }
}

/** The signal closes the connection, whether or not anybody reads. */
function bodyOf({ body }: Response, signal?: AbortSignal): ReadableStream<Uint8Array> {
  if (body === null) throw new Error('the answer has no body')
  const reader = body.getReader()
  signal?.addEventListener('abort', () => void reader.cancel())
  let tail = ''
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (!done) {
          tail = (tail + Buffer.from(value.subarray(-2)).toString('latin1')).slice(-2)
          controller.enqueue(value)
        } else if (tail === '' || tail === '\n\n' || signal?.aborted) controller.close()
        else controller.error(new Error('the stream ended inside a frame'))
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
