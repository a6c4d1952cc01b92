// Connections to model servers: one exchange at a time on each, kept open for the next one.

import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { Clock } from '../../domain/clock.ts'
import type { AnswerHead } from './answer-head.ts'
import { createResponseReader, type Progress, type ResponseReader } from './response-reader.ts'
import { readTarget, type Target } from './target.ts'

// Loaded when the first request is made: an agent that needs no model server needs neither.
const net = () => process.getBuiltinModule('node:net')
const tls = () => process.getBuiltinModule('node:tls')
const http = () => process.getBuiltinModule('node:http')

export interface ExchangeRequest {
  method: 'GET' | 'POST'
  /** http: or https:, with what it says about user and password. */
  url: string
  /** With names in small letters. `host`, `content-length` and `connection` are added. */
  headers: Readonly<Record<string, string>>
  body?: string
}

/** Called in this order; nothing after `end` or `failed`. */
export interface ExchangeHandlers {
  head(head: AnswerHead): void
  /** To be read during the call: the memory is used again. */
  body(bytes: Buffer): void
  end(): void
  failed(error: NodeJS.ErrnoException): void
}

export interface Exchange {
  /** A few bytes may still come. */
  pause(): void
  resume(): void
  /** Closes the connection, unless the exchange is over. Nothing is called any more. */
  destroy(): void
}

export interface ConnectionPool {
  /** Never calls back before it returns. Throws for an address or a header that cannot be sent, and after `close`. */
  send(request: ExchangeRequest, handlers: ExchangeHandlers): Exchange
  /** What is under way fails. */
  close(): void
}

interface Connection {
  readonly socket: Socket
  readonly origin: Origin
  current: Current | null
  /** The server has said that it closes it then. */
  expiresAt: number
  used: boolean
}

interface Current {
  reader: ResponseReader
  /** A byte of the answer has come, so the server has read the question. */
  isAnswered: boolean
  /** How long the server keeps the connection after this answer. */
  keptMs: number
  end(): void
  failed(error: NodeJS.ErrnoException): void
}

interface Origin {
  /** The one that served last is taken first, so that a quiet pool can shrink. */
  idle: Connection[]
  /** To resume instead of a full handshake. */
  tlsSession: Buffer | null
}

const MAX_IDLE = 256
const READ_BYTES = 64 * 1024
/** The server counts from an earlier moment than we. */
const EARLIER_MS = 1_000
const PROBE_AFTER_MS = 1_000

