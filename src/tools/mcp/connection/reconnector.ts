// One connection for many callers. It is opened in the background, and again whenever it breaks, with longer and longer rests in
// between. Nobody waits for one that keeps failing: callers are told at once why there is none.

import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { untilAborted } from '../../until-aborted.ts'

export interface Line {
  /** Resolves with the reason when it has broken or was closed. */
  readonly gone: Promise<string>
  close(): Promise<void>
}

export interface Lifeline<L extends Line> {
  /** The first try. Resolves when it is over, or goes on for too long to wait for it. Never rejects. */
  start(): Promise<void>
  /** The open connection. Waits for the first try, and for the one after a break; else it throws at once why there is none. */
  get(signal: AbortSignal): Promise<L>
  /** Null while it is not open. */
  readonly line: L | null
  /** Why there is none and `get` would not wait for one; null otherwise. */
  readonly trouble: ServerError | null
  close(): Promise<void>
}

const FIRST_REST_MS = 1_000
const LONGEST_REST_MS = 60_000
/** A connection that held this long has forgotten the failures before it. */
const STEADY_MS = 60_000

type State<L> =
  | { is: 'idle' }
  /** Worth waiting for. */
  | { is: 'trying'; line: Promise<L> }
  | { is: 'open'; line: L }
  /** Tried again at `nextAt`; null: just now. */
  | { is: 'down'; reason: string; nextAt: number | null }
  | { is: 'closed' }

export function createLifeline<L extends Line>(deps: {
  /** As a sentence begins: `The MCP server "files"`. */
  who: string
  /** Gives up by itself after a while. The text of its error is a whole sentence. */
  open: (signal: AbortSignal) => Promise<L>
  /** How long anybody waits for a try. It goes on without them. */
  patienceMs: number
  clock: Clock
}): Lifeline<L> {
  const { who, clock, patienceMs } = deps
  const closing = new AbortController()
  let state: State<L> = { is: 'idle' }
  let failures = 0
  let cancelRest = () => {}
  /** The try that is under way or was the last. */
  let attempt: Promise<unknown> = Promise.resolve()

  function rest(reason: string): void {
    failures += 1
    const restMs = Math.min(FIRST_REST_MS * 2 ** (failures - 1), LONGEST_REST_MS)
    state = { is: 'down', reason, nextAt: clock.mono() + restMs }
    cancelRest = clock.after(restMs, () => {
      state = { is: 'down', reason, nextAt: null }
      void open()
    })
  }

  function open(): Promise<L> {
    const opening = deps.open(closing.signal)
    attempt = opening.then(opened, (error: unknown) => {
      if (state.is !== 'closed') rest(error instanceof Error ? error.message : String(error))
    })
    return opening
  }

  function opened(line: L): void | Promise<void> {
    if (state.is === 'closed') return line.close()
    state = { is: 'open', line }
    const openedAt = clock.mono()
    void line.gone.then((reason) => {
      if (state.is === 'closed') return
      if (clock.mono() - openedAt >= STEADY_MS) failures = 0
      // The first break may be an accident. From the second on it rests.
      if (failures > 0) return rest(`${who} is gone. ${reason}`)
      failures = 1
      openPatiently()
    })
  }

  function openPatiently(): void {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const opening = open()
    const cancel = clock.after(patienceMs, () => {
      // A program that does not end when it is asked to keeps its try alive behind the closing.
      if (state.is === 'closed') return
      const reason = `${who} did not answer within ${patienceMs / 1_000} s.`
      state = { is: 'down', reason, nextAt: null }
      reject(unavailable(reason, null))
    })
    const line = Promise.race([opening, late])
    // Nobody need be waiting.
    line.catch(() => {})
    opening.catch(() => {}).finally(cancel)
    state = { is: 'trying', line }
  }

  function unavailable(reason: string, nextAt: number | null): ServerError {
    const seconds = nextAt === null ? null : Math.max(1, Math.ceil((nextAt - clock.mono()) / 1_000))
    const again = seconds === null ? 'It is still being tried.' : `It is tried again in ${seconds} s.`
    return new ServerError('tool_failed', `${reason} ${again}`)
  }

  const trouble = (): ServerError =>
    state.is === 'down'
      ? unavailable(state.reason, state.nextAt)
      : new ServerError('shutting_down', `${who} is being closed.`)

  return {
    async start() {
      if (state.is === 'idle') openPatiently()
      if (state.is === 'trying') await state.line.catch(() => {})
    },
    async get(signal) {
      signal.throwIfAborted()
      if (state.is === 'idle') openPatiently()
      if (state.is === 'open') return state.line
      // Not the caller's signal: others wait for the same connection.
      if (state.is === 'trying') return untilAborted(state.line, signal)
      throw trouble()
    },
    get line() {
      return state.is === 'open' ? state.line : null
    },
    get trouble() {
      return state.is === 'down' || state.is === 'closed' ? trouble() : null
    },
    async close() {
      const line = state.is === 'open' ? state.line : null
      state = { is: 'closed' }
      cancelRest()
      closing.abort()
      await line?.close()
      await attempt
    },
  }
}
