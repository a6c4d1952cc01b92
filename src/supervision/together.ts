import type { Alone } from '../replicas/create-alone.ts'
import type { ReplicaBoard } from '../replicas/replica-board.ts'
import type { SharedChanges } from '../replicas/shared-changes.ts'
import type { Shared } from '../store/ports/shared.ts'

/** What supervision needs where several processes share the store. */
export interface Together {
  /** Names the folder in which this process keeps what belongs to its machine. A later process on that folder has the same name. */
  place: string
  shared: Shared
  changes: SharedChanges
  board: ReplicaBoard
  alone: Alone
}

/** Whether a process on this folder began what is recorded: where one process owns the store, all of it. */
export const isOfPlace = (together: Pick<Together, 'place'> | undefined, place: string | undefined): boolean =>
  together === undefined || place === together.place
