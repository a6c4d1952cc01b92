// Takes over the runs of processes that died. A run goes on after its last finished step, or ends where that could do harm.

import { hasCode } from '../../domain/errors.ts'
import { type Entry, factText } from '../../domain/session/entry.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { sha256 } from '../../json/digest.ts'
import type { EngineParts } from '../create-engine.ts'
import { messagesSnapshot, SNAPSHOT_LIMIT, shownMessages } from '../loop/messages-snapshot.ts'
import type { Resumption } from '../run/execute-run.ts'
import type { ExecutingRuns } from '../run/executing-runs.ts'
import { stoppedEnd } from '../run/run-end.ts'
import { runEntries } from '../run/run-entries.ts'
import { logUnexecutedEnd, runLogger } from '../run/run-log.ts'
import type { EndingStop } from '../run/run-scope.ts'
import { BROKEN_OFF, createRunWriter, type RunWriter } from '../run/run-writer.ts'
import { type CallFate, fateRecords, notRun, readFates, tellFates } from './call-fates.ts'
import { brokenOffMessages, type RunRemains, readRemains, reviewNeeded } from './read-remains.ts'

export interface Recovery {
  /** This process could not go on with a run of its own. No other process will, so the next round takes it up again. */
  abandon(run: Pick<RunRecord, 'id'>): void
  /** Takes over every run whose owner is dead, and starts every queued run that nothing keeps waiting. */
  recoverAll(): Promise<void>
  /** Takes over one such run, or starts it. Leaves it for the next round when the store is in trouble. */
  recover(orphan: RunRecord): Promise<void>
  /** How many runs were taken over so far, by why they had no owner. */
  readonly takenOver: Readonly<Record<Takeover, number>>
}

/** `died`: its process died. `given_back`: its process was stopped. `abandoned`: this process could not go on with it before. */
export type Takeover = 'died' | 'given_back' | 'abandoned'

type ReviveDeps = Pick<
  EngineParts,
  'store' | 'log' | 'clock' | 'ids' | 'logger' | 'middleware' | 'stuck' | 'isOnlyProcess'
>

interface RecoveryDeps extends ReviveDeps, Pick<EngineParts, 'leaseOwner' | 'otherProcesses'> {
  runs: Pick<ExecutingRuns, 'has' | 'prepare' | 'execute'>
  /** Starts a queued run. */
  begin: (run: RunRecord) => Promise<void>
  startNext: (sessionId: string) => Promise<void>
  isDraining: () => boolean
  /** False while it cannot be told which other processes are dead. Runs without an owner are taken all the same. */
  canTakeOver: () => boolean
  /** Whether this run is for another process to take. */
  isLeft: (run: RunRecord) => boolean
}

const BATCH = 100

