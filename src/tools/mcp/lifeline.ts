// One connection for many callers: opened when first needed, opened again after it broke, with longer and longer rests in between.

import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { untilAborted } from './until-aborted.ts'

export interface Line {
  /** Resolves with the reason when it has broken or was closed. */
  readonly gone: Promise<string>
  close(): Promise<void>
}

export interface Lifeline<L extends Line> {
  /** The open connection. Waits for a short rest to pass; during a long one it says at once why there is none. */
  get(signal: AbortSignal): Promise<L>
  close(): Promise<void>
}

const FIRST_REST_MS = 1_000
const LONGEST_REST_MS = 60_000
/** A connection that held this long has forgotten the failures before it. */
const STEADY_MS = 60_000
/** How long a caller is kept waiting for a rest to pass. */
const PATIENCE_MS = 5_000

export function createLifeline<L extends Line>(deps: {
  /** As a sentence begins: `The MCP server "files"`. */
  who: string
  open: (signal: AbortSignal) => Promise<L>
  clock: Clock
}): Lifeline<L> {
  const { who, clock } = deps
  const closing = new AbortController()
  let current: Promise<L> | undefined
  let restMs = 0
  let restsUntil = 0
  let trouble = ''

  function broke(reason: string): void {
    current = undefined
    restMs = restMs === 0 ? FIRST_REST_MS : Math.min(restMs * 2, LONGEST_REST_MS)
    restsUntil = clock.mono() + restMs
    trouble = reason
  }

  async function open(): Promise<L> {
    const rest = restsUntil - clock.mono()
    if (rest > 0) await sleep(clock, rest, closing.signal)
    if (closing.signal.aborted) throw closed(who)
    let line: L
    try {
      line = await deps.open(closing.signal)
    } catch (error) {
      broke(error instanceof Error ? error.message : String(error))
      throw error
    }
    const openedAt = clock.mono()
    void line.gone.then((reason) => {
      if (clock.mono() - openedAt >= STEADY_MS) restMs = 0
      broke(reason)
    })
    return line
  }

  return {
    async get(signal) {
      signal.throwIfAborted()
      if (closing.signal.aborted) throw closed(who)
      const rest = restsUntil - clock.mono()
      if (current === undefined && rest > PATIENCE_MS) {
        const seconds = Math.ceil(rest / 1_000)
        throw new ServerError('tool_failed', `${who} is not available; it is tried again in ${seconds} s. ${trouble}`)
      }
      // Not the caller's signal: others wait for the same connection.
      current ??= open()
      return untilAborted(current, signal)
    },
    async close() {
      closing.abort()
      const line = await current?.catch(() => undefined)
      await line?.close()
    },
  }
}

const closed = (who: string): ServerError => new ServerError('shutting_down', `${who} is being closed.`)
