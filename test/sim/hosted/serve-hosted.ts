// What one life of the server offers hosted agents, put together as the program does it. Only the programs and the files are the
// simulator's.

import type { Clock } from '../../../src/domain/clock.ts'
import type { Ids } from '../../../src/domain/ids.ts'
import type { Logger } from '../../../src/domain/logger.ts'
import { acpOf } from '../../../src/hosts/hosts.ts'
import type { Shared } from '../../../src/store/ports/shared.ts'
import type { Store } from '../../../src/store/store.ts'
import type { AgentsElsewhere } from '../../../src/supervision/agents-elsewhere.ts'
import { createHostWork, type HostedWork } from '../../../src/supervision/hosted/create-host-work.ts'
import type { Started } from '../../../src/supervision/hosted/held-talks.ts'
import { type ChangeSet, changeSetOf, type SetChange } from '../../../src/supervision/worktrees/change-set.ts'
import { hashOf, placeOf, proposeIn } from '../elsewhere/sim-files.ts'
import type { History } from '../history.ts'
import type { Kernel } from '../kernel.ts'
import type { SimProcess } from '../process.ts'
import type { Random } from '../random.ts'
import { startProgram } from './program.ts'
import { type HostedWorld, type Room, roomOf, WORKSPACE } from './world.ts'

interface TrialParts {
  kernel: Kernel
  history: History
  isCalm: () => boolean
}

interface LifeParts {
  process: SimProcess
  store: Store
  clock: Clock
  ids: Ids
  logger: Logger
  random: Random
  elsewhere: AgentsElsewhere
  shared: Shared
  owner: string
}

export function serveHosted(
  world: HostedWorld,
  { kernel, history, isCalm }: TrialParts,
  { process, store, clock, ids, logger, random, elsewhere, shared, owner }: LifeParts,
): HostedWork {
  return createHostWork({
    ...elsewhere.hosting,
    ...{ store, clock, ids, logger, shared, owner },
    changes: elsewhere.changes,
    place: null,
    async start({ id }, _host, { earlier, onHeard }): Promise<Started> {
      // It loads for a while.
      await process.pause(random.float() * 300)
      const room = roomOf(world, id)
      const isSame = earlier !== null && earlier === room.conversation && random.chance(world.remembers)
      const talk = startProgram({
        ...{ world, room, process, kernel, history, isCalm, onHeard },
        sessionId: id,
        random: random.fork(`program ${id}`),
      })
      kernel.trace(`a program of ${id.slice(-6)} runs in life ${process.number}`)
      return {
        ...{ talk, isSame, terminals: null, words: acpOf('custom') },
        place: { isPrivateCopy: world.writes === 'worktree', cwd: WORKSPACE, isConfined: true },
        files: filesOf(world, room),
      }
    },
  })
}

/** The private copy, or the way through us. */
function filesOf({ writes, files }: HostedWorld, { copy }: Room): Started['files'] {
  const textOf = (path: string) => files.contents.get(placeOf({ workspaceRoot: WORKSPACE, path }))
  const propose = (path: string, text: string): SetChange => ({
    ...proposeIn(files, { workspaceRoot: WORKSPACE, filePath: path, diff: text, serverPaths: [] }),
    agentHash: hashOf(text),
  })
  return {
    async refresh() {},
    async changes(): Promise<ChangeSet | null> {
      const changed = [...copy].filter(([path, text]) => text !== textOf(path))
      return changed.length === 0
        ? null
        : changeSetOf(
            changed.map(([path, text]) => propose(path, text)),
            [],
          )
    },
    async settled(changes) {
      for (const { path, agentHash } of changes) if (hashOf(copy.get(path)) === agentHash) copy.delete(path)
    },
    async discard(paths) {
      for (const path of paths) copy.delete(path)
    },
    async proposeWrite({ path, content }) {
      if (writes === 'worktree') throw new Error('it writes in its copy')
      return content === textOf(path) ? null : changeSetOf([propose(path, content)], [])
    },
  }
}
