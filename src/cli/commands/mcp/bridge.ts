// Carries MCP messages between a host that speaks over a pipe and a server that speaks HTTP. It understands only what it must: which
// requests are open, and the handshake of a legacy client, which it repeats when the server has forgotten the session.
//
// Every request is answered. One that no server has taken is sent again. A tool call whose answer is lost may have had its effect, so it
// is not sent again by itself: the model reads that it can ask again. All other requests only read, and are sent again.

import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { abortAfter } from '../../../domain/abort.ts'
import { type Clock, sleep } from '../../../domain/clock.ts'
import { jsonIn } from '../../../domain/json-in.ts'

export interface Remote extends Transport {
  /** Ends the session at the server, if it has one. */
  terminateSession(): Promise<void>
}

export interface BridgeOptions {
  host: Transport
  /** A new connection to the server, not started yet. */
  connect: () => Remote
  clock: Clock
  /** For the person who reads the host's log. */
  say: (text: string) => void
  /** How long a message waits for a server that is not there. A tool call waits at most `CALL_PATIENCE_MS`. */
  patienceMs?: number
}

type RequestId = JSONRPCRequest['id']

interface OpenRequest {
  message: JSONRPCRequest
  abort: AbortController
  /** When the host sent it, and how long it may take until a server has it. */
  began: number
  patienceMs: number
  /** The connection that brings the answer. Null: no server has taken it yet. */
  via: Remote | null
}

const PATIENCE_MS = 20_000
/** A call must not hang: whoever looks at the host sees nothing of it. */
const CALL_PATIENCE_MS = 4_000
const HANDSHAKE_MS = 4_000
/** A line that is slower than this is taken for a server that does not answer. */
const SLOWEST_BYTES_PER_MS = 50
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 1_000
const GOODBYE_MS = 1_000
const MODERN_KEY = 'io.modelcontextprotocol/protocolVersion'

/**
 * How the transport comes back to a stream that broke. With the longest time for an answer this is less than 5 s, because calls wait
 * for it.
 */
export const RECONNECTION = {
  initialReconnectionDelay: 250,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
} as const
const RESUME_MS = 1_000

/** For the transport: a server that takes the request for a broken stream and says nothing is not there. */
export const fetchForBridge =
  (clock: Clock): typeof fetch =>
  async (url, init) => {
    if (!new Headers(init?.headers).has('last-event-id')) return await fetch(url, init)
    using late = abortAfter(clock, RESUME_MS, { reason: () => new Error('the server did not answer in time') })
    const signals = init?.signal ? [init.signal, late.signal] : [late.signal]
    return await fetch(url, { ...init, signal: AbortSignal.any(signals) })
  }

