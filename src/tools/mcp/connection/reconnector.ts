// Keeps one connection open for many callers. It opens the connection in the background, and again whenever it breaks, with longer
// and longer pauses. Nobody waits for a connection that keeps failing: callers are told at once why there is none.

import { untilAborted } from '../../../domain/abort.ts'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'

export interface Connection {
  /** Resolves with the reason when the connection has broken or was closed. */
  readonly gone: Promise<string>
  close(): Promise<void>
}

export interface Reconnector<C extends Connection> {
  /** Makes the first attempt. Resolves when it is over, or when it takes too long to wait for. Never rejects. */
  start(): Promise<void>
  /** Waits for the first attempt, and for the one right after a break. Otherwise throws at once and says why there is none. */
  get(signal: AbortSignal): Promise<C>
  /** Makes the next attempt now, if one is planned: what was missing is there. */
  retry(): void
  /** Null while it is not open. */
  readonly connection: C | null
  /** Why `get` would throw without waiting. Null otherwise. */
  readonly trouble: ServerError | null
  close(): Promise<void>
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** Earlier failures no longer count once a connection has lasted this long. */
const STEADY_MS = 60_000

type State<C> =
  | { is: 'idle' }
  /** Callers wait for this attempt. */
  | { is: 'trying'; connection: Promise<C> }
  | { is: 'open'; connection: C }
  /** The next attempt is at `nextAt`. Null: one is under way. */
  | { is: 'down'; reason: string; nextAt: number | null }
  | { is: 'closed' }

export function createReconnector<C extends Connection>(deps: {
  /** The beginning of a sentence, such as `The MCP server "files"`. */
  who: string
  /** Gives up on its own after a while. The text of its error is a whole sentence. */
  open: (signal: AbortSignal) => Promise<C>
  /** What is known about an attempt that takes too long, to put after a sentence. May be empty. */
  soFar: () => string
  /** How long callers wait for an attempt. It goes on without them. */
  patienceMs: number
  clock: Clock
}): Reconnector<C> {
  const { who, clock, patienceMs } = deps
  const closing = new AbortController()
  let state: State<C> = { is: 'idle' }
  let failures = 0
  let cancelPause = () => {}
  /** The attempt that is under way, or the last one. */
  let attempt: Promise<unknown> = Promise.resolve()

  function pause(reason: string): void {
    failures += 1
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
    state = { is: 'down', reason, nextAt: clock.mono() + pauseMs }
    cancelPause = clock.after(pauseMs, () => {
      state = { is: 'down', reason, nextAt: null }
      void open()
    })
  }

  function open(): Promise<C> {
    const opening = deps.open(closing.signal)
    attempt = opening.then(opened, (error: unknown) => {
      if (state.is !== 'closed') pause(error instanceof Error ? error.message : String(error))
    })
    return opening
  }

  function opened(connection: C): void | Promise<void> {
    if (state.is === 'closed') return connection.close()
    state = { is: 'open', connection }
    const openedAt = clock.mono()
    void connection.gone.then((reason) => {
      if (state.is === 'closed') return
      if (clock.mono() - openedAt >= STEADY_MS) failures = 0
      // The first break may be an accident, so it is repaired at once. After that there is a pause.
      if (failures > 0) return pause(`${who} is gone. ${reason}`)
      failures = 1
      openPatiently()
    })
  }

  function openPatiently(): void {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const opening = open()
    const cancel = clock.after(patienceMs, () => {
      // The attempt can outlive `close`: some programs do not end when they are asked to.
      if (state.is === 'closed') return
      const reason = `${who} did not answer within ${patienceMs / 1_000} s.${deps.soFar()}`
      state = { is: 'down', reason, nextAt: null }
      reject(unavailable(reason, null))
    })
    const connection = Promise.race([opening, late])
    // Perhaps nobody is waiting. Then a failure must not become an unhandled rejection.
    connection.catch(() => {})
    opening.catch(() => {}).finally(cancel)
    state = { is: 'trying', connection }
  }

  function unavailable(reason: string, nextAt: number | null): ServerError {
    const seconds = nextAt === null ? null : Math.max(1, Math.ceil((nextAt - clock.mono()) / 1_000))
    const next = seconds === null ? 'Still trying to connect.' : `Next attempt in ${seconds} s.`
    return new ServerError('tool_failed', `${reason} ${next}`)
  }

  const trouble = (): ServerError =>
    state.is === 'down'
      ? unavailable(state.reason, state.nextAt)
      : new ServerError('shutting_down', `${who} is being closed.`)

  return {
    async start() {
      if (state.is === 'idle') openPatiently()
      if (state.is === 'trying') await state.connection.catch(() => {})
    },
    async get(signal) {
      signal.throwIfAborted()
      if (state.is === 'idle') openPatiently()
      if (state.is === 'open') return state.connection
      // The caller's signal ends only the caller's wait: others wait for the same connection.
      if (state.is === 'trying') return untilAborted(state.connection, signal)
      throw trouble()
    },
    retry() {
      if (state.is !== 'down' || state.nextAt === null) return
      cancelPause()
      openPatiently()
    },
    get connection() {
      return state.is === 'open' ? state.connection : null
    },
    get trouble() {
      return state.is === 'down' || state.is === 'closed' ? trouble() : null
    },
    async close() {
      const connection = state.is === 'open' ? state.connection : null
      state = { is: 'closed' }
      cancelPause()
      closing.abort()
      await connection?.close()
      await attempt
    },
  }
}