export function createRecovery(deps: RecoveryDeps): Recovery {
  const { store, clock, logger, leaseOwner, runs, begin, startNext, isDraining, canTakeOver, isLeft } = deps
  const abandoned = new Set<string>()
  const beginLook = createShares(deps)
  const takenOver: Record<Takeover, number> = { died: 0, given_back: 0, abandoned: 0 }

  async function recoverAll(): Promise<void> {
    const seen = new Set<string>()
    const isOurShare = beginLook()
    for (let found = await abandonedRuns(); !isDraining(); ) {
      // Runs that cannot be recovered yet, or are left to others, stay orphans. They must not hide the ones behind them.
      const orphans = await store.runs.orphans(clock.now(), BATCH + seen.size)
      for (const orphan of orphans) if (orphan.leaseOwner === null || canTakeOver()) found.push(orphan)
      const next = found.filter(({ id }) => !seen.has(id) && !runs.has(id))
      if (next.length === 0) return
      for (const { id } of next) seen.add(id)
      // All at once: each is in a session of its own, and together they share their syncs.
      await Promise.all(next.filter(isOurShare).map(recover))
      found = []
    }
  }

  async function abandonedRuns(): Promise<RunRecord[]> {
    const found: RunRecord[] = []
    for (const id of [...abandoned]) {
      const run = await store.runs.get(id)
      if (run?.status === 'running' && run.leaseOwner === leaseOwner && !runs.has(id)) found.push(run)
      else abandoned.delete(id)
    }
    return found
  }

  async function recover(orphan: RunRecord): Promise<void> {
    if (isLeft(orphan)) return
    try {
      await (orphan.status === 'queued' ? begin(orphan) : takeOver(orphan))
    } catch (error) {
      // Another process was faster.
      if (hasCode(error, 'run_fenced', 'conflict')) return
      runLogger(logger, orphan).warn('a run could not be recovered yet', { error })
    }
  }

  async function takeOver(orphan: RunRecord): Promise<void> {
    const session = await store.sessions.get(orphan.sessionId)
    if (session === null) return
    const settle = runs.prepare(orphan.id)
    let isOurs = false
    try {
      const claimed = await claim(deps, orphan)
      const { run, lastFence } = claimed
      isOurs = true
      takenOver[takeoverOf(orphan)] += 1
      abandoned.delete(run.id)
      // Read only now: the owner before us may have written until we claimed the run.
      const entries = await runEntries(store, run)
      const { writer, resumption } = await revive(deps, { ...claimed, entries }, session)
      if (resumption === null) await startNext(session.id)
      else runs.execute(run, session, writer, { ...resumption, lastFence })
    } catch (error) {
      if (isOurs) abandoned.add(orphan.id)
      throw error
    } finally {
      settle()
    }
  }

  const takeoverOf = (orphan: RunRecord): Takeover => {
    if (orphan.leaseOwner === null) return 'given_back'
    return orphan.leaseOwner === leaseOwner ? 'abandoned' : 'died'
  }

  return { abandon: ({ id }) => void abandoned.add(id), recoverAll, recover, takenOver }
}

/** The others look for the runs of dead processes within two seconds. What they have not taken by then is anybody's. */
const LEFT_MS = 1_500

/** Shares the runs of dead processes out, so that the first one that looks does not take them all. Call it for each look. */
function createShares({
  clock,
  leaseOwner,
  otherProcesses,
}: Pick<RecoveryDeps, 'clock' | 'leaseOwner' | 'otherProcesses'>): () => (orphan: RunRecord) => boolean {
  /** When a run was first left to another process: monotonic ms, by run and fence. */
  let left = new Map<string, number>()

  return () => {
    const before = left
    left = new Map()
    return ({ id, fence, status, leaseOwner: owner }) => {
      // Nobody died with these. Whoever sees them first goes on with them.
      if (status !== 'running' || owner === null || owner === leaseOwner) return true
      // Everybody comes to the same answer without asking, as long as they know of the same processes.
      const takers = [leaseOwner, ...otherProcesses().filter((one) => one !== owner)].sort()
      if (takers[Number.parseInt(sha256(id).slice(0, 8), 16) % takers.length] === leaseOwner) return true
      const key = `${id} ${fence}`
      const since = before.get(key) ?? clock.mono()
      left.set(key, since)
      return clock.mono() - since >= LEFT_MS
    }
  }
}

interface Claimed {
  run: RunRecord
  /** Its last owner died with it, rather than giving it back. */
  died: boolean
  /** The fence under which it executed before. */
  lastFence: number
}

/** Makes this process the owner of the run. Throws `run_fenced` when another process was faster. */
async function claim(
  { log, clock, leaseOwner }: Pick<RecoveryDeps, 'log' | 'clock' | 'leaseOwner'>,
  orphan: RunRecord,
): Promise<Claimed> {
  const { id: runId, fence } = orphan
  // A run that was given back has no owner, and an abandoned one has us: no process died with it.
  const died = orphan.leaseOwner !== null && orphan.leaseOwner !== leaseOwner
  const at = clock.now()
  const data = factText({ fact: 'run_recovered', run: runId, fence: fence + 1, died: died || undefined, at })
  const recovered = { kind: 'fact' as const, data }
  const claimed = await log.commit({ type: 'claim_run', runId, fence, leaseOwner, entries: [recovered] })
  // Giving a run back has raised its fence.
  const lastFence = orphan.leaseOwner === null ? fence - 1 : fence
  return { run: { ...(claimed.run ?? orphan), origin: 'recovery' }, died, lastFence }
}