/** Resolves when the host has closed its end. */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const { host, connect, clock, say, patienceMs = PATIENCE_MS } = options
  const open = new Map<RequestId, OpenRequest>()
  const closed = new AbortController()
  let remote = connect()
  /** What a legacy client said first. Null until then, and for modern clients. */
  let handshake: { initialize: JSONRPCRequest; initialized: JSONRPCMessage | null } | null = null
  let recovering: Promise<void> | null = null
  let repeats = 0
  let onRepeated: ((message: JSONRPCMessage) => void) | null = null

  const toHost = (message: JSONRPCMessage) => void host.send(message).catch(() => {})
  /** The handshake is over, so it can be repeated. */
  const isGreeted = () => handshake !== null && !open.has(handshake.initialize.id)

  function bind(transport: Remote): Remote {
    transport.onmessage = (message) => onAnswer(message, transport)
    transport.onerror = (error) => {
      // A stream could not be opened again: the server was restarted, or is gone.
      if (transport === remote && isGreeted() && isLostStream(error)) void recover()
    }
    return transport
  }

  function onAnswer(message: JSONRPCMessage, from: Remote): void {
    if ('id' in message && !('method' in message) && message.id !== undefined) {
      if (String(message.id).startsWith(REPEAT)) {
        onRepeated?.(message)
        return
      }
      const request = open.get(message.id)
      // An answer that came twice, or after a cancel.
      if (request === undefined) return
      if (wasInterrupted(message)) {
        lose(request)
        return
      }
      open.delete(message.id)
      if (request.message.method === 'initialize') rememberVersion(message, from)
    }
    toHost(message)
  }

  /** Greets a server that does not know the legacy session any more. Meanwhile the old connection takes nothing: it will be closed. */
  function recover(): Promise<void> {
    recovering ??= tryUntilGreeted().finally(() => {
      recovering = null
    })
    return recovering
  }

  async function tryUntilGreeted(): Promise<void> {
    if (handshake === null) return
    const cut = [...open.values()].filter(({ via }) => via === remote)
    if (cut.length > 0) say('The connection to the server was lost.')
    for (const request of cut) lose(request)
    for (let wait = FIRST_WAIT_MS; !closed.signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      const next = bind(connect())
      try {
        await next.start()
        if (!(await within(greet(next, handshake), HANDSHAKE_MS))) throw new Error('the server does not answer')
        const old = remote
        remote = next
        await old.close()
        say('Connected to the server again.')
        return
      } catch {
        await next.close()
        await sleep(clock, wait, closed.signal)
      }
    }
  }

  async function greet(to: Remote, { initialize, initialized }: NonNullable<typeof handshake>): Promise<void> {
    repeats += 1
    const { promise, resolve, reject } = Promise.withResolvers<JSONRPCMessage>()
    onRepeated = resolve
    await to.send(
      { ...initialize, id: `${REPEAT}${repeats}` },
      { onRequestStreamEnd: () => reject(new Error('the server did not answer the handshake')) },
    )
    rememberVersion(await promise, to)
    onRepeated = null
    if (initialized !== null) await to.send(initialized)
  }

  /** False: it took longer, or the host has gone. */
  async function within(work: Promise<void>, ms: number): Promise<boolean> {
    const isOver = new AbortController()
    const limit = sleep(clock, ms, AbortSignal.any([isOver.signal, closed.signal])).then(() => false)
    return await Promise.race([work.then(() => true), limit]).finally(() => isOver.abort())
  }

  /** The answer will not come. */
  function lose(request: OpenRequest): void {
    if (open.get(request.message.id) !== request) return
    request.via = null
    if (request.message.method === 'tools/call') giveUp(request)
    else void sleep(clock, FIRST_WAIT_MS, closed.signal).then(() => deliver(request.message, request))
  }

  function giveUp(request: OpenRequest | null, error: unknown = null): void {
    if (request !== null && open.delete(request.message.id)) toHost(errorFor(request.message, error))
  }

  /** `request`: the message again, if the host waits for its answer. */
  async function deliver(message: JSONRPCMessage, request: OpenRequest | null): Promise<void> {
    const began = request?.began ?? clock.mono()
    const patience = request?.patienceMs ?? patienceMs
    let refused: unknown = null
    for (let wait = FIRST_WAIT_MS; !closed.signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      // The host may have cancelled it.
      if (request !== null && open.get(request.message.id) !== request) return
      const left = patience - (clock.mono() - began)
      if (left <= 0) return giveUp(request, refused)
      if (recovering !== null && isGreeted()) {
        await within(recovering, left)
        continue
      }
      const via = remote
      if (request !== null) request.via = via
      try {
        const sent = via.send(message, {
          ...(request === null ? {} : { requestSignal: request.abort.signal }),
          onRequestStreamEnd: () => request !== null && lose(request),
        })
        if (await within(sent, left)) return
        // Somebody accepts connections and does not answer.
        request?.abort.abort()
        return giveUp(request)
      } catch (error) {
        if (request?.abort.signal.aborted) return
        const refusal = refusalIn(error)
        const mayBeDone = refusal === null && !neverArrived(error) && request?.message.method === 'tools/call'
        const isAway = refusal === null || refusal === 'not_ready' || refusal === 'shutting_down'
        const isForgotten = refusal === 'session_not_found' && handshake !== null
        if (mayBeDone || !(isAway || isForgotten)) return giveUp(request, error)
        // It was not taken, so it can be sent again.
        if (request !== null) request.via = null
        refused = isAway ? null : error
        if (via !== remote) continue
        if (isGreeted()) await within(recover(), left)
        else await connectAnew(Math.min(wait, left))
      }
    }
  }

  /** The server may come back at another address. */
  async function connectAnew(waitMs: number): Promise<void> {
    await sleep(clock, waitMs, closed.signal)
    const anew = bind(connect())
    await anew.start()
    remote = anew
  }

  /** Takes note of a request. Null: the host waits for no answer. */
  function noteRequest(message: JSONRPCMessage): OpenRequest | null {
    if (!('method' in message && 'id' in message)) return null
    const limit = message.method === 'tools/call' ? Math.min(CALL_PATIENCE_MS, patienceMs) : patienceMs
    const request = {
      message,
      abort: new AbortController(),
      began: clock.mono(),
      patienceMs: limit + JSON.stringify(message).length / SLOWEST_BYTES_PER_MS,
      via: null,
    }
    open.set(message.id, request)
    if (message.method === 'initialize') handshake = { initialize: message, initialized: null }
    return request
  }

  host.onmessage = (message: JSONRPCMessage) => {
    const request = noteRequest(message)
    if (request === null && 'method' in message) {
      if (message.method === 'notifications/initialized' && handshake !== null) {
        handshake.initialized = message
      } else if (message.method === 'notifications/cancelled') {
        const cancelled = open.get(CancelSchema.safeParse(message.params).data?.requestId ?? '')
        if (cancelled !== undefined) {
          open.delete(cancelled.message.id)
          // A modern server takes a closed stream for the cancel, and knows no other.
          if (isModern(cancelled.message)) {
            cancelled.abort.abort()
            return
          }
        }
      }
    }
    void deliver(message, request)
  }
  const gone = new Promise<void>((resolve) => {
    host.onclose = () => resolve()
  })
  bind(remote)
  await remote.start()
  await host.start()
  await gone
  closed.abort()
  for (const { abort } of open.values()) abort.abort()
  await Promise.race([remote.terminateSession().catch(() => {}), sleep(clock, GOODBYE_MS)])
  await remote.close()
}

