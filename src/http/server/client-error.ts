// Answers to what node refuses before there is a request: invalid HTTP, oversized headers, timeouts. Node's own answers have no body.

import type { Duplex } from 'node:stream'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { type Problem, problemHeaders, problemOf } from '../problem.ts'

// Not imported: as an ES module node:http loads all of undici (see server.ts).
const { STATUS_CODES } = process.getBuiltinModule('node:http')

const TLS_HANDSHAKE = 0x16
const CLOSE_AFTER_MS = 500

/** The error to answer node's `clientError` with. Null if nobody is left to answer. */
export function refusalOf(error: Error & { code?: string; rawPacket?: Buffer }): ServerError | null {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ServerError('header_too_large', 'The request line and headers are too large.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ServerError('request_timeout', 'The request did not arrive in time; send it again.')
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ServerError('body_too_large', 'The chunk extensions of the body are too large.')
    default:
      if (!error.code?.startsWith('HPE_') || error.code === 'HPE_INVALID_EOF_STATE') return null
      return new ServerError(
        'invalid_request',
        error.rawPacket?.[0] === TLS_HANDSHAKE
          ? 'This port speaks plain HTTP; use http:// instead of https://.'
          : `The request is not valid HTTP/1.1 (${error.code}).`,
      )
  }
}

/** Writes the problem to a connection that has no response object, and closes it. */
export function answerRaw(socket: Duplex, error: ServerError, correlationId: string, clock: Clock): Problem {
  const problem = problemOf(error, { path: null, correlationId })
  const body = JSON.stringify(problem)
  const headers = {
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Correlation-ID': correlationId,
    ...problemHeaders(problem),
    Connection: 'close',
  }
  // Node removes its own error listener from a connection that it hands over. Without a listener a reset would end the process.
  socket.on('error', () => {})
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`)
  // Not at once: while the client is still sending, a reset would overtake the answer.
  const cancel = clock.after(CLOSE_AFTER_MS, () => socket.destroy())
  socket.once('close', cancel)
  return problem
}
