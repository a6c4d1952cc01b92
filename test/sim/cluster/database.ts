// The database that all replicas share. A commit counts at one instant, with everything before it that it needs. The database can
// go away; a standby that takes its place has all that was acknowledged, and text in flight of replicas that live: their stores write it
// again. Text of a replica that is dead by then may be lost.

import type { Clock } from '../../../src/domain/clock.ts'
import { ServerError } from '../../../src/domain/errors.ts'
import { createLocalShared } from '../../../src/store/local-shared.ts'
import { type Command, needsSync } from '../../../src/store/ports/command.ts'
import type { Committed } from '../../../src/store/ports/journal.ts'
import type { Notifications } from '../../../src/store/ports/notifications.ts'
import type { ReaderRows } from '../../../src/store/ports/reader-rows.ts'
import type { Shared } from '../../../src/store/ports/shared.ts'
import type { Store } from '../../../src/store/store.ts'
import { createMemoryReaderRows } from '../../../src/store/testing/memory-reader-rows.ts'
import { lostSeqs } from '../disk-history.ts'
import type { History } from '../history.ts'
import type { Kernel } from '../kernel.ts'
import { createMemoryDisk, type MemoryDisk } from '../memory/memory-disk.ts'
import { createMemoryStore } from '../memory/memory-store.ts'
import { EPOCH, type SimProcess } from '../process.ts'
import type { Random } from '../random.ts'
import type { ClusterFaults } from './cluster-faults.ts'

export interface Database {
  readonly disk: MemoryDisk
  /** As it is now, without any distance. */
  readonly inner: Store
  readonly isAway: boolean
  now(): number
  connect(process: SimProcess, draw: Random): Connection
  /** Breaks all connections for so long. `failover`: a standby takes its place. */
  goAway(ms: number, failover: boolean): void
  /** Comes back at once. */
  comeBack(): void
  fill(full: boolean): void
  /** Whoever listens for wakes loses the connection. */
  loseListeners(): void
}

/** What one replica has of the database. */
export interface Connection {
  store: Store
  rows: ReaderRows
  shared: Shared
  notifications: Notifications
}

interface DatabaseDeps {
  kernel: Kernel
  faults: ClusterFaults
  history: History
  isCalm: () => boolean
  random: Random
}

/** The store waits so long for a database that is away. */
const PATIENCE_MS = 10_000
const LOOK_MS = 50

