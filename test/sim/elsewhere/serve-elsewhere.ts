// What one life of the server offers agents elsewhere, put together as the program does it. Only the files of the workspaces are the
// simulator's.

import type { Clock } from '../../../src/domain/clock.ts'
import type { Ids } from '../../../src/domain/ids.ts'
import type { Logger } from '../../../src/domain/logger.ts'
import { ONE_PERSON } from '../../../src/domain/supervision/quorum.ts'
import { testOperator } from '../../../src/domain/testing/test-operator.ts'
import { createFeed } from '../../../src/engine/feed.ts'
import { createOwnJobs } from '../../../src/engine/sessions/jobs.ts'
import type { SessionLog } from '../../../src/log/session-log.ts'
import type { Wake } from '../../../src/log/wake.ts'
import { createOnlyReplica } from '../../../src/replicas/replica.ts'
import type { Shared } from '../../../src/store/ports/shared.ts'
import type { Store } from '../../../src/store/store.ts'
import { type AgentsElsewhere, createAgentsElsewhere } from '../../../src/supervision/agents-elsewhere.ts'
import { configuredOperators } from '../../../src/supervision/sessions/may-command.ts'
import { noMessenger } from '../../../src/supervision/testing/no-messenger.ts'
import type { EffectivePolicy } from '../../../src/supervision/workspace-policy/effective-policy.ts'
import { defaultPolicy } from '../../../src/supervision/workspace-policy/workspace-policy.ts'
import type { SimProcess } from '../process.ts'
import type { Random } from '../random.ts'
import { createSimWriter, proposeIn } from './sim-files.ts'
import type { ElsewhereWorld } from './world.ts'

interface ServeDeps {
  world: ElsewhereWorld
  process: SimProcess
  store: Store
  log: SessionLog
  wake: Wake
  clock: Clock
  ids: Ids
  logger: Logger
  random: Random
  shared: Shared
  owner: string
  /** True: a program that this server holds has heard it. */
  nudge(sessionId: string, text: string): boolean
}

const anyFolder = (path: string) => ({ path, id: null, channelId: null, label: null })

export function serveElsewhere({
  world,
  process,
  store,
  wake,
  random,
  shared,
  owner,
  nudge,
  ...rest
}: ServeDeps): AgentsElsewhere {
  const feed = createFeed({ store: store.feed, wake })
  const people = [testOperator({ name: 'ann', local: true, admin: true })]
  const parts = createAgentsElsewhere({
    ...rest,
    ...{ store, feed, workspaces: { find: anyFolder, checkChannel() {} } },
    ...{ store, feed },
    settings: {
      ...{
        defaultWorkspaceRoot: null,
        workspaces: [],
        operatorGroups: [],
        escalation: [],
        quorum: ONE_PERSON,
        hostCli: null,
        hostCliArgs: [],
        commands: {},
      },
      ...{ slack: { channelId: null, channels: [] }, modes: { agentMaySet: true }, ipcName: null },
      operators: people,
      maxConcurrentSessions: world.maxOpen,
      maxConcurrentSessionsTotal: null,
      timeouts: world.timeouts,
      stall: { ...world.stall, enabled: true, nudgeMessage: 'Go on.' },
    },
    operators: configuredOperators(people),
    serverPaths: [],
    replica: createOnlyReplica({ shared, owner }),
    jobs: createOwnJobs(rest.clock),
    push: async ({ sessionId, message }) => {
      if (nudge(sessionId, message)) return 'a new prompt'
      return random.chance(0.5) ? 'stream' : null
    },
    messenger: noMessenger,
    isConnected: () => false,
    openFiles: () => ({
      propose: async (request) => proposeIn(world.files, request),
      writer: createSimWriter(world.files, process, random.fork('writer')),
      policies: { effective: () => pinned, watch: () => () => {}, close() {} },
    }),
  })
  return {
    ...parts,
    async close() {
      await parts.close()
      feed.close()
    },
  }
}

/** The policy allows files that are named so. */
const policy = { ...defaultPolicy, enabled: true, filePatterns: { write: ['allowed*'], read: [] } }
const pinned: EffectivePolicy = {
  ...{ state: 'pinned', file: '.quarterdeck/policy.json', sha256: '', text: '', pinned: policy, policy },
  change: { change: 'same', added: [], removed: [] },
}