export function createConnectionPool({ clock }: { clock: Clock }): ConnectionPool {
  const origins = new Map<string, Origin>()
  const open = new Set<Connection>()
  // All connections read into the same memory: nothing of it is kept beyond the call that reads it.
  let memory: Buffer | null = null
  let isClosed = false

  function originOf({ key }: Target): Origin {
    let origin = origins.get(key)
    if (origin === undefined) {
      origin = { idle: [], tlsSession: null }
      origins.set(key, origin)
    }
    return origin
  }

  function take(target: Target): Connection {
    const origin = originOf(target)
    for (let found = origin.idle.pop(); found !== undefined; found = origin.idle.pop()) {
      if (!found.socket.destroyed && found.socket.writable && clock.mono() < found.expiresAt) {
        found.socket.ref()
        found.used = true
        return found
      }
      found.socket.destroy()
    }
    return connect(target, origin)
  }

  function connect({ host, port, secure }: Target, origin: Origin): Connection {
    memory ??= Buffer.allocUnsafeSlow(READ_BYTES)
    const shared = memory
    const onread = {
      buffer: shared,
      callback(size: number): boolean {
        receive(connection, shared.subarray(0, size))
        return true
      },
    }
    // TLS takes `onread` as well; its types do not say so.
    const address = { host, port, onread }
    const socket = secure ? tls().connect({ ...address, ...tlsOptions(host, origin) }) : net().connect(address)
    const connection: Connection = { socket, origin, current: null, expiresAt: Number.POSITIVE_INFINITY, used: false }
    socket.setNoDelay(true)
    socket.setKeepAlive(true, PROBE_AFTER_MS)
    socket.on('session', (ticket: Buffer) => {
      origin.tlsSession = ticket
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A ticket that is not liked must not be tried for ever.
      origin.tlsSession = null
      drop(connection, error)
    })
    socket.on('end', () => {
      try {
        connection.current?.reader.close()
      } catch {
        return drop(connection, hangUp())
      }
      finish(connection, false)
    })
    socket.on('close', () => {
      if (open.has(connection)) drop(connection, hangUp())
    })
    open.add(connection)
    return connection
  }

  function receive(connection: Connection, bytes: Buffer): void {
    const { current } = connection
    let progress: Progress = 'last'
    try {
      // What nobody has asked for belongs to no answer.
      if (current !== null) {
        current.isAnswered = true
        progress = current.reader.push(bytes)
      }
    } catch (error) {
      drop(connection, error instanceof Error ? error : new Error(String(error)))
      return
    }
    // One of the handlers may have ended it.
    if (progress !== 'open' && connection.current === current) finish(connection, progress === 'reusable')
  }

  function finish(connection: Connection, reusable: boolean): void {
    const { socket, origin, current } = connection
    connection.current = null
    // An answer that came before the question was sent whole is one that the server gave up on.
    if (reusable && socket.writableLength === 0 && origin.idle.length < MAX_IDLE) {
      connection.expiresAt = clock.mono() + (current?.keptMs ?? 0)
      origin.idle.push(connection)
      socket.resume()
      socket.unref()
    } else {
      forget(connection)
    }
    current?.end()
  }

  function drop(connection: Connection, error: NodeJS.ErrnoException): void {
    const { current } = connection
    connection.current = null
    forget(connection)
    current?.failed(error)
  }

  function forget(connection: Connection): void {
    if (!open.delete(connection)) return
    const { idle } = connection.origin
    const place = idle.indexOf(connection)
    if (place >= 0) idle.splice(place, 1)
    connection.socket.destroy()
  }

  return {
    send(request, handlers) {
      if (isClosed) throw new Error('The connections to model servers are closed.')
      const target = readTarget(request.url)
      const text = textOf(request, target)
      let connection = take(target)
      let current = begin(connection, connection.used)

      function begin({ socket }: Connection, isStale: boolean): Current {
        const begun: Current = {
          reader: createResponseReader({
            head(head) {
              begun.keptMs = keptMs(head)
              handlers.head(head)
            },
            body(bytes) {
              if (connection.current === begun) handlers.body(bytes)
            },
          }),
          isAnswered: false,
          keptMs: 0,
          end: handlers.end,
          failed(error) {
            // The server may close an idle connection in the moment we use it again. That is nobody's failure.
            if (isStale && !begun.isAnswered && !isClosed && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) {
              connection = connect(target, originOf(target))
              current = begin(connection, false)
            } else {
              handlers.failed(error)
            }
          },
        }
        connection.current = begun
        socket.write(text)
        return begun
      }

      const isOver = (): boolean => connection.current !== current
      return {
        pause: () => void (isOver() || connection.socket.pause()),
        resume: () => void (isOver() || connection.socket.resume()),
        destroy() {
          if (isOver()) return
          connection.current = null
          forget(connection)
        },
      }
    },
    close() {
      isClosed = true
      for (const connection of [...open]) drop(connection, hangUp())
      origins.clear()
    },
  }
}

function tlsOptions(host: string, { tlsSession }: Origin): ConnectionOptions {
  return {
    ALPNProtocols: ['http/1.1'],
    ...(net().isIP(host) === 0 ? { servername: host } : {}),
    ...(tlsSession === null ? {} : { session: tlsSession }),
  }
}

function textOf({ method, headers, body }: ExchangeRequest, { path, hostHeader, authorization }: Target): string {
  const { validateHeaderName, validateHeaderValue } = http()
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${hostHeader}\r\n`
  if (authorization !== null && headers.authorization === undefined) text += `authorization: ${authorization}\r\n`
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    text += `${name}: ${value}\r\n`
  }
  if (body !== undefined) text += `content-length: ${Buffer.byteLength(body)}\r\n`
  return `${text}connection: keep-alive\r\n\r\n${body ?? ''}`
}

function keptMs({ headers }: AnswerHead): number {
  const seconds = /\btimeout=(\d{1,9})\b/i.exec(headers['keep-alive'] ?? '')?.[1]
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000 - EARLIER_MS
}

const hangUp = (): NodeJS.ErrnoException => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