const REPEAT = 'quarterdeck-repeat-'
const CancelSchema = z.object({ requestId: z.union([z.string(), z.number()]) })
const VersionSchema = z.object({ result: z.object({ protocolVersion: z.string() }) })
const ErrorSchema = z.object({
  error: z.object({
    code: z.int(),
    message: z.string(),
    data: z.looseObject({ code: z.string() }).optional().catch(undefined),
  }),
})
const HttpErrorSchema = z.object({ data: z.object({ status: z.int(), text: z.string().nullish() }) })

/** The words are the SDK's. */
const isLostStream = (error: Error): boolean =>
  error.message.startsWith('Maximum reconnection attempts') ||
  (error.message.startsWith('Failed to open SSE stream') && HttpErrorSchema.safeParse(error).data?.data.status === 404)

/** The server was restarted and knows the session, but not the answer. */
const wasInterrupted = (message: JSONRPCMessage): boolean =>
  ErrorSchema.safeParse(message).data?.error.data?.code === 'interrupted'

const isModern = ({ params }: JSONRPCRequest): boolean => params?._meta?.[MODERN_KEY] !== undefined

function rememberVersion(message: JSONRPCMessage, transport: Remote): void {
  const parsed = VersionSchema.safeParse(message)
  if (parsed.success) transport.setProtocolVersion?.(parsed.data.result.protocolVersion)
}

/** What the server says in an answer that is not 200. */
function errorIn(error: unknown): { code: number; message: string; data?: { code: string } | undefined } | null {
  const http = HttpErrorSchema.safeParse(error)
  if (!http.success) return null
  const { status, text } = http.data.data
  const said = ErrorSchema.safeParse(jsonIn(text ?? '')).data?.error
  return said ?? { code: -32000, message: `The server answered ${status}.` }
}

const CauseSchema = z.object({ cause: z.object({ code: z.string() }) })
const NOBODY_THERE = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** There was no connection, so no server has seen the message. */
const neverArrived = (error: unknown): boolean => NOBODY_THERE.test(CauseSchema.safeParse(error).data?.cause.code ?? '')

/** The code of a server that refused. Null: no server answered. */
function refusalIn(error: unknown): string | null {
  const answer = errorIn(error)
  return answer === null ? null : (answer.data?.code ?? 'other')
}

/** Null, or an error without an answer of the server: the answer is lost. */
function errorFor(request: JSONRPCRequest, error: unknown): JSONRPCMessage {
  const answer = error === null ? null : errorIn(error)
  if (answer === null) return { jsonrpc: '2.0', id: request.id, ...lostAnswer(request) }
  const { code, message, data } = answer
  return { jsonrpc: '2.0', id: request.id, error: { code, message, ...(data === undefined ? {} : { data }) } }
}

/** A tool's result, because models read results and hosts show errors to nobody. */
function lostAnswer(request: JSONRPCRequest) {
  const message =
    'The connection to Quarterdeck was lost before the answer came. Nothing is lost: what you asked is kept. ' +
    'Call the same tool again with the same content, or with the id that you were given.'
  if (request.method !== 'tools/call') return { error: { code: -32000, message } }
  const structuredContent = { status: 'error', error_code: 'operator_unreachable', error_message: message }
  return {
    result: {
      ...(isModern(request) ? { resultType: 'complete' } : {}),
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
      isError: true,
    },
  }
}
