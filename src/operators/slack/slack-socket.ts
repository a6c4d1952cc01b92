// The connection on which Slack tells us what people do. Slack closes it now and then, so it is opened again and again.

import type { SocketModeClient as Client, Logger as SlackLogger, SocketModeDispatcher } from '@slack/socket-mode'
import { SocketModeClient } from '@slack/socket-mode'
import type { WebClientOptions } from '@slack/web-api'
import { within } from '../../domain/abort.ts'
import { type Clock, sleep } from '../../domain/clock.ts'
import { isRecord } from '../../domain/is-record.ts'
import { jsonIn } from '../../domain/json-in.ts'
import type { Logger } from '../../domain/logger.ts'
import type { SlackAnswers } from './slack-api.ts'
import { failureOf, kindOf } from './slack-failure.ts'

export type SocketState =
  | { type: 'connected' }
  /** `since`: epoch ms. */
  | { type: 'connecting'; since: number }
  /** Slack does not take the app token. `reason` is Slack's name for it. */
  | { type: 'refused'; reason: string; since: number }

interface SocketDeps {
  appToken: string
  /** For the call that asks where to connect. */
  clientOptions: Pick<WebClientOptions, 'slackApiUrl' | 'fetch'>
  /** Null: no proxy stands between. */
  dispatcher: SocketModeDispatcher | null
  answers: SlackAnswers
  onState(state: SocketState): void
  /** A connection without an answer to its pings is dead after about this time and a half. */
  pingMs: number
  clock: Clock
  /** From 0 to 1, so that many servers do not come back at the same moment. */
  random: () => number
  libraryLogger: SlackLogger
  logger: Logger
}

const START_MS = 10_000
const CALL_MS = 10_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000
/** A connection that lived for less counts as a failure, so that a service in trouble is not called all the time. */
const SHORT_LIFE_MS = 5_000
/** Handlers that run at the same time. More are not acknowledged, and Slack sends them again. */
const MOST_HANDLERS = 256
/** Slack sends nothing again after an hour or so. Far fewer come in this time. */
const REMEMBERED = 2_000
const CLOSE_MS = 2_000

export function createSlackSocket(deps: SocketDeps) {
  const { clock, random, logger, onState } = deps
  const closing = new AbortController()
  const take = createIntake(deps)
  let state: SocketState = { type: 'connecting', since: clock.now() }
  /** Also those that are closing: each keeps the process alive until it is closed. */
  const connections = new Set<Connection>()
  let running: Promise<void> | null = null
  let closed: Promise<void> | null = null

  function become(next: SocketState): void {
    state = next
    onState(next)
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!closing.signal.aborted) {
      const connection = openConnection(deps, take.envelope)
      connections.add(connection)
      void connection.closed.then(() => connections.delete(connection))
      const failure = await connection.started
      if (closing.signal.aborted) break
      let retryAfterMs = 0
      if (failure === null) {
        const from = clock.mono()
        become({ type: 'connected' })
        const isRefresh = await connection.ended
        if (closing.signal.aborted) break
        become({ type: 'connecting', since: clock.now() })
        failures = clock.mono() - from < SHORT_LIFE_MS ? failures + 1 : 0
        // Whatever people do meanwhile waits for the new connection.
        if (isRefresh && failures === 1) continue
      } else {
        failures += 1
        const { error, retryAfterMs: asked } = failure
        retryAfterMs = asked
        const isRefused = !['no_answer', 'rate'].includes(kindOf(failure))
        if (isRefused && error !== null) become({ type: 'refused', reason: error, since: clock.now() })
        logger.debug('no connection to Slack', { error: failure })
      }
      if (failures > 0) await sleep(clock, Math.max(delayAfter(failures, random()), retryAfterMs), closing.signal)
    }
  }

  return {
    get state(): SocketState {
      return state
    },
    /** Connects in the background, and again whenever the connection is lost. */
    start(): void {
      if (running !== null) return
      onState(state)
      running = run()
    },
    close(): Promise<void> {
      closing.abort()
      for (const connection of connections) connection.end()
      closed ??= take.settled()
      return closed
    },
  }
}

export type SlackSocket = ReturnType<typeof createSlackSocket>

/** 1, 2, 4, … 30 seconds, each up to a quarter shorter. */
const delayAfter = (failures: number, random: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10), LONGEST_RETRY_MS) * (1 - random / 4)

