// The disk of the memory store: a list of commits, and how many of them survive a power cut. It keeps every commit for ever, so
// it is only for tests and the fault simulator.

import type { Command } from '../../../src/store/ports/command.ts'
import { applyCommand } from './apply-command.ts'
import { createMemoryState, type MemoryState, reopenState } from './memory-state.ts'

/** One transaction, or a mark that a process opened the disk here. Never changes. */
export type Batch = readonly Command[] | 'opened'

export interface MemoryDisk {
  /** In the order in which they were written. */
  readonly batches: Batch[]
  /** The first `synced` batches survive a power cut. */
  synced: number
  /** Counts openings and crashes. A store is dead once this has changed since it opened the disk. */
  incarnation: number
}

export const createMemoryDisk = (): MemoryDisk => ({ batches: [], synced: 0, incarnation: 0 })

/**
 * What a crash leaves. `written`: the process was killed, and everything written is there. `synced`: a power cut took everything
 * after the last sync. A function: a power cut, after which the first so many of the `unsynced` commits are on disk by luck.
 * Commits are lost from the end, never from the middle.
 */
export type Keep = 'written' | 'synced' | ((unsynced: number) => number)

/**
 * The disk after a crash. The store that had it open is dead. The given disk keeps its contents, so a test can continue from one
 * moment in several ways.
 */
export function crash(disk: MemoryDisk, { keep }: { keep: Keep }): MemoryDisk {
  disk.incarnation += 1
  // Killing a process syncs nothing. The next power cut can still take what was not synced.
  if (keep === 'written') return { ...disk, batches: [...disk.batches] }
  const unsynced = disk.batches.length - disk.synced
  const lucky = keep === 'synced' ? 0 : Math.min(Math.max(keep(unsynced), 0), unsynced)
  const batches = disk.batches.slice(0, disk.synced + lucky)
  return { ...disk, batches, synced: batches.length }
}

/** Builds the state from the disk. */
export function replay(disk: MemoryDisk): MemoryState {
  const state = createMemoryState()
  for (const batch of disk.batches) {
    state.batches += 1
    if (batch === 'opened') reopenState(state)
    else for (const command of batch) applyCommand(state, command)
  }
  return state
}
