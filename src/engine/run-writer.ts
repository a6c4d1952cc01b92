// The pen of one run: events go through the middleware, become text once, and are committed in groups. Only this file appends
// on behalf of a running run.

import type { Clock } from '../domain/clock.ts'
import { sleep } from '../domain/clock.ts'
import { type Fact, factText } from '../domain/entry.ts'
import { ServerError } from '../domain/errors.ts'
import type { RunEvent, TerminalEvent, TokenUsage } from '../domain/event.ts'
import type { StoredMessage } from '../domain/message.ts'
import type { RunError, RunRecord } from '../domain/run.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { AppendEntries, FinishRun, NewEntry } from '../store/store.ts'
import type { Middleware } from './middleware/middleware.ts'
import { createOpenItems, type OpenItems } from './open-items.ts'

export interface RunWriter {
  readonly open: OpenItems
  /** Epoch ms, never backwards within the run. */
  timestamp(): number
  /** Queues an event. Returns it as it is shown, or null when the middleware dropped it. */
  emit<E extends RunEvent>(event: E): E | null
  /**
   * The same for the one event that comes by the thousand, with no object made of it unless the middleware wants to see it.
   * Returns the text as it is shown.
   */
  emitText(messageId: string, delta: string, timestamp: number): string
  /** Commits what was queued as text in flight. */
  flush(): Promise<void>
  /** Commits what was queued, with facts and messages, and waits until it is on disk. */
  commit(with_: { facts?: Fact[]; messages?: StoredMessage[]; lastTool?: string }): Promise<void>
  /** Closes what is open, appends the terminal event and ends the run. Tries again for as long as the disk is full. */
  finish(end: RunEnd): Promise<void>
}

export interface RunEnd {
  status: FinishRun['status']
  terminal: TerminalEvent
  messages: StoredMessage[]
  usage: TokenUsage[]
  error: RunError | null
}

export interface RunWriterDeps {
  log: SessionLog
  clock: Clock
  middleware: Middleware | null
}

/** Put on what stopped half-way, so that people see that it did. */
export const BROKEN_OFF = { quarterdeck: { brokenOff: true } }

const RETRY_MS = 500

/** `writtenUntil` is the timestamp of what a dead process wrote last for the run. */
export function createRunWriter(
  { log, clock, middleware }: RunWriterDeps,
  run: RunRecord,
  writtenUntil = run.startedAt ?? run.createdAt,
): RunWriter {
  const scope = { sessionId: run.sessionId, runId: run.id, agent: run.agent }
  const open = createOpenItems()
  let pending: NewEntry[] = []
  let pendingMessages: StoredMessage[] = []
  let lastTimestamp = writtenUntil

  function timestamp(): number {
    lastTimestamp = Math.max(lastTimestamp, clock.now())
    return lastTimestamp
  }

  function take(): NewEntry[] {
    const entries = pending
    pending = []
    return entries
  }

  const target = { sessionId: run.sessionId, runId: run.id, fence: run.fence }

  /** A refused append wrote nothing: what it held goes with the next, or an end would follow without its start. */
  async function append(command: Omit<AppendEntries, 'type' | keyof typeof target>, events: NewEntry[]): Promise<void> {
    const late = pendingMessages
    if (late.length > 0) pendingMessages = []
    const messages = late.length > 0 ? [...late, ...(command.messages ?? [])] : command.messages
    try {
      await log.commit({ type: 'append', ...target, ...command, ...(messages === undefined ? {} : { messages }) })
    } catch (error) {
      pending = [...events, ...pending]
      pendingMessages = [...(messages ?? []), ...pendingMessages]
      throw error
    }
  }

  function emit<E extends RunEvent>(event: E): E | null {
    const passed = middleware === null ? event : middleware(event, scope)
    // Middleware changes what an event says, not what it is.
    if (passed === null || passed.type !== event.type) return null
    open.see(passed)
    pending.push({ kind: 'event', data: JSON.stringify(passed) })
    return passed as E
  }

  return {
    open,
    timestamp,
    emit,

    emitText(messageId, delta, timestamp) {
      if (middleware !== null) {
        return emit({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta, timestamp })?.delta ?? ''
      }
      // `messageId` is an id that we minted: it needs no escaping.
      const data = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"${messageId}","delta":${JSON.stringify(delta)},"timestamp":${timestamp}}`
      pending.push({ kind: 'event', data })
      return delta
    },

    async flush() {
      if (pending.length === 0) return
      const entries = take()
      await append({ sync: false, entries }, entries)
    },

    async commit({ facts = [], messages = [], lastTool }) {
      const events = take()
      const entries = [...events, ...facts.map((fact) => ({ kind: 'fact' as const, data: factText(fact) }))]
      await append({ sync: true, entries, messages, ...(lastTool === undefined ? {} : { lastTool }) }, events)
    },

    async finish({ status, terminal, messages, usage, error }) {
      const closing = open.closing(timestamp(), status === 'completed' ? undefined : BROKEN_OFF)
      // The last event can be changed but not dropped.
      const last = middleware?.(terminal, scope) ?? terminal
      const events: RunEvent[] = [...closing, last]
      const entries = [...take(), ...events.map((event) => ({ kind: 'event' as const, data: JSON.stringify(event) }))]
      for (;;) {
        try {
          await log.commit({
            type: 'finish_run',
            runId: run.id,
            fence: run.fence,
            status,
            now: timestamp(),
            entries,
            messages: [...pendingMessages, ...messages],
            usage,
            error,
          })
          return
        } catch (failure) {
          const storage =
            failure instanceof ServerError && (failure.code === 'storage_full' || failure.code === 'storage_failed')
          if (!storage) throw failure
          await sleep(clock, RETRY_MS)
        }
      }
    },
  }
}