/** One connection has a client of its own: what an old client still does cannot disturb the new one. */
function openConnection(deps: SocketDeps, onEnvelope: (envelope: unknown) => void) {
  const { appToken, clientOptions, dispatcher, clock, libraryLogger } = deps
  const client: Client = new SocketModeClient({
    appToken,
    // Its own reconnecting has no upper limit for its pauses, and may end the process with an unhandled rejection.
    autoReconnectEnabled: false,
    clientPingTimeout: deps.pingMs,
    logger: libraryLogger,
    clientOptions: {
      ...clientOptions,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      timeout: CALL_MS,
    },
    ...(dispatcher === null ? {} : { dispatcher }),
  })
  /** Resolves when it is gone (false), or when Slack asks for a new one (true). */
  const ended = Promise.withResolvers<boolean>()
  /** Resolves when nothing is left of it. */
  const closed = Promise.withResolvers<void>()
  client.on('slack_event', onEnvelope)
  client.on('disconnected', () => {
    ended.resolve(false)
    closed.resolve()
  })
  // The client closes this connection then. The next one is opened without waiting for that.
  client.on('ws_message', (data: unknown) => {
    if (typeof data === 'string' && data.length < 1_000 && isGoodbye(data)) ended.resolve(true)
  })

  function end(): void {
    ended.resolve(false)
    // The second call does not wait until the other side has said goodbye too.
    void client.disconnect().catch(() => {})
    void client.disconnect().catch(() => {})
  }

  const late = Promise.withResolvers<ReturnType<typeof failureOf>>()
  const cancelTimer = clock.after(START_MS, () => {
    late.resolve(failureOf('apps.connections.open', new Error('The connection to Slack was not there in time.')))
    end()
  })
  let isGivenUp = false
  const connected = client.start().then(
    () => {
      // A client that was told to stop while it asked for the address connects all the same.
      if (isGivenUp) end()
      return null
    },
    (error: unknown) => failureOf('apps.connections.open', error ?? new Error('The connection to Slack broke off.')),
  )
  // Slack may ask for a new connection with its very first words.
  const gone = ended.promise.then((isRefresh) =>
    isRefresh ? connected : failureOf('apps.connections.open', new Error('The connection was closed.')),
  )
  /** Null: it is there. Never rejects. */
  const started = Promise.race([connected, late.promise, gone]).finally(cancelTimer)
  void started.then((failure) => {
    isGivenUp = failure !== null
    if (isGivenUp) end()
  })
  return { started, ended: ended.promise, closed: closed.promise, end }
}

type Connection = ReturnType<typeof openConnection>

function isGoodbye(text: string): boolean {
  const message = jsonIn(text)
  return isRecord(message) && message.type === 'disconnect'
}

/** Takes envelopes: says at once that each has arrived, and hands each to the answers once. */
function createIntake({ answers, clock, logger }: SocketDeps) {
  /** Ids, oldest first. */
  const seen = new Set<string>()
  const working = new Set<Promise<void>>()

  function isNew(...ids: string[]): boolean {
    if (ids.some((id) => seen.has(id))) return false
    for (const id of ids) seen.add(id)
    for (const id of seen) {
      if (seen.size <= REMEMBERED) break
      seen.delete(id)
    }
    return true
  }

  function handle(type: unknown, body: Record<string, unknown>): Promise<void> | null {
    if (type === 'interactive') return body.type === 'block_actions' ? answers.onAction(body) : null
    if (type === 'slash_commands') return answers.onCommand(body)
    if (type !== 'events_api' || !isRecord(body.event) || body.event.type !== 'message') return null
    return answers.onMessage(body.event, { teamId: typeof body.team_id === 'string' ? body.team_id : null })
  }

  return {
    envelope(given: unknown): void {
      if (!isRecord(given) || typeof given.envelope_id !== 'string' || typeof given.ack !== 'function') return
      if (working.size >= MOST_HANDLERS) {
        logger.warn('Slack sends more than the server can take just now')
        return
      }
      const acked: unknown = given.ack()
      // The connection may be gone. Slack sends it again then, and it is known by its id.
      if (acked instanceof Promise) acked.catch((error: unknown) => logger.debug('Slack was not told', { error }))
      const body = isRecord(given.body) ? given.body : {}
      const event = typeof body.event_id === 'string' ? [`event ${body.event_id}`] : []
      if (!isNew(given.envelope_id, ...event)) return
      try {
        const handled = handle(given.type, body)?.catch((error: unknown) => {
          logger.error('an answer from Slack was not handled', { error })
        })
        if (handled === undefined) return
        working.add(handled)
        void handled.then(() => working.delete(handled))
      } catch (error) {
        logger.error('an answer from Slack was not handled', { error })
      }
    },
    /** Resolves when everything was handled, or after a moment. */
    async settled(): Promise<void> {
      if (working.size > 0) await within(clock, CLOSE_MS, Promise.all(working))
    },
  }
}
