// The pen of one run: events go through the middleware, become text once, and are committed in groups. Only this file appends
// on behalf of a running run.

import type { Clock } from '../../domain/clock.ts'
import { sleep } from '../../domain/clock.ts'
import { type Fact, factText } from '../../domain/entry.ts'
import { ServerError } from '../../domain/errors.ts'
import type { RunEvent, RunEventOf, TerminalEvent, TokenUsage } from '../../domain/event.ts'
import { ACTIVITIES, type StoredMessage } from '../../domain/message.ts'
import type { RunError, RunRecord } from '../../domain/run.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { NewEntry } from '../../store/ports/entry.ts'
import type { AppendEntries, FinishRun } from '../../store/ports/runs.ts'
import { type Middleware, middlewareScope } from '../middleware/middleware.ts'
import { createOpenItems, type OpenItems } from './open-items.ts'

/** What writes into a run: its own agent, or one sub-agent of it. */
export interface Pen {
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
  commit(with_: CommitParts): Promise<void>
}

export interface CommitParts extends Pick<AppendEntries, 'lastTool' | 'activeAgent' | 'consume' | 'audit'> {
  facts?: Fact[]
  messages?: StoredMessage[]
}

export interface RunWriter extends Pen {
  readonly open: OpenItems
  /** Takes note of what a dead process wrote for the run. */
  see(event: RunEvent): void
  /** The session's shared state, stored with whatever is committed next. */
  keepState(state: unknown): void
  /** A pen whose events are those of a sub-agent. */
  forSubagent(subagentRunId: string): Pen
  /**
   * Closes what is open, appends the terminal event and ends the run. Tries again for as long as the disk is full. Throws
   * `conflict`, with nothing written, when a run that was to wait has been answered or asked to stop meanwhile.
   */
  finish(end: RunEnd): Promise<void>
}

export interface RunEnd {
  status: FinishRun['status']
  terminal: TerminalEvent
  messages: StoredMessage[]
  usage: TokenUsage[]
  error: RunError | null
  audit?: FinishRun['audit']
  /** `waiting` only. */
  waiting?: Pick<FinishRun, 'waits' | 'stillPending'>
}

export interface RunWriterDeps {
  log: SessionLog
  clock: Clock
  middleware: Middleware | null
}

/** Put on what stopped half-way, so that people see that it did. */
export const BROKEN_OFF = { quarterdeck: { brokenOff: true } }

/** As it is kept: for those who come later, and for no model. */
const activityMessage = (event: RunEventOf<'ACTIVITY_SNAPSHOT'>, run: RunRecord): StoredMessage => ({
  id: event.messageId,
  role: 'activity',
  content: '',
  activity: { type: event.activityType, content: event.content },
  lane: ACTIVITIES,
  runId: run.id,
  createdAt: event.timestamp ?? run.createdAt,
})

const RETRY_MS = 500
const NOTHING_TO_DO = Promise.resolve()

