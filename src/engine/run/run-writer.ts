// Writes the events of one run: they go through the middleware, become text once, and are committed in groups. No other file
// appends for a run that executes.

import { type Clock, sleep } from '../../domain/clock.ts'
import { hasCode } from '../../domain/errors.ts'
import { type Fact, factText } from '../../domain/session/entry.ts'
import type { RunEvent, RunEventOf, TerminalEvent, TokenUsage } from '../../domain/session/event.ts'
import { ACTIVITIES, type StoredMessage } from '../../domain/session/message.ts'
import type { RunError, RunRecord } from '../../domain/session/run.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { NewEntry } from '../../store/ports/journal.ts'
import type { AppendEntries, FinishRun } from '../../store/ports/runs.ts'
import type { EngineParts } from '../create-engine.ts'
import { middlewareScope } from '../middleware/middleware.ts'
import { createOpenItems, type OpenItems } from './open-items.ts'
import type { StuckRuns } from './stuck-runs.ts'

/** For one who writes into a run: its own agent, or one of its sub-agents. */
export interface EventWriter {
  /** Epoch ms. Never goes backwards within the run. */
  timestamp(): number
  /** Queues an event. Returns it as it will be shown, or null when the middleware dropped it. */
  emit<E extends RunEvent>(event: E): E | null
  /**
   * Queues a TEXT_MESSAGE_CONTENT. There are thousands of them, so no object is made unless the middleware wants to see it.
   * Returns the text as it will be shown.
   */
  emitText(messageId: string, delta: string, timestamp: number): string
  /** If the run or the sub-agent ends inside this step, the event that closes the step carries the metadata. */
  markStep(stepName: string, metadata: Record<string, unknown>): void
  /** Commits what was queued, as text in flight. */
  flush(): Promise<unknown>
  /** Commits what was queued, with facts and messages. Resolves when it is on disk. */
  commit(parts: RunCommit): Promise<unknown>
}

export interface RunCommit
  extends Pick<AppendEntries, 'lastTool' | 'activeAgent' | 'consume' | 'grants' | 'waits' | 'audit'> {
  facts?: Fact[] | undefined
  messages?: StoredMessage[]
}

export interface RunWriter extends EventWriter {
  readonly open: OpenItems
  /** Takes note of an event that an earlier owner of the run wrote. */
  see(event: RunEvent): void
  /** Stores the session's shared state with the next commit. */
  keepState(state: unknown): void
  /** A writer that marks its events as those of a sub-agent. */
  forSubagent(subagentRunId: string): EventWriter
  /**
   * Closes what is open, appends the terminal event and ends the run. Tries again while the disk is full, and tells the readers when
   * that lasts. Throws `conflict`, and writes nothing, when a run that was about to wait has been answered or asked to stop.
   */
  finish(end: RunEnd): Promise<void>
}

export interface RunEnd {
  status: FinishRun['status']
  terminal: TerminalEvent
  messages: StoredMessage[]
  usage: TokenUsage[]
  model?: FinishRun['model']
  error: RunError | null
  /** The run can be found by it from now on. */
  key?: string | undefined
  audit?: FinishRun['audit']
  /** `waiting` only. */
  waiting?: Pick<FinishRun, 'waits' | 'stillPending'>
}

interface RunWriterDeps extends Pick<EngineParts, 'log' | 'clock' | 'middleware'> {
  /** False: the store is a server of its own, which may be away for a while. A run waits for it, where the disk's failure ends it. */
  isOnlyProcess: boolean
  /** Who hears that an end cannot be stored. Null: then `finish` throws, because nobody executes the run. */
  stuck: StuckRuns | null
}

/** Marks what stopped half-way, so that people can see that it did. */
export const BROKEN_OFF = { quarterdeck: { brokenOff: true } }

/** How an activity is kept: for readers that come later, and never for the model. */
const activityMessage = (event: RunEventOf<'ACTIVITY_SNAPSHOT'>, run: RunRecord): StoredMessage => ({
  id: event.messageId,
  role: 'activity',
  content: '',
  activity: { type: event.activityType, content: event.content },
  lane: ACTIVITIES,
  runId: run.id,
  createdAt: event.timestamp ?? run.createdAt,
})

