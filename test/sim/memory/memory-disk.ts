// What outlives the memory store: the list of what was committed, and how much of it a power cut cannot take. It keeps every
// commit for good, so it suits tests and the fault simulator.

import type { Command } from '../../../src/store/ports/command.ts'
import { applyCommand } from './apply-command.ts'
import { createMemoryState, type MemoryState, reopenState } from './memory-state.ts'

/** One transaction, or the mark of a process that began here. Never changed once written. */
export type Batch = readonly Command[] | 'opened'

export interface MemoryDisk {
  /** In the order in which they were written. */
  readonly batches: Batch[]
  /** How many of them, from the first, are safe from a power cut. */
  synced: number
  /** Counts the stores that opened it and the crashes: a store lives while nothing has happened since it opened. */
  incarnation: number
}

export const createMemoryDisk = (): MemoryDisk => ({ batches: [], synced: 0, incarnation: 0 })

/**
 * What a crash leaves. `written`: the process was killed, the machine lives, all that was written is there. `synced`: a power
 * cut took everything behind the last sync. A function: a power cut, and of the `unsynced` later commits the first so many
 * happened to reach the disk; commits are torn off at the end, never out of the middle.
 */
export type Keep = 'written' | 'synced' | ((unsynced: number) => number)

/**
 * The disk as the crash leaves it. The store that has it open is dead from then on. What is on the given disk stays, so that
 * one moment can be continued in several ways.
 */
export function crash(disk: MemoryDisk, { keep }: { keep: Keep }): MemoryDisk {
  disk.incarnation += 1
  // Killing a process syncs nothing: the next power cut can still take what this one left with the kernel.
  if (keep === 'written') return { ...disk, batches: [...disk.batches] }
  const unsynced = disk.batches.length - disk.synced
  const lucky = keep === 'synced' ? 0 : Math.min(Math.max(keep(unsynced), 0), unsynced)
  const batches = disk.batches.slice(0, disk.synced + lucky)
  return { ...disk, batches, synced: batches.length }
}

/** The state that the disk holds. */
export function replay(disk: MemoryDisk): MemoryState {
  const state = createMemoryState()
  for (const batch of disk.batches) {
    state.batches += 1
    if (batch === 'opened') reopenState(state)
    else for (const command of batch) applyCommand(state, command)
  }
  return state
}
