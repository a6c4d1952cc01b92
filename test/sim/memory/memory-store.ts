// A store in plain JavaScript: the model for the real ones, and the base of the fault simulator.

import { type Clock, sleep } from '../../../src/domain/clock.ts'
import { ServerError } from '../../../src/domain/errors.ts'
import { type AnyRecord, isWaiting } from '../../../src/domain/records/record.ts'
import type { RunStatus } from '../../../src/domain/session/run.ts'
import { type Command, needsSync, type Result } from '../../../src/store/ports/command.ts'
import type { Committed } from '../../../src/store/ports/journal.ts'
import { type Store, type StoreFigures, wrapReads } from '../../../src/store/store.ts'
import { applyCommand } from './apply-command.ts'
import { createMemoryDisk, type MemoryDisk, replay } from './memory-disk.ts'
import { createMemoryReads } from './memory-reads.ts'
import type { MemoryState } from './memory-state.ts'

export interface MemoryStoreOptions {
  /** The disk to open. A store that had it open is dead from then on. Left out: a new, empty disk. */
  disk?: MemoryDisk
  /** Needed for faults that delay. */
  clock?: Clock
  faults?: StorageFaults
}

/**
 * Decides what goes wrong. Called before each commit and each sync. If it throws a `ServerError` before a commit, the whole commit
 * fails (`storage_full`, `storage_failed`). If it throws before a sync, the disk has failed, which ends the process.
 */
export type StorageFaults = (operation: StorageOperation) => StorageFault | undefined

export interface StorageOperation {
  /** Counts the commits and syncs of this store from 1. */
  number: number
  kind: 'commit' | 'sync'
}

export type StorageFault =
  /** The operation takes this long. A commit is written at once and answered late. */
  | { delayMs: number }
  /** The process dies before the operation, or after it but before the answer. */
  | { dies: 'before' | 'after' }

/** A dead process neither keeps its promises nor breaks them. */
const never = (): Promise<never> => new Promise(() => {})

export function createMemoryStore({
  disk = createMemoryDisk(),
  clock,
  faults = () => undefined,
}: MemoryStoreOptions = {}): Store {
  disk.batches.push('opened')
  disk.incarnation += 1
  const { incarnation } = disk
  const state = replay(disk)
  // For each session, how far its seqs are reserved and the batch that says so.
  const reservations = new Map<string, { to: number; batch: number }>()
  let operations = 0
  let died = false
  let closed = false

  const isDead = (): boolean => died || disk.incarnation !== incarnation

  function die(): Promise<never> {
    died = true
    return never()
  }

  function next(kind: StorageOperation['kind']): { delayMs: number; dies: 'before' | 'after' | null } {
    operations += 1
    return { delayMs: 0, dies: null, ...faults({ number: operations, kind }) }
  }

  async function wait(ms: number): Promise<void> {
    if (ms === 0) return
    if (clock === undefined) throw new Error('createMemoryStore needs a clock to delay an operation.')
    await sleep(clock, ms)
  }

  function noteReservation(sessionId: string): void {
    const to = state.sessions.get(sessionId)?.reservedTo
    if (to === undefined) reservations.delete(sessionId)
    else if (reservations.get(sessionId)?.to !== to) reservations.set(sessionId, { to, batch: disk.batches.length })
  }

  function write(batch: readonly Command[]): Result[] {
    disk.batches.push(batch)
    state.batches = disk.batches.length
    return batch.map((command) => {
      const result = applyCommand(state, command)
      const sessionId = 'sessionId' in command ? command.sessionId : result.ok ? result.run?.sessionId : undefined
      if (sessionId !== undefined) noteReservation(sessionId)
      return result
    })
  }

  /** Readers see text in flight at once. If a power cut takes it, its seqs must not be used again. */
  const isExposed = (command: Command): boolean =>
    command.type === 'append' &&
    !command.sync &&
    command.entries.length > 0 &&
    (reservations.get(command.sessionId)?.batch ?? 0) > disk.synced

  async function sync(): Promise<void> {
    // A sync vouches for what was written when it began.
    const written = disk.batches.length
    let fault: ReturnType<typeof next>
    try {
      fault = next('sync')
    } catch (error) {
      if (error instanceof ServerError) return die()
      throw error
    }
    if (fault.dies === 'before') return die()
    await wait(fault.delayMs)
    if (isDead()) return never()
    disk.synced = Math.max(disk.synced, written)
    if (fault.dies === 'after') return die()
  }

  async function commit(commands: readonly Command[]): Promise<Committed> {
    if (closed) throw storeClosed()
    if (isDead()) return never()
    const fault = next('commit')
    if (fault.dies === 'before') return die()
    const batch = structuredClone(commands)
    const results = write(batch)
    if (fault.dies === 'after') return die()

    // A refused or repeated command waits too, because its answer depends on an earlier write.
    const isSynced = batch.some(needsSync)
    const exposed = batch.some(isExposed)
    const synced = isSynced || exposed ? sync() : Promise.resolve()
    await wait(fault.delayMs)
    if (exposed) await synced
    return isDead() ? never() : { results, synced: isSynced ? synced : Promise.resolve() }
  }

  async function answer<T>(read: () => T): Promise<T> {
    if (closed) throw storeClosed()
    return isDead() ? never() : structuredClone(read())
  }

  return {
    commit,
    ...wrapReads(createMemoryReads(state, disk), answer),

    async check() {
      try {
        await commit([])
      } catch (cause) {
        throw new ServerError('storage_failed', 'The store cannot be written to.', { cause })
      }
    },
    figures: () =>
      answer(() => ({
        bytes: 0,
        walBytes: 0,
        inbox: [...state.waits.values()].filter((wait) => wait.wait !== 'client_call' && isWaiting(wait)).length,
        runs: {
          queued: countOf(state, 'queued'),
          running: countOf(state, 'running'),
          waiting: countOf(state, 'waiting'),
        },
        waits: waitFigures([...state.waits.values()].filter(isWaiting)),
        leases: [...state.leases.values()],
        outbox: Object.fromEntries(
          [...state.outboxes]
            .map(([channel, { deliveries }]) => [channel, deliveries.reduce((sum, one) => sum + one.count, 0)] as const)
            .filter(([, count]) => count > 0),
        ),
      })),
    rest() {},
    async close() {
      closed = true
    },
  }
}

const countOf = (state: MemoryState, status: RunStatus): number =>
  [...state.runs.values()].filter((run) => run.status === status).length

function waitFigures(waiting: readonly AnyRecord[]): StoreFigures['waits'] {
  const byKind = Map.groupBy(waiting, ({ wait }) => wait)
  return Object.fromEntries(
    [...byKind].map(([kind, list]) => [
      kind,
      { count: list.length, oldestAt: Math.min(...list.map(({ createdAt }) => createdAt)) },
    ]),
  )
}

const storeClosed = (): ServerError => new ServerError('storage_failed', 'The store is closed.')
