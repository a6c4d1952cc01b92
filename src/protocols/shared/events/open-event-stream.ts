import type { Logger } from '../../../domain/logger.ts'
import type { ByteStream, Reply, Request } from '../../../http/route.ts'
import { PROTOBUF_TYPE, wantsProtobuf } from './accept.ts'
import type { EventEncoder } from './encoder.ts'
import { createProtobufEncoder } from './protobuf-encoder.ts'
import type { Reader } from './protocol-version.ts'
import { createSseEncoder } from './sse-encoder.ts'

/** One reader of events, with its stream open. */
export interface EventReader {
  stream: ByteStream
  encoder: EventEncoder
  /** Aborts when the reader has gone. */
  signal: AbortSignal
  log: Logger
}

/** Answers 200 and opens the stream in the binding that the request asks for. */
export async function openEventStream(request: Request, reply: Reply, reader: Reader): Promise<EventReader> {
  const { signal, log } = request
  if (!wantsProtobuf(request.header('accept'))) {
    return { stream: reply.sse(), encoder: createSseEncoder(reader), signal, log }
  }
  const { encode } = await import('@ag-ui/proto')
  return { stream: reply.stream(PROTOBUF_TYPE), encoder: createProtobufEncoder(encode, reader), signal, log }
}