/** `messageId` is an id that we minted: it needs no escaping. */
const frameOf = (messageId: string, timestamp: number) => ({
  messageId,
  timestamp,
  start: `{"type":"TEXT_MESSAGE_CONTENT","messageId":"${messageId}","delta":`,
  end: `,"timestamp":${timestamp}}`,
})

const RETRY_MS = 500
/** After this time a full disk is not a short trouble any more. Readers get their answer within 5 s. */
const STUCK_MS = 2_000
const NOTHING_TO_DO = Promise.resolve()

/** `writtenUntil` is the last timestamp that an earlier owner of the run wrote. */
export function createRunWriter(
  { log, clock, middleware, isOnlyProcess, stuck }: RunWriterDeps,
  run: RunRecord,
  writtenUntil = run.startedAt ?? run.createdAt,
): RunWriter {
  const scope = middlewareScope(run)
  const open = createOpenItems()
  const appends = createAppends(log, isOnlyProcess ? null : clock)
  let pending: NewEntry[] = []
  /** Of the newest piece of text. */
  let frame = frameOf('', 0)
  /** Activities that have changed since the last commit, by id. */
  const activities = new Map<string, StoredMessage>()
  let lastTimestamp = writtenUntil

  function timestamp(): number {
    lastTimestamp = Math.max(lastTimestamp, clock.now())
    return lastTimestamp
  }

  function queue(entry: NewEntry): void {
    // Nearly always one token. V8 gives a list that grows from nothing space for 17.
    if (pending.length === 0) pending = [entry]
    else pending.push(entry)
  }

  function take(): NewEntry[] {
    const entries = pending
    pending = []
    return entries
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
    queue({ kind: 'event', data: JSON.stringify(passed) })
    return passed as E
  }

  function emitText(messageId: string, delta: string, timestamp: number, subagentRunId?: string): string {
    if (middleware !== null || subagentRunId !== undefined) {
      const owner = subagentRunId === undefined ? {} : { subagentRunId }
      return emit({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta, ...owner, timestamp })?.delta ?? ''
    }
    if (frame.messageId !== messageId || frame.timestamp !== timestamp) frame = frameOf(messageId, timestamp)
    const text = JSON.stringify(delta)
    queue({ kind: 'event', data: frame.start + text + frame.end, frame, text })
    return delta
  }

  function flush(): Promise<unknown> {
    if (pending.length === 0 && !appends.hasRefused()) return NOTHING_TO_DO
    const entries = take()
    const { sessionId, id: runId, fence } = run
    return appends.append({ type: 'append', sessionId, runId, fence, sync: false, entries }, entries)
  }

  function commit({ facts = [], messages = [], ...more }: RunCommit): Promise<unknown> {
    // Taken now: an event and its message go into one commit, even when another commit has to go first.
    const events = take()
    const entries = [...events, ...facts.map((fact) => ({ kind: 'fact' as const, data: factText(fact) }))]
    const said = [...takeActivities(), ...messages]
    const { sessionId, id: runId, fence } = run
    return appends.append(
      { type: 'append', sessionId, runId, fence, sync: true, entries, messages: said, ...more },
      events,
    )
  }

  return {
    open,
    see,
    timestamp,
    emit,
    emitText,
    markStep: (stepName, metadata) => open.markStep({ stepName }, metadata),
    flush,
    commit,

    keepState: appends.keepState,

    forSubagent(subagentRunId) {
      appends.keepOrder()
      return {
        timestamp,
        // Every event has this field, but the compiler cannot see that here.
        emit: <E extends RunEvent>(event: E) => emit({ ...event, subagentRunId } as E),
        emitText: (messageId, delta, at) => emitText(messageId, delta, at, subagentRunId),
        markStep: (stepName, metadata) => open.markStep({ stepName, subagentRunId }, metadata),
        flush,
        commit,
      }
    },

    async finish({ status, terminal, messages, usage, model, error, key, audit, waiting }) {
      await appends.settled()
      // The end was decided before the wait, and must not be dated before what it closes.
      const at = timestamp()
      const closing = open.closing(at, status === 'completed' || status === 'waiting' ? undefined : BROKEN_OFF)
      const decided = { ...terminal, timestamp: at }
      // The last event can be changed but not dropped.
      const last = middleware?.(decided, scope) ?? decided
      const events: RunEvent[] = [...closing, last]
      const before = [...appends.takeRefused(), ...take()]
      const shown = takeActivities()
      const entries = [...before, ...events.map((event) => ({ kind: 'event' as const, data: JSON.stringify(event) }))]
      const began = clock.mono()
      for (;;) {
        try {
          await log.commit({
            type: 'finish_run',
            runId: run.id,
            fence: run.fence,
            status,
            now: timestamp(),
            entries,
            messages: [...appends.refusedMessages(), ...shown, ...messages],
            usage,
            model,
            error,
            key,
            audit,
            ...waiting,
          })
          return
        } catch (failure) {
          if (stuck === null || !isStorageTrouble(failure)) {
            appends.putBack(before, shown)
            throw failure
          }
          if (hasCode(failure, 'storage_full') && clock.mono() - began >= STUCK_MS) stuck.tell(run.id, failure)
          await sleep(clock, RETRY_MS)
        }
      }
    },
  }
}

