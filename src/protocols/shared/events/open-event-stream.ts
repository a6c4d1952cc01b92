import type { Logger } from '../../../domain/logger.ts'
import type { ByteStream, Reply, Request } from '../../../http/route.ts'
import type { Reader } from './encode-events.ts'
import { createProtobufEncoder, createSseEncoder, type EventEncoder } from './encode-events.ts'

/** One reader of events and its open stream. */
export interface EventReader {
  stream: ByteStream
  encoder: EventEncoder
  /** Aborts when the reader disconnects. */
  signal: AbortSignal
  log: Logger
}

/** Answers 200 and opens the stream in the format that the request asks for. */
export async function openEventStream(request: Request, reply: Reply, reader: Reader): Promise<EventReader> {
  const { signal, log } = request
  if (!wantsProtobuf(request.header('accept'))) {
    return { stream: reply.sse(), encoder: createSseEncoder(reader), signal, log }
  }
  const { encode } = await import('@ag-ui/proto')
  return { stream: reply.stream(PROTOBUF_TYPE), encoder: createProtobufEncoder(encode, reader), signal, log }
}

/** The media type of AG-UI's binary format. With a parameter after it, clients would read the stream as SSE. */
export const PROTOBUF_TYPE = 'application/vnd.ag-ui.event+proto'

/**
 * Whether an Accept header asks for protobuf by name, with q > 0. A wildcard does not count: curl and browsers send it, and their users
 * want readable text.
 */
export function wantsProtobuf(accept: string | undefined): boolean {
  if (accept === undefined) return false
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === PROTOBUF_TYPE && quality(parameters) > 0
  })
}

function quality(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => /^q\s*=/.test(parameter))
  if (q === undefined) return 1
  const value = Number(q.slice(q.indexOf('=') + 1))
  return Number.isNaN(value) ? 1 : value
}