export function createDatabase({ kernel, faults, history, isCalm, random }: DatabaseDeps): Database {
  const now = () => EPOCH + Math.floor(kernel.time)
  const clock: Clock = {
    now,
    mono: () => kernel.time,
    after: (ms, fire) => kernel.after(ms, fire),
    soon: (fire) => void kernel.after(0, fire),
  }
  const leases = new Map<string, number>()
  const live = () => [...leases].filter(([, until]) => until > now()).map(([owner]) => owner)
  const rows = createMemoryReaderRows(live)
  const shared = createLocalShared(clock)
  const listeners = new Set<{ process: SimProcess; on: (payload: string | null) => void }>()
  /** Who wrote a batch. */
  const writers = new WeakMap<object, SimProcess>()
  let disk = createMemoryDisk()
  let inner = createMemoryStore({ disk, clock })
  let awayUntil = 0
  let isFull = false

  const isAway = () => kernel.time < awayUntil

  function tellLoss(): void {
    for (const { process, on } of listeners) process.clock.after(0, () => on(null))
  }

  /** Batches after the last sync hold nothing but text and leases, each in the order of its writer. */
  function failOver(): void {
    const before = disk
    const cuts = new Map<SimProcess, number>()
    const tail = before.batches.slice(before.synced).filter((batch, i) => {
      const writer = batch === 'opened' ? undefined : writers.get(batch)
      if (writer === undefined || writer.alive) return true
      const cut = cuts.get(writer) ?? random.below(before.batches.length - before.synced + 1)
      cuts.set(writer, cut)
      return i < cut
    })
    const batches = [...before.batches.slice(0, before.synced), ...tail]
    const hasLost = batches.length < before.batches.length
    disk = { ...before, batches, synced: batches.length }
    inner = createMemoryStore({ disk, clock })
    disk.synced = disk.batches.length
    if (hasLost) {
      history.powerCuts.push({ at: kernel.time, lost: lostSeqs(before, disk) })
    }
  }

  function connect(process: SimProcess, draw: Random): Connection {
    /** Waits for the database, as the store does. */
    async function reach(): Promise<void> {
      const until = kernel.time + PATIENCE_MS
      while (isAway()) {
        if (kernel.time >= until) throw new ServerError('storage_failed', 'The database does not answer.')
        await kernel.sleep(LOOK_MS * (1 + draw.float()))
      }
    }

    /** The database's time for a time of this replica's clock. */
    const atDatabase = (ms: number) => ms - process.clock.now() + now()

    const translated = (command: Command): Command =>
      command.type === 'renew_lease' ? { ...command, until: atDatabase(command.until) } : command

    async function commit(commands: readonly Command[]): Promise<Committed> {
      const sent = commands.map(translated)
      await kernel.sleep(draw.float() * (sent.some(needsSync) ? faults.commitMs : faults.commitMs / 5))
      await reach()
      if (isFull) throw new ServerError('storage_full', 'The disk is full.')
      const at = disk.batches.length
      const committing = inner.commit(sent)
      const batch = disk.batches[at]
      if (typeof batch === 'object') writers.set(batch, process)
      for (const command of sent) if (command.type === 'renew_lease') leases.set(command.leaseOwner, command.until)
      const { results, synced } = await committing
      await synced
      // The connection breaks before the answer is here. The store asks what became of its transaction.
      if (!isCalm() && draw.chance(faults.lostAnswers)) await kernel.sleep(draw.float() * 1_000)
      await reach().catch(() => reach())
      return { results, synced: Promise.resolve() }
    }

    /** What a process that is dead or stands still has asked for does not come back to it. */
    async function ask<T>(work: () => Promise<T>): Promise<T> {
      try {
        await reach()
        return await work()
      } finally {
        await process.pause(draw.float())
      }
    }
    const near = <Port extends object>(port: Port): Port =>
      Object.fromEntries(
        Object.entries(port).map(([name, member]) => [
          name,
          typeof member === 'function' ? (...args: unknown[]) => ask(() => member(...args)) : member,
        ]),
      ) as Port

    // A failover replaces the store, so every read looks for the one of its moment.
    const store: Store = {
      ...(lateReads([], inner, async (path, args) => {
        await reach()
        return callAt(inner, path, args)
      }) as Store),
      commit,
      check: () => inner.check(),
      figures: () => inner.figures(),
      rest() {},
      async close() {},
    }
    const { orphans } = store.runs
    store.runs = { ...store.runs, orphans: (ms, limit) => orphans(atDatabase(ms), limit) }

    return {
      store,
      rows: near(rows),
      shared: near(shared),
      notifications: createNotifications(process, draw),
    }
  }

  function createNotifications(process: SimProcess, draw: Random): Notifications {
    const deliver = (payload: string) => {
      for (const { process: hearer, on } of listeners) {
        if (!hearer.alive) continue
        const ms = 1 + draw.float() * (isCalm() ? 1 : faults.wakes.ms)
        hearer.clock.after(ms, () => on(payload))
      }
    }
    return {
      async send(payload) {
        if (!process.alive || isAway()) return
        if (!isCalm() && draw.chance(faults.wakes.dropped)) return
        deliver(payload)
        if (!isCalm() && draw.chance(faults.wakes.twice)) deliver(payload)
      },
      listen(on) {
        const listener = { process, on }
        listeners.add(listener)
        process.onDeath(() => listeners.delete(listener))
        return () => void listeners.delete(listener)
      },
    }
  }

  return {
    get disk() {
      return disk
    },
    get inner() {
      return inner
    },
    get isAway() {
      return isAway() || isFull
    },
    now,
    connect,
    goAway(ms, failover) {
      kernel.trace(failover ? 'a standby takes the place of the database' : 'the database goes away')
      awayUntil = kernel.time + ms
      if (failover) failOver()
      tellLoss()
    },
    comeBack() {
      awayUntil = kernel.time
    },
    fill(full) {
      isFull = full
    },
    loseListeners: tellLoss,
  }
}

type CallAt = (path: readonly string[], args: readonly unknown[]) => Promise<unknown>

/** The same functions, each called by its path. */
const lateReads = (path: readonly string[], port: object, call: CallAt): object =>
  Object.fromEntries(
    Object.entries(port).map(([name, member]) => {
      const here = [...path, name]
      if (typeof member !== 'function') return [name, lateReads(here, member, call)]
      return [name, (...args: unknown[]) => call(here, args)]
    }),
  )

function callAt(port: object, path: readonly string[], args: readonly unknown[]): unknown {
  let found: unknown = port
  for (const name of path) found = typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined
  if (typeof found !== 'function') throw new Error(`the store has no ${path.join('.')}`)
  return found(...args)
}
