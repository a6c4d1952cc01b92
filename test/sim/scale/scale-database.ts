// The database of a large installation: the rows are those of the memory store, and the time that everything takes follows the
// measured constants. Its cores and its disk are resources that everybody shares.

import type { ScaleConstants } from '../../../bench/scale/constants.ts'
import { DECISIONS, type Task, tripMs } from '../../../bench/scale/cost-model.ts'
import type { Clock } from '../../../src/domain/clock.ts'
import { type Command, needsSync } from '../../../src/store/ports/command.ts'
import type { Committed } from '../../../src/store/ports/journal.ts'
import type { Notifications } from '../../../src/store/ports/notifications.ts'
import type { ReaderRows } from '../../../src/store/ports/reader-rows.ts'
import { isTextAlone } from '../../../src/store/rules/run-rules.ts'
import { type Store, wrapReads } from '../../../src/store/store.ts'
import { createMemoryReaderRows } from '../../../src/store/testing/memory-reader-rows.ts'
import type { Kernel } from '../kernel.ts'
import { createMemoryDisk } from '../memory/memory-disk.ts'
import { createMemoryStore } from '../memory/memory-store.ts'
import { EPOCH, type SimProcess } from '../process.ts'
import { createFlusher, createStation } from './station.ts'

export interface ScaleDatabase {
  connect(process: SimProcess): { store: Store; rows: ReaderRows; notifications: Notifications }
  /** A reader on this replica follows a session that is executed elsewhere. Call the returned function when it leaves. */
  expectReader(process: SimProcess, sessionId: string): () => void
  /** Runs that were taken over, with the time. */
  readonly claims: { runId: string; owner: string; at: number }[]
  /** Runs that this replica executes. */
  ownedBy(name: string): Promise<{ id: string }[]>
  counts(): Counts
}

export interface Counts {
  tokens: number
  groups: number
  syncedGroups: number
  decisions: number
  finished: number
  wakes: number
  heard: number
  walBytes: number
  /** Milliseconds of its cores, by task. */
  cpuMs: Record<Task, number>
  longestLine: number
}

