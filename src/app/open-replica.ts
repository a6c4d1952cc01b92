// A server that shares its store with others: what it tells them, and what it asks them.

import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { type Alone, createAlone } from '../replicas/create-alone.ts'
import { openReplicaBoard, type ReplicaBoard } from '../replicas/replica-board.ts'
import { openReplicaCalls, type ReplicaCalls } from '../replicas/replica-calls.ts'
import { createSharedChanges, type SharedChanges } from '../replicas/shared-changes.ts'
import type { Shared } from '../store/ports/shared.ts'

export interface Replica {
  /** Name of this process. No other one has it. */
  owner: string
  shared: Shared
  changes: SharedChanges
  board: ReplicaBoard
  calls: ReplicaCalls
  alone: Alone
  /** Names the folder in which this process keeps what belongs to its machine. */
  place: string
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
  return { owner, place, shared, changes, board, calls, alone: createAlone({ shared, owner, clock }) }
}