/** The store may work again in a moment. */
export const isStorageTrouble = (error: unknown): boolean => hasCode(error, 'storage_full', 'storage_failed')

/** Another process owns the run now, or it has ended. */
export const isFenced = (error: unknown): boolean => hasCode(error, 'run_fenced')

/**
 * A refused append wrote nothing, so what it held goes first with the next one. Otherwise an end could be shown without its start. With a
 * clock, appends wait for a store that is away, in their order.
 */
function createAppends(log: SessionLog, patience: Clock | null) {
  let refused: NewEntry[] = []
  let refusedMessages: StoredMessage[] = []
  /** In an object, because the state itself may be null. */
  let state: { value: unknown } | null = null
  // A run of one agent writes in order anyway, and pays nothing for this.
  let keepsOrder = patience !== null
  let underWay: Promise<unknown> | null = null

  function takeRefused(): NewEntry[] {
    const entries = refused
    if (entries.length > 0) refused = []
    return entries
  }

  function putBack(events: readonly NewEntry[], messages: readonly StoredMessage[]): void {
    refused = [...events, ...refused]
    refusedMessages = [...messages, ...refusedMessages]
  }

  function commit(command: AppendEntries, onRefused: () => void): Promise<unknown> {
    return patience === null ? log.commit(command, onRefused) : commitPatiently(patience, command, onRefused)
  }

  async function commitPatiently(clock: Clock, command: AppendEntries, onRefused: () => void): Promise<void> {
    for (;;) {
      try {
        await log.commit(command)
        return
      } catch (error) {
        if (!isStorageTrouble(error)) {
          onRefused()
          throw error
        }
        await sleep(clock, RETRY_MS)
      }
    }
  }

  function append(command: AppendEntries, events: NewEntry[]): Promise<unknown> {
    // Nearly always, and once for each token: so its only promise is that of the log.
    if (refused.length === 0 && refusedMessages.length === 0 && state === null) {
      return commit(command, () => putBack(events, command.messages ?? []))
    }
    const back = takeRefused()
    const messages = [...refusedMessages, ...(command.messages ?? [])]
    refusedMessages = []
    const kept = state
    state = null
    const whole = {
      ...command,
      // There may be results among the refused entries, and results are on disk before they are shown.
      ...(back.length > 0 ? { entries: [...back, ...command.entries], sync: true } : {}),
      messages: messages.length > 0 ? messages : command.messages,
      state: kept === null ? command.state : kept.value,
    }
    return commit(whole, () => {
      putBack([...back, ...events], messages)
      state ??= kept
    })
  }

  async function appendInTurn(command: AppendEntries, events: NewEntry[]): Promise<void> {
    while (underWay !== null) await underWay.catch(() => {})
    underWay = append(command, events)
    try {
      await underWay
    } finally {
      underWay = null
    }
  }

  return {
    /** `events` are those entries that must not get lost when the append is refused; facts are not. */
    append: (command: AppendEntries, events: NewEntry[]) =>
      keepsOrder ? appendInTurn(command, events) : append(command, events),
    /** Resolves when no append waits for a store that is away. */
    async settled(): Promise<void> {
      while (patience !== null && underWay !== null) await underWay.catch(() => {})
    },
    keepState(value: unknown): void {
      state = { value }
    },
    /** Agents work side by side from now on: what one of them writes must not overtake a refused append of another. */
    keepOrder(): void {
      keepsOrder = true
    },
    hasRefused: () => refused.length > 0,
    refusedMessages: () => refusedMessages,
    takeRefused,
    putBack,
  }
}
