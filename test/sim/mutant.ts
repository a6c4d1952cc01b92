// A planted bug: it comes in from outside, by wrapping one of the ports. The harness must find every one of them.

import type { ModelAgent } from '../../src/domain/agent/agent.ts'
import type { Clock } from '../../src/domain/clock.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Gate } from '../../src/engine/gate.ts'
import type { Presence } from '../../src/engine/sessions/presence.ts'
import type { SessionLog } from '../../src/log/session-log.ts'
import type { Wake } from '../../src/log/wake.ts'
import type { Shared } from '../../src/store/ports/shared.ts'
import type { Store } from '../../src/store/store.ts'
import type { Tool } from '../../src/tools/tool.ts'
import type { ClusterFaults } from './cluster/cluster-faults.ts'
import type { ElsewhereWorld } from './elsewhere/world.ts'
import type { Faults } from './faults.ts'
import type { HostedWorld } from './hosted/world.ts'
import type { MemoryDisk } from './memory/memory-disk.ts'
import type { SimProcess } from './process.ts'
import type { Random } from './random.ts'

export interface Mutant {
  name: string
  /** What is broken, in a sentence. */
  bug: string
  /** A seed that shows it today, to begin with; when it does not any more, the hunt goes on from there. */
  seed?: number
  /** Which checkers must report it; one of them is enough. */
  foundBy: readonly string[]
  /** What else must happen for the bug to matter. */
  faults?: (faults: Faults) => void
  /** The bug is one of agents elsewhere: they are there, and this is what must happen to them. */
  elsewhere?: (world: ElsewhereWorld) => void
  /** The bug is one of hosted agents: they are there, and this is what must happen to them. */
  hosted?: (world: HostedWorld) => void
  /** The disk as the machine offers it to the process. */
  disk?: (disk: MemoryDisk) => MemoryDisk
  /** What kill -9 leaves, where it is not all that was written. */
  killTakesUnsynced?: boolean
  /** A sync that fails is taken for one that worked; this is what becomes of the disk. */
  ignoresSyncFailure?: (disk: MemoryDisk) => void
  /** What is found on opening is shown without being synced. */
  opensUnsynced?: boolean
  /** The bug is one of several replicas: they are there, and this is what must happen to them. */
  cluster?: (faults: ClusterFaults) => void
  wake?: (wake: Wake) => Wake
  shared?: (shared: Shared) => Shared
  presence?: (presence: Presence, world: MutantWorld) => Presence
  clock?: (clock: Clock) => Clock
  store?: (store: Store, world: MutantWorld) => Store
  log?: (log: SessionLog, world: MutantWorld) => SessionLog
  engine?: (engine: Engine, world: MutantWorld) => Engine
  definition?: (definition: ModelAgent) => ModelAgent
  tools?: (tools: readonly Tool[]) => readonly Tool[]
  gate?: (gate: Gate, world: MutantWorld) => Gate
}

export interface MutantWorld {
  process: SimProcess
  random: Random
}
