import type { Presence } from '../sessions/presence.ts'

/** The processes that share a store, as the engine of one of them sees them. */
export interface EngineReplicas {
  /** Name of this process: the owner of its lease. */
  owner: string
  /**
   * No other process can use the store: runs of all other owners are taken over at once, and nobody goes on with runs of this one.
   * False: the runs of an owner are taken over when its lease has run out.
   */
  isOnlyProcess: boolean
  /** Whether no other process lives that could go on with the runs of this one, as far as it knows. */
  isAlone(): boolean
  /** The names of the other processes that live, as it was a few seconds ago. */
  others(): readonly string[]
  /** Knows the readers of all processes. */
  presence: Presence
}

/** Of a process that no other one can share the store with. */
export const onlyProcess = (owner: string, presence: Presence): EngineReplicas => ({
  owner,
  isOnlyProcess: true,
  isAlone: () => true,
  others: () => [],
  presence,
})