/** `writtenUntil` is the timestamp of what a dead process wrote last for the run. */
export function createRunWriter(
  { log, clock, middleware }: RunWriterDeps,
  run: RunRecord,
  writtenUntil = run.startedAt ?? run.createdAt,
): RunWriter {
  const scope = middlewareScope(run)
  const open = createOpenItems()
  let pending: NewEntry[] = []
  /** Events of appends that were refused. */
  let refused: NewEntry[] = []
  let pendingMessages: StoredMessage[] = []
  /** What changed of them since the last commit, by id. */
  const activities = new Map<string, StoredMessage>()
  let hasSubagents = false
  let underWay: Promise<void> | null = null
  let lastTimestamp = writtenUntil
  /** Boxed: the state itself may be null. */
  let pendingState: { value: unknown } | null = null

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

  /** A refused append wrote nothing: what it held goes first with the next, or an end would follow without its start. */
  async function append(command: Omit<AppendEntries, 'type' | keyof typeof target>, events: NewEntry[]): Promise<void> {
    const back = refused
    if (back.length > 0) refused = []
    const late = pendingMessages
    if (late.length > 0) pendingMessages = []
    const messages = late.length > 0 ? [...late, ...(command.messages ?? [])] : command.messages
    const state = pendingState
    pendingState = null
    try {
      await log.commit({
        type: 'append',
        ...target,
        ...command,
        // Among what was refused may be results, which are on disk before they are shown.
        ...(back.length > 0 ? { entries: [...back, ...command.entries], sync: true } : {}),
        ...(messages === undefined ? {} : { messages }),
        ...(state === null ? {} : { state: state.value }),
      })
    } catch (error) {
      refused = [...back, ...events, ...refused]
      pendingMessages = [...(messages ?? []), ...pendingMessages]
      pendingState ??= state
      throw error
    }
  }

  function takeActivities(): StoredMessage[] {
    const taken = [...activities.values()]
    activities.clear()
    return taken
  }

  function see(event: RunEvent): void {
    open.see(event)
    if (event.type === 'ACTIVITY_SNAPSHOT') activities.set(event.messageId, activityMessage(event, run))
  }

  function emit<E extends RunEvent>(event: E): E | null {
    const passed = middleware === null ? event : middleware(event, scope)
    // Middleware changes what an event says, not what it is.
    if (passed === null || passed.type !== event.type) return null
    see(passed)
    pending.push({ kind: 'event', data: JSON.stringify(passed) })
    return passed as E
  }

  function emitText(messageId: string, delta: string, timestamp: number, subagentRunId?: string): string {
    if (middleware !== null || subagentRunId !== undefined) {
      const owner = subagentRunId === undefined ? {} : { subagentRunId }
      return emit({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta, ...owner, timestamp })?.delta ?? ''
    }
    // `messageId` is an id that we minted: it needs no escaping.
    const data = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"${messageId}","delta":${JSON.stringify(delta)},"timestamp":${timestamp}}`
    pending.push({ kind: 'event', data })
    return delta
  }

  /**
   * Agents that work side by side write one after the other: what one writes behind an append that is refused must not
   * overtake what that held. A run of one agent writes in order anyway, and pays nothing for this.
   */
  async function appendInTurn(...append_: Parameters<typeof append>): Promise<void> {
    while (underWay !== null) await underWay.catch(() => {})
    underWay = append(...append_)
    try {
      await underWay
    } finally {
      underWay = null
    }
  }

  const write = (...append_: Parameters<typeof append>): Promise<void> =>
    hasSubagents ? appendInTurn(...append_) : append(...append_)

  function flush(): Promise<void> {
    if (pending.length === 0 && refused.length === 0) return NOTHING_TO_DO
    const entries = take()
    return write({ sync: false, entries }, entries)
  }

  async function commit({ facts = [], messages = [], ...more }: CommitParts): Promise<void> {
    // Taken at once: an event and the message that belongs to it are one commit, whoever writes before.
    const events = take()
    const entries = [...events, ...facts.map((fact) => ({ kind: 'fact' as const, data: factText(fact) }))]
    await write({ sync: true, entries, messages: [...takeActivities(), ...messages], ...more }, events)
  }

  return {
    open,
    see,
    timestamp,
    emit,
    emitText,
    flush,
    commit,

    keepState(value) {
      pendingState = { value }
    },

    forSubagent(subagentRunId) {
      hasSubagents = true
      return {
        timestamp,
        // The members of the union have the field in common, which spreading one of them does not show.
        emit: <E extends RunEvent>(event: E) => emit({ ...event, subagentRunId } as E),
        emitText: (messageId, delta, at) => emitText(messageId, delta, at, subagentRunId),
        flush,
        commit,
      }
    },

    async finish({ status, terminal, messages, usage, error, audit, waiting }) {
      const closing = open.closing(timestamp(), status === 'completed' || status === 'waiting' ? undefined : BROKEN_OFF)
      // The last event can be changed but not dropped.
      const last = middleware?.(terminal, scope) ?? terminal
      const events: RunEvent[] = [...closing, last]
      const before = [...refused, ...take()]
      const shown = takeActivities()
      refused = []
      const entries = [...before, ...events.map((event) => ({ kind: 'event' as const, data: JSON.stringify(event) }))]
      for (;;) {
        try {
          await log.commit({
            type: 'finish_run',
            runId: run.id,
            fence: run.fence,
            status,
            now: timestamp(),
            entries,
            messages: [...pendingMessages, ...shown, ...messages],
            usage,
            error,
            ...(audit === undefined ? {} : { audit }),
            ...waiting,
          })
          return
        } catch (failure) {
          const storage =
            failure instanceof ServerError && (failure.code === 'storage_full' || failure.code === 'storage_failed')
          if (!storage) {
            refused = [...before, ...refused]
            pendingMessages = [...shown, ...pendingMessages]
            throw failure
          }
          await sleep(clock, RETRY_MS)
        }
      }
    },
  }
}
