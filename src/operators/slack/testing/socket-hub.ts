// The server's side of Socket Mode: sockets, envelopes, and what happens to those that nobody acknowledges.

import type { WebSocket } from 'ws'
import type { Clock } from '../../../domain/clock.ts'
import { isRecord } from '../../../domain/is-record.ts'

export type EnvelopeType = 'interactive' | 'slash_commands' | 'events_api'

/** What became of something that a person did. */
export interface Ack {
  envelopeId: string
  /** False: nobody acknowledged it, and Slack gave up. */
  isAcked: boolean
  /** From its first sending to the acknowledgement, in real milliseconds. */
  latencyMs: number
  /** What the acknowledgement said; null if it said nothing. */
  payload: Record<string, unknown> | null
  /** How often it was sent. */
  attempts: number
}

export interface SocketHub {
  /** A client has connected: it gets `hello`, and what waits for a socket. */
  take(socket: WebSocket): void
  deliver(type: EnvelopeType, payload: Record<string, unknown>, acceptsResponse: boolean): Promise<Ack>
  /** Sends again what is not acknowledged, or this one envelope even if it is. */
  redeliver(envelopeId?: string): void
  /** Tells the clients to connect again. */
  disconnect(reason: DisconnectReason): void
  /** Closes every socket hard, without a close frame. */
  drop(): void
  /** The sockets of now stay open, but nothing is read or sent any more. */
  freeze(): void
  /** Sockets that are open and not frozen. */
  readonly count: number
  /** Resolves when at least so many sockets are open. */
  whenOpen(count: number): Promise<void>
  /** Closes the sockets and gives up what waits. */
  close(): void
}

export type DisconnectReason = 'warning' | 'refresh_requested' | 'link_disabled'

interface Envelope {
  id: string
  type: EnvelopeType
  payload: Record<string, unknown>
  acceptsResponse: boolean
  attempts: number
  firstSent: number
  settle(isAcked: boolean, payload: Record<string, unknown> | null): void
  cancelTimer: () => void
}

const ACK_MS = 3_000
const MAX_RETRIES = 3
const PING_MS = 10_000
/** A socket that was told to refresh is closed after this time. */
const REFRESH_MS = 10_000

export function createSocketHub(clock: Clock, newEnvelopeId: () => string, appId: string): SocketHub {
  const sockets = new Set<WebSocket>()
  const frozen = new WeakSet<WebSocket>()
  const waiting = new Map<string, Envelope>()
  /** Acknowledged ones, to send them once more. */
  const done = new Map<string, Envelope>()
  const watchers = new Set<() => void>()
  let turn = 0

  const open = () => [...sockets].filter((socket) => socket.readyState === socket.OPEN)

  function send(envelope: Envelope): void {
    const candidates = open()
    // Slack does not know which sockets are dead. Each try takes the next one.
    const socket = candidates[turn++ % Math.max(candidates.length, 1)]
    if (socket === undefined) return
    const retry = envelope.attempts
    envelope.attempts += 1
    if (envelope.attempts === 1) envelope.firstSent = performance.now()
    if (frozen.has(socket)) return
    const { id, type, payload, acceptsResponse } = envelope
    socket.send(
      JSON.stringify({
        envelope_id: id,
        type,
        payload,
        accepts_response_payload: acceptsResponse,
        ...((type === 'events_api' || retry > 0) && {
          retry_attempt: retry,
          retry_reason: retry > 0 ? 'timeout' : '',
        }),
      }),
    )
  }

  /** Sends it and waits for the acknowledgement; then again, at most three times. */
  function attempt(envelope: Envelope, tries: number): void {
    envelope.cancelTimer()
    send(envelope)
    envelope.cancelTimer = clock.after(ACK_MS, () => {
      if (tries < MAX_RETRIES) attempt(envelope, tries + 1)
      else envelope.settle(false, null)
    })
  }

  function onMessage(text: string): void {
    const message: unknown = JSON.parse(text)
    if (!isRecord(message) || typeof message.envelope_id !== 'string') return
    const { payload } = message
    const said = isRecord(payload) && Object.keys(payload).length > 0 ? payload : null
    waiting.get(message.envelope_id)?.settle(true, said)
  }

  function keepPinging(socket: WebSocket): void {
    clock.after(PING_MS, () => {
      if (socket.readyState !== socket.OPEN) return
      if (!frozen.has(socket)) socket.ping('Ping from Slack')
      keepPinging(socket)
    })
  }

  return {
    take(socket) {
      sockets.add(socket)
      socket.on('close', () => void sockets.delete(socket))
      socket.on('error', () => {})
      socket.on('message', (data) => onMessage(String(data)))
      socket.send(
        JSON.stringify({
          type: 'hello',
          num_connections: sockets.size,
          connection_info: { app_id: appId },
          debug_info: { host: 'stand-in', build_number: 1, approximate_connection_time: 18_060 },
        }),
      )
      keepPinging(socket)
      for (const envelope of waiting.values()) if (envelope.attempts === 0) attempt(envelope, 0)
      // It answers in order: with the pong it has read the hello.
      socket.once('pong', () => {
        for (const look of [...watchers]) look()
      })
      socket.ping()
    },

    deliver: (type, payload, acceptsResponse) =>
      new Promise((resolve) => {
        const id = newEnvelopeId()
        const envelope: Envelope = {
          id,
          type,
          payload,
          acceptsResponse,
          attempts: 0,
          firstSent: performance.now(),
          cancelTimer: () => {},
          settle(isAcked, said) {
            envelope.cancelTimer()
            waiting.delete(id)
            done.set(id, envelope)
            const latencyMs = performance.now() - envelope.firstSent
            resolve({ envelopeId: id, isAcked, latencyMs, payload: said, attempts: envelope.attempts })
          },
        }
        waiting.set(id, envelope)
        attempt(envelope, 0)
      }),

    redeliver(envelopeId) {
      if (envelopeId === undefined) for (const envelope of waiting.values()) send(envelope)
      else {
        const envelope = waiting.get(envelopeId) ?? done.get(envelopeId)
        if (envelope === undefined) throw new Error(`there is no envelope ${envelopeId}`)
        send(envelope)
      }
    },

    disconnect(reason) {
      for (const socket of open()) {
        if (frozen.has(socket)) continue
        socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'stand-in' } }))
        if (reason !== 'warning') clock.after(REFRESH_MS, () => socket.close())
      }
    },

    drop() {
      for (const socket of sockets) socket.terminate()
    },

    freeze() {
      for (const socket of sockets) {
        frozen.add(socket)
        socket.pause()
      }
    },

    get count() {
      return open().filter((socket) => !frozen.has(socket)).length
    },

    whenOpen: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (open().filter((socket) => !frozen.has(socket)).length < count) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
      }),

    close() {
      for (const socket of sockets) socket.terminate()
      for (const envelope of [...waiting.values()]) envelope.settle(false, null)
    },
  }
}
