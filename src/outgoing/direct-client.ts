// Requests on connections that lead to the server itself, one at a time on each. undici makes the connections. The answers are read here,
// without streams and into one buffer for all sockets: a model's stream costs a quarter less than with undici's client (bench/PROFILE.md).

import type { OnReadOpts, Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { type AnswerHandler, AnswerReader, type Controller, HEADER_NAME } from './answer-reader.ts'
import { unsendable } from './connection-failure.ts'

export interface StreamRequest {
  origin: string
  path: string
  method: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  /** Sent with a POST only. */
  body: string
}

/** The same options as undici's. */
type KeepAlive = { keepAliveTimeout: number; keepAliveMaxTimeout: number; keepAliveTimeoutThreshold: number }

const READ_BYTES = 64 * 1024
const NOT_HEADER_VALUE = /[^\t -~\x80-\xff]/
/** We send these ourselves, or not at all. */
const NOT_GIVEN: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'expect',
])

export class DirectClient {
  readonly #connect: buildConnector.connector
  readonly #keepAlive: KeepAlive
  readonly #open = new Set<Connection>()
  /** By origin. The connection that served last is taken first, so that those nobody needs expire. */
  readonly #idle = new Map<string, Connection[]>()
  #isClosed = false

  constructor(connectorWith: (onread: OnReadOpts) => buildConnector.connector, keepAlive: KeepAlive) {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
    this.#connect = connectorWith({
      buffer,
      callback(this: Socket & { connection?: Connection }, size) {
        this.connection?.receive(buffer, size)
        return true
      },
    })
    this.#keepAlive = keepAlive
  }

  dispatch(request: StreamRequest, handler: AnswerHandler): void {
    const refused = this.#isClosed ? hangUp() : unsendableHeader(request.headers)
    if (refused !== null) {
      handler.onResponseError(null, refused)
      return
    }
    const kept = this.#idle.get(request.origin)?.pop()
    if (kept === undefined) {
      this.#dispatchOnNew(request, handler)
      return
    }
    // Its end, or bytes that nobody asked for, may already be here. They are read before we write, so they cannot pass for the answer.
    setImmediate(() => {
      if (kept.isOpen) kept.send(request, handler)
      else this.dispatch(request, handler)
    })
  }

  #dispatchOnNew(request: StreamRequest, handler: AnswerHandler): void {
    const { host, hostname, protocol, port } = new URL(request.origin)
    this.#connect({ host, hostname: hostname.replace(/[[\]]/g, ''), protocol, port }, (...[error, socket]) => {
      if (error !== null) {
        handler.onResponseError(null, this.#isClosed ? hangUp() : error)
        return
      }
      const idle = this.#idle.get(request.origin) ?? []
      this.#idle.set(request.origin, idle)
      new Connection(socket, idle, this.#open, this.#keepAlive).send(request, handler)
    })
  }

  /** Fails the requests that are under way. */
  async destroy(): Promise<void> {
    this.#isClosed = true
    for (const connection of this.#open) connection.abort(hangUp())
  }
}

class Connection implements Controller {
  readonly #socket: Socket
  readonly #idle: Connection[]
  readonly #open: Set<Connection>
  readonly #keepAlive: KeepAlive
  #handler: AnswerHandler | null = null
  #reader: AnswerReader | null = null
  #isUsed = false
  #expiry: NodeJS.Timeout | undefined

  constructor(socket: Socket, idle: Connection[], open: Set<Connection>, keepAlive: KeepAlive) {
    this.#socket = Object.assign(socket, { connection: this })
    this.#idle = idle
    this.#open = open.add(this)
    this.#keepAlive = keepAlive
    socket.on('error', (error) => this.abort(error))
    socket.on('end', () => {
      if (this.#reader?.close()) this.#finish(this.#reader)
      else this.abort(hangUp())
    })
    socket.on('close', () => this.abort(hangUp()))
  }

  get isOpen(): boolean {
    return this.#open.has(this)
  }

  send({ method, path, origin, headers, body }: StreamRequest, handler: AnswerHandler): void {
    clearTimeout(this.#expiry)
    this.#socket.ref()
    this.#handler = handler
    this.#reader = new AnswerReader(handler, this)
    handler.isReused = this.#isUsed
    this.#isUsed = true
    handler.onRequestStart(this)
    if (this.#handler === null) return
    const { host = origin.slice(origin.indexOf('//') + 2), connection = 'keep-alive', ...others } = headers
    let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}\r\n`
    for (const name in others) head += `${name}: ${others[name]}\r\n`
    if (method === 'POST') head += `content-length: ${Buffer.byteLength(body)}\r\n`
    this.#socket.cork()
    this.#socket.write(`${head}\r\n`, 'latin1')
    if (method === 'POST') this.#socket.write(body)
    this.#socket.uncork()
  }

  receive(buffer: Buffer, size: number): void {
    const reader = this.#reader
    this.#handler?.onResponseStarted()
    try {
      if (reader === null) throw new Error('Nobody asked for these bytes.')
      reader.push(buffer, size)
      if (reader.isOver && this.#reader === reader) this.#finish(reader)
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #finish({ isReusable, keptMs }: AnswerReader): void {
    const { keepAliveTimeout, keepAliveMaxTimeout, keepAliveTimeoutThreshold } = this.#keepAlive
    const handler = this.#handler
    this.#handler = null
    this.#reader = null
    const ms = keptMs === null ? keepAliveTimeout : Math.min(keptMs - keepAliveTimeoutThreshold, keepAliveMaxTimeout)
    // A server that answers before it has read the whole request may ignore the rest of it.
    if (isReusable && ms > 0 && this.#socket.writableLength === 0) {
      // One turn later, so that a server that closes it or sends more, in spite of what it said, is noticed first.
      setImmediate(() => void (this.isOpen && this.#idle.push(this)))
      this.#expiry = setTimeout(() => this.abort(hangUp()), ms).unref()
      this.#socket.unref()
      if (this.#socket.isPaused()) this.#socket.resume()
    } else this.abort(hangUp())
    handler?.onResponseEnd()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Closes the connection. */
  abort(reason: Error): void {
    if (!this.#open.delete(this)) return
    const handler = this.#handler
    this.#handler = null
    this.#reader = null
    clearTimeout(this.#expiry)
    const place = this.#idle.indexOf(this)
    if (place >= 0) this.#idle.splice(place, 1)
    this.#socket.destroy()
    handler?.onResponseError(this, reason)
  }
}

function unsendableHeader(headers: StreamRequest['headers']): Error | null {
  for (const name in headers) {
    if (NOT_GIVEN.has(name) || !HEADER_NAME.test(name) || NOT_HEADER_VALUE.test(headers[name] ?? ''))
      return unsendable(`invalid ${name} header`)
  }
  return null
}

const hangUp = (): Error => Object.assign(new Error('other side closed'), { code: 'ECONNRESET' })