/** Closes what the last owner left open. The run goes on with the resumption; null: it must not, and has ended. */
async function revive(
  deps: ReviveDeps,
  { run, died, entries }: Claimed & { entries: Pick<Entry, 'kind' | 'data'>[] },
  session: SessionRecord,
): Promise<{ writer: RunWriter; resumption: Omit<Resumption, 'lastFence'> | null }> {
  const { store, logger } = deps
  const remains = readRemains(entries)
  const writer = createRunWriter(deps, run, remains.writtenUntil ?? undefined)
  for (const event of remains.events) writer.see(event)
  const left = { run, session, died, remains, writer }

  if (run.cancelRequested) {
    const why = { kind: 'cancelled', by: 'request' } as const
    await endHere(deps, left, why, await readFates(store, session.id, remains))
    return { writer, resumption: null }
  }
  const review = reviewNeeded(remains)
  if (review !== null) {
    const fates = await readFates(store, session.id, remains)
    const message = `${review}${notRun(fates)}`
    runLogger(logger, run).error('a run was not resumed: a person has to look at it', { reason: message })
    await endHere(deps, left, { kind: 'failed', code: 'needs_review', message }, fates)
    return { writer, resumption: null }
  }
  await interruptHeld(deps, run)
  await showWhatIsThere(deps, left)
  runLogger(logger, run).info('a run goes on after a restart', { steps_done: remains.stepsDone })
  const begun = new Map(remains.unanswered.map((intent) => [intent.call, intent.binding]))
  return { writer, resumption: { stepsDone: remains.stepsDone, usage: remains.usage, begun } }
}

/** The calls that held these questions are gone with their process. They ask again when they are made again. */
async function interruptHeld({ store, log, clock }: ReviveDeps, run: RunRecord): Promise<void> {
  const { id: runId, sessionId } = run
  const pending = await store.waits.list({ sessionId, runId, wait: 'approval', status: 'pending', limit: MOST_HELD })
  const at = clock.now()
  const answers = pending
    .filter((wait) => wait.wait === 'approval' && wait.question?.held === true)
    .map(({ id }) => ({ waitId: id, at, by: 'restart', outcome: { type: 'interrupted' as const } }))
  if (answers.length > 0) await log.commit({ type: 'settle_waits', answers, now: at })
}

const MOST_HELD = 1_000

interface Left {
  run: RunRecord
  session: SessionRecord
  died: boolean
  remains: RunRemains
  writer: RunWriter
}

/** Ends the run. Every call that is open gets a result that says what became of it, also where the run was only cancelled. */
async function endHere(
  { ids, logger }: ReviveDeps,
  { run, session, remains, writer }: Left,
  why: EndingStop,
  fates: readonly CallFate[],
): Promise<void> {
  const now = writer.timestamp()
  const partial = brokenOffMessages(remains, run, now)
  // Nothing may be open when a result is shown.
  for (const event of writer.open.closing(now, BROKEN_OFF)) writer.emit(event)
  const results = tellFates(fates, run, writer, ids)
  const ending = { run, session, usage: remains.usage, timestamp: writer.timestamp() }
  const end = stoppedEnd(why, ending, [...partial, ...results])
  await writer.finish({ ...end, audit: fateRecords(fates, run, session, now) })
  logUnexecutedEnd(logger, run, end.status, { error: end.error })
}

const MOST_SHOWN = 1_000

/** Readers have seen half an answer that will not go on, so they are shown the conversation as it is now. */
async function showWhatIsThere({ store }: ReviveDeps, { run, session, died, remains, writer }: Left): Promise<void> {
  const now = writer.timestamp()
  const closing = writer.open.closing(now, BROKEN_OFF)
  const partial = brokenOffMessages(remains, run, now)
  // It was given back between two steps, so readers miss nothing.
  if (!died && closing.length === 0 && partial.length === 0) return
  for (const event of closing) writer.emit(event)
  await writer.commit({ messages: partial })
  const page = await store.messages.page(session.id, MOST_SHOWN, { maxChars: SNAPSHOT_LIMIT, asides: true })
  const history = shownMessages(page)
  const said = history.filter(({ lane }) => lane === undefined).length
  const isWhole = said < MOST_SHOWN && said >= session.messageCount
  writer.emit(messagesSnapshot(history, isWhole ? history.length : session.messageCount, now))
  await writer.flush()
}
