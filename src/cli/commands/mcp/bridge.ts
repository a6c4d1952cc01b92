// Carries MCP messages between a host that speaks over a pipe and a server that speaks HTTP. It understands only what it must: which
// requests are open, and the handshake of a legacy client, which it repeats when the server has forgotten the session.

import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { type Clock, sleep } from '../../../domain/clock.ts'

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
  /** How long a message waits for a server that is not there. */
  patienceMs?: number
}

type RequestId = JSONRPCRequest['id']

interface OpenRequest {
  message: JSONRPCRequest
  abort: AbortController
}

const PATIENCE_MS = 20_000
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000
const GOODBYE_MS = 1_000
const MODERN_KEY = 'io.modelcontextprotocol/protocolVersion'

/** Resolves when the host has closed its end. */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const { host, connect, clock, say, patienceMs = PATIENCE_MS } = options
  const open = new Map<RequestId, OpenRequest>()
  /** Open requests that no server has taken yet. They are sent again. */
  const resending = new Set<RequestId>()
  const closed = new AbortController()
  let remote = connect()
  /** What a legacy client said first. Null until then, and for modern clients. */
  let handshake: { initialize: JSONRPCRequest; initialized: JSONRPCMessage | null } | null = null
  let recovering: Promise<boolean> | null = null
  let repeats = 0
  let onRepeated: ((message: JSONRPCMessage) => void) | null = null

  const toHost = (message: JSONRPCMessage) => void host.send(message).catch(() => {})

  function bind(transport: Remote): Remote {
    transport.onmessage = (message) => onAnswer(message, transport)
    transport.onerror = (error) => {
      // A stream could not be opened again: the server was restarted, or is gone.
      if (transport === remote && handshake !== null && isLostStream(error)) void recover()
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
        answerLost(request.message)
        return
      }
      open.delete(message.id)
      if (request.message.method === 'initialize') rememberVersion(message, from)
    }
    toHost(message)
  }

  /** Greets a server that does not know the legacy session any more. False: the host has gone. */
  function recover(): Promise<boolean> {
    recovering ??= tryUntilGreeted().finally(() => {
      recovering = null
    })
    return recovering
  }

  async function tryUntilGreeted(): Promise<boolean> {
    if (handshake === null) return true
    for (const [i, { message }] of [...open.values()].entries()) {
      if (i === 0) say('The connection to the server was lost.')
      if (message.method !== 'initialize' && !resending.has(message.id)) answerLost(message)
    }
    for (let wait = FIRST_WAIT_MS; !closed.signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      const next = bind(connect())
      try {
        await next.start()
        await greet(next, handshake)
        const old = remote
        remote = next
        await old.close()
        say('Connected to the server again.')
        return true
      } catch {
        await next.close()
        await sleep(clock, wait, closed.signal)
      }
    }
    return false
  }

  async function greet(next: Remote, { initialize, initialized }: NonNullable<typeof handshake>): Promise<void> {
    repeats += 1
    const { promise, resolve, reject } = Promise.withResolvers<JSONRPCMessage>()
    onRepeated = resolve
    await next.send(
      { ...initialize, id: `${REPEAT}${repeats}` },
      { onRequestStreamEnd: () => reject(new Error('the server did not answer the handshake')) },
    )
    rememberVersion(await promise, next)
    onRepeated = null
    if (initialized !== null) await next.send(initialized)
  }

  function answerLost(message: JSONRPCRequest): void {
    if (!open.delete(message.id)) return
    toHost({ jsonrpc: '2.0', id: message.id, ...lostAnswer(message) })
  }

  async function deliver(message: JSONRPCMessage): Promise<void> {
    const request = 'method' in message && 'id' in message ? message : null
    const began = clock.mono()
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      const signal = request === null ? undefined : open.get(request.id)?.abort.signal
      if (request !== null && signal === undefined) return
      try {
        await remote.send(message, {
          ...(signal === undefined ? {} : { requestSignal: signal }),
          // The answer broke off. What was asked is in the server's store.
          onRequestStreamEnd: () => request !== null && answerLost(request),
        })
        return
      } catch (error) {
        if (signal?.aborted || closed.signal.aborted) return
        const refusal = refusalIn(error)
        const isAway = refusal === null || refusal === 'not_ready' || refusal === 'shutting_down'
        const isForgotten = refusal === 'session_not_found' && handshake !== null
        const left = patienceMs - (clock.mono() - began)
        if (!(isAway || isForgotten) || left <= 0) {
          if (request !== null && open.delete(request.id)) toHost(errorFor(request, error, isAway))
          return
        }
        // It was not taken, so it can be sent again.
        if (handshake !== null && request?.method !== 'initialize') await recoverBeside(request, left)
        else await connectAnew(Math.min(wait, left))
      }
    }
  }

  /** Recovers without giving up this request. The host may cancel it meanwhile. */
  async function recoverBeside(request: JSONRPCRequest | null, patience: number): Promise<void> {
    if (request !== null) resending.add(request.id)
    await Promise.race([recover(), sleep(clock, patience, closed.signal)])
    if (request !== null) resending.delete(request.id)
  }

  /** The server may come back at another address. */
  async function connectAnew(waitMs: number): Promise<void> {
    await sleep(clock, waitMs, closed.signal)
    const next = bind(connect())
    await next.start()
    remote = next
  }

  host.onmessage = (message: JSONRPCMessage) => {
    if ('method' in message) {
      if ('id' in message) {
        open.set(message.id, { message, abort: new AbortController() })
        if (message.method === 'initialize') handshake = { initialize: message, initialized: null }
      } else if (message.method === 'notifications/initialized' && handshake !== null) {
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
    void deliver(message)
  }
  const gone = new Promise<void>((resolve) => {
    host.onclose = () => resolve()
  })
  bind(remote)
  await remote.start()
  await host.start()
  await gone
  closed.abort()
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
  try {
    return ErrorSchema.parse(JSON.parse(http.data.data.text ?? '')).error
  } catch {
    return { code: -32000, message: `The server answered ${http.data.data.status}.` }
  }
}

/** The code of a server that refused. Null: no server answered. */
function refusalIn(error: unknown): string | null {
  const answer = errorIn(error)
  return answer === null ? null : (answer.data?.code ?? 'other')
}

function errorFor(request: JSONRPCRequest, error: unknown, isAway: boolean): JSONRPCMessage {
  const answer = isAway ? null : errorIn(error)
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
