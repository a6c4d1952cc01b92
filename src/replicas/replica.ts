// A server among those that share its store: what it tells them, and what it asks them. A server that has its store for itself is one
// among none: nobody is told, asked or waited for, and nothing runs for it.

import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { Shared } from '../store/ports/shared.ts'
import { type Alone, createAlone } from './create-alone.ts'
import { openReplicaBoard, type ReplicaBoard } from './replica-board.ts'
import { openReplicaCalls, type ReplicaCalls } from './replica-calls.ts'
import { createSharedChanges, type SharedChanges } from './shared-changes.ts'
import { createSharedCounts, ownCounts, type SharedCounts } from './shared-counts.ts'

export interface Replica {
  /** Name of this process. No other one has it. */
  owner: string
  /** False: no other process can use the store. */
  isShared: boolean
  shared: Shared
  changes: SharedChanges
  board: ReplicaBoard
  calls: ReplicaCalls
  alone: Alone
  counts: SharedCounts
  /**
   * Names the folder in which this process keeps what belongs to its machine. A later process on that folder has the same name. Null:
   * no other process uses the store, so all of it is here.
   */
  place: string | null
}

interface ReplicaParts {
  shared: Shared
  owner: string
  place: string
  clock: Clock
  ids: Ids
  log: Logger
}

/** What is opened here is closed by `undo`. */
export function openReplica(
  { shared, owner, place, clock, ids, log: logger }: ReplicaParts,
  undo: AsyncDisposableStack,
): Replica {
  const changes = createSharedChanges({ shared, owner, clock, logger })
  undo.defer(() => changes.close())
  const board = openReplicaBoard({ shared, owner, clock, logger })
  undo.defer(() => board.close())
  const calls = openReplicaCalls({ shared, changes, owner, clock, ids, logger })
  undo.defer(() => calls.close())
  const alone = createAlone({ shared, owner, clock })
  return {
    owner,
    isShared: true,
    place,
    shared,
    changes,
    board,
    calls,
    alone,
    counts: createSharedCounts(shared, board),
  }
}

/** `shared` is of this process alone. */
export function createOnlyReplica({ shared, owner }: Pick<ReplicaParts, 'shared' | 'owner'>): Replica {
  return {
    owner,
    isShared: false,
    place: null,
    shared,
    changes: createOwnChanges(),
    board: { say() {}, heard: () => [], listen: async () => [], publish: async () => {}, close: async () => {} },
    calls: {
      serve() {},
      async ask() {
        throw new ServerError('conflict', 'No other server uses this store.')
      },
      close() {},
    },
    // What one process does is in turn already.
    alone: (_name, work) => work(),
    counts: ownCounts,
  }
}

/**
 * Changes of records that no other process sees. Whoever changes something acts on it, so nobody else has to look; a copy is read anew
 * when a change is told.
 */
export function createOwnChanges(): SharedChanges {
  const copies = new Map<string, () => Promise<void>>()
  return {
    async tell(topic) {
      await copies.get(topic)?.()
    },
    watch: () => () => {},
    keep(topic, read) {
      copies.set(topic, read)
      let isRead = false
      return {
        // From then on it is read when a change is told.
        async refresh() {
          if (isRead) return
          await read()
          isRead = true
        },
        isFresh: () => true,
        close: async () => {},
      }
    },
    heard: async () => {},
    look() {},
    close: async () => {},
  }
}
