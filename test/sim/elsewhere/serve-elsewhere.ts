// What one life of the server offers agents elsewhere, put together as the program does it. Only the files of the workspaces are the
// simulator's.

import type { Clock } from '../../../src/domain/clock.ts'
import { ServerError } from '../../../src/domain/errors.ts'
import type { Ids } from '../../../src/domain/ids.ts'
import type { Logger } from '../../../src/domain/logger.ts'
import { ONE_PERSON } from '../../../src/domain/supervision/quorum.ts'
import { testOperator } from '../../../src/domain/testing/test-operator.ts'
import { createFeed } from '../../../src/engine/feed.ts'
import { createOwnJobs } from '../../../src/engine/sessions/jobs.ts'
import type { SessionLog } from '../../../src/log/session-log.ts'
import type { Wake } from '../../../src/log/wake.ts'
import { createOnlyReplica } from '../../../src/replicas/replica.ts'
import { createLocalShared } from '../../../src/store/local-shared.ts'
import type { Store } from '../../../src/store/store.ts'
import { type AgentsElsewhere, createAgentsElsewhere } from '../../../src/supervision/agents-elsewhere.ts'
import type { AppliedChange, ApprovedChange, ChangeWriter } from '../../../src/supervision/diffs/change-writer.ts'
import { type ChangeRequest, changeDigest, type ProposedChange } from '../../../src/supervision/diffs/propose-change.ts'
import { configuredOperators } from '../../../src/supervision/sessions/may-command.ts'
import { createTurns } from '../../../src/supervision/sessions/turns.ts'
import { noMessenger } from '../../../src/supervision/testing/no-messenger.ts'
import { sha256OfBytes } from '../../../src/supervision/workspace/read-workspace-file.ts'
import type { EffectivePolicy } from '../../../src/supervision/workspace-policy/effective-policy.ts'
import { defaultPolicy } from '../../../src/supervision/workspace-policy/workspace-policy.ts'
import type { SimProcess } from '../process.ts'
import type { Random } from '../random.ts'
import type { ElsewhereWorld, SimFiles } from './world.ts'

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
}

const anyFolder = (path: string) => ({ path, id: null, channelId: null, label: null })

export function serveElsewhere({ world, process, store, wake, random, ...rest }: ServeDeps): AgentsElsewhere {
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
    replica: createOnlyReplica({ shared: createLocalShared(rest.clock), owner: 'sim' }),
    jobs: createOwnJobs(rest.clock),
    push: async () => (random.chance(0.5) ? 'stream' : null),
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

const textOf = (bytes: Uint8Array | null): string => new TextDecoder().decode(bytes ?? new Uint8Array())
const placeOf = ({ workspaceRoot, path }: Pick<ApprovedChange, 'workspaceRoot' | 'path'>) => `${workspaceRoot}/${path}`

export const hashOf = (text: string | undefined): string =>
  text === undefined ? 'new_file' : sha256OfBytes(new TextEncoder().encode(text))

/** The whole new text of a file, as a change. */
function proposeIn({ contents }: SimFiles, { workspaceRoot, filePath, diff }: ChangeRequest): ProposedChange {
  const before = contents.get(placeOf({ workspaceRoot, path: filePath }))
  const after = new TextEncoder().encode(diff)
  return {
    path: filePath,
    kind: before === undefined ? 'create' : 'modify',
    beforeHash: hashOf(before),
    afterHash: sha256OfBytes(after),
    after,
    diff: `--- ${filePath}\n+++ ${filePath}\n+${diff}`,
    addedLines: 1,
    removedLines: 0,
    warnings: [],
    risk: 'low',
    protectedBecause: null,
    hasHiddenText: false,
    isBinary: false,
  }
}

/** A writer with the promises of the real one. The process can die between any two of its steps. */
function createSimWriter(files: SimFiles, process: SimProcess, random: Random): ChangeWriter {
  const turns = createTurns()
  const step = () => process.pause(random.float() * 20)
  const current = (change: ApprovedChange) => hashOf(files.contents.get(placeOf(change)))

  function put(change: ApprovedChange): AppliedChange {
    const text = textOf(change.after)
    files.contents.set(placeOf(change), text)
    files.writes.push({ path: placeOf(change), text, digest: changeDigest(change), life: process.number })
    return { files_written: [{ path: change.path, bytes: change.after?.length ?? 0 }], warnings: [] }
  }

  return {
    apply: (change, { force = false, beforeRename }) =>
      turns(change.workspaceRoot, async () => {
        await step()
        const check = () => {
          if (!force && current(change) !== change.beforeHash) {
            throw new ServerError('patch_conflict', `${change.path} has changed.`)
          }
        }
        check()
        await beforeRename()
        await step()
        check()
        const applied = put(change)
        await step()
        return applied
      }),
    finish: (change) =>
      turns(change.workspaceRoot, async () => {
        await step()
        if (current(change) === change.afterHash) return 'applied'
        if (current(change) !== change.beforeHash) return 'conflict'
        put(change)
        await step()
        return 'applied'
      }),
    clean: step,
  }
}