export function createScaleDatabase(kernel: Kernel, constants: ScaleConstants, cores: number): ScaleDatabase {
  const { text, run, notify, read, idle } = constants
  const clock: Clock = {
    now: () => EPOCH + Math.floor(kernel.time),
    mono: () => kernel.time,
    after: (ms, fire) => kernel.after(ms, fire),
    soon: (fire) => void kernel.after(0, fire),
  }
  const disk = createMemoryDisk()
  const inner = createMemoryStore({ disk, clock })
  const cpu = createStation(kernel, cores)
  const flush = createFlusher(kernel, constants.flushMs)
  const halfTrip = tripMs(constants) / 2
  const leases = new Map<string, number>()
  const live = () => [...leases].filter(([, until]) => until > clock.now()).map(([owner]) => owner)
  const rows = createMemoryReaderRows(live)
  const listeners = new Map<SimProcess, (payload: string | null) => void>()
  const readers = new Map<string, Set<SimProcess>>()
  const claims: { runId: string; owner: string; at: number }[] = []
  const counts = emptyCounts()

  /** Resolves when a core has worked for so many microseconds; never for a process that is dead by then. */
  function work(task: Task, us: number, process?: SimProcess): Promise<void> {
    counts.cpuMs[task] += us / 1_000
    return new Promise((resolve) =>
      cpu.use(us / 1_000, () => {
        if (process?.alive !== false) resolve()
      }),
    )
  }

  async function writeGroup(commands: readonly Command[]): Promise<void> {
    const sessions = new Set<string>()
    let events = 0
    let decisions = 0
    for (const command of commands) {
      if (command.type === 'append' && isTextAlone(command)) {
        sessions.add(command.sessionId)
        events += command.entries.length
        for (const { data } of command.entries) if (data.startsWith(TOKEN)) counts.tokens += 1
      } else if (command.type !== 'renew_lease') decisions += 1
      if (command.type === 'renew_lease') leases.set(command.leaseOwner, command.until)
      if (command.type === 'finish_run') counts.finished += 1
    }
    counts.groups += 1
    counts.decisions += decisions
    if (decisions > 0) counts.syncedGroups += 1
    const { group, row, event } = text.databaseUs
    const wal = text.walBytes
    counts.walBytes += sessions.size * wal.row + events * wal.event + wal.group + (decisions / DECISIONS) * run.walBytes
    const textUs = sessions.size * row + events * event + (decisions === 0 && events > 0 ? group : 0)
    if (textUs > 0) counts.cpuMs.text += textUs / 1_000
    await work('runs', (decisions / DECISIONS) * run.databaseUs * run.storedFactor + textUs)
    counts.cpuMs.runs -= textUs / 1_000
    if (commands.some(needsSync)) await new Promise<void>(flush)
  }

  async function commit(process: SimProcess, commands: readonly Command[]): Promise<Committed> {
    await kernel.sleep(halfTrip)
    await writeGroup(commands)
    const { results } = await inner.commit(commands)
    // Only the rows matter here. The list of all commits would fill the memory.
    disk.batches[disk.batches.length - 1] = 'opened'
    disk.synced = disk.batches.length
    for (const [i, command] of commands.entries()) {
      if (command.type === 'claim_run' && results[i]?.ok)
        claims.push({ runId: command.runId, owner: command.leaseOwner, at: kernel.time })
    }
    await process.pause(halfTrip)
    return { results, synced: Promise.resolve() }
  }

  /** Resolves when the sender hears that it was sent. */
  async function send(sender: SimProcess, payload: string): Promise<void> {
    if (!sender.alive) return
    counts.wakes += 1
    counts.heard += listeners.size
    counts.cpuMs.wakes += (notify.databaseUs.send + notify.databaseUs.listener * listeners.size) / 1_000
    const [, ...lists]: unknown[] = JSON.parse(payload)
    const [entries, changed] = lists
    const hearers = new Set<SimProcess>()
    if (entries === '*' || (Array.isArray(changed) && changed.length > 0))
      for (const one of listeners.keys()) hearers.add(one)
    // Others would look whether they have a reader of the session, and find none. What that costs is in the formula.
    else if (Array.isArray(entries)) for (const id of entries) for (const one of readers.get(id) ?? []) hearers.add(one)
    const deliver = () => {
      for (const one of hearers) {
        const on = listeners.get(one)
        if (on !== undefined && one !== sender) one.clock.after(halfTrip, () => on(payload))
      }
    }
    const signal = () => cpu.use((notify.databaseUs.listener * listeners.size) / 1_000, deliver)
    await kernel.sleep(halfTrip)
    await new Promise<void>((resolve) => cpu.use(notify.databaseUs.send / 1_000, resolve))
    signal()
    await sender.pause(halfTrip)
  }

  return {
    connect(process) {
      const far = async <T>(ask: () => Promise<T> | T): Promise<T> => {
        await process.pause(2 * halfTrip)
        return ask()
      }
      const reads = wrapReads(inner, far)
      const store: Store = {
        ...reads,
        async news(after) {
          await work(
            after.size > 20 ? 'polls' : 'readers elsewhere',
            read.heads.query + after.size * read.heads.row,
            process,
          )
          return reads.news(after)
        },
        async entries(sessionId, ...more) {
          if (readers.get(sessionId)?.has(process) === true) await work('readers elsewhere', read.entries, process)
          return reads.entries(sessionId, ...more)
        },
        runs: {
          ...reads.runs,
          async open(sessionId) {
            await work('looks at ended runs', read.openRuns, process)
            return reads.runs.open(sessionId)
          },
          async orphans(...asked) {
            await work('looks for dead replicas', listeners.size * read.owner, process)
            return reads.runs.orphans(...asked)
          },
          async owned(owner) {
            // Stands for everything that a replica asks every second.
            await work('polls', idle.databaseUs, process)
            return reads.runs.owned(owner)
          },
        },
        commit: (commands) => commit(process, commands),
        check: () => inner.check(),
        figures: () => inner.figures(),
        rest() {},
        async close() {},
      }
      return {
        store,
        rows,
        notifications: {
          send: (payload) => send(process, payload),
          listen(on) {
            listeners.set(process, on)
            process.onDeath(() => listeners.delete(process))
            return () => void listeners.delete(process)
          },
        },
      }
    },
    expectReader(process, sessionId) {
      const here = readers.get(sessionId) ?? new Set()
      readers.set(sessionId, here.add(process))
      return () => {
        here.delete(process)
        if (here.size === 0 && readers.get(sessionId) === here) readers.delete(sessionId)
      }
    },
    claims,
    ownedBy: (name) => inner.runs.owned(name),
    counts: () => ({ ...counts, cpuMs: { ...counts.cpuMs }, longestLine: cpu.longestLine }),
  }
}

const TOKEN = '{"type":"TEXT_MESSAGE_CONTENT"'

const emptyCounts = (): Counts => ({
  tokens: 0,
  groups: 0,
  syncedGroups: 0,
  decisions: 0,
  finished: 0,
  wakes: 0,
  heard: 0,
  walBytes: 0,
  cpuMs: {
    text: 0,
    runs: 0,
    wakes: 0,
    'looks at ended runs': 0,
    'looks for dead replicas': 0,
    'readers elsewhere': 0,
    polls: 0,
  },
  longestLine: 0,
})
