// What the server does for coding agents on this machine: checkpoints of workspaces, commands in them, and the work of those that it hosts.

import { join } from 'node:path'
import type { Caller } from '../domain/supervision/decision.ts'
import type { Checkpoint } from '../domain/supervision/supervision.ts'
import { reservedVerbs } from '../operators/commands/verbs.ts'
import { createAtItsPlace } from '../replicas/at-its-place.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Store } from '../store/store.ts'
import type { AgentsElsewhere } from '../supervision/agents-elsewhere.ts'
import { createCheckpoints } from '../supervision/checkpoints/create-checkpoints.ts'
import { createSessionCheckpoints, type SessionCheckpoints } from '../supervision/checkpoints/session-checkpoints.ts'
import { findProgram } from '../supervision/commands/find-program.ts'
import { resolveCommands } from '../supervision/commands/resolve-commands.ts'
import { commandEnvironment } from '../supervision/commands/run-command.ts'
import { createSessionCommands, type SessionCommands } from '../supervision/commands/session-commands.ts'
import { createPurgeSupervised } from '../supervision/sessions/purge-supervised.ts'
import { createLacks } from '../supervision/spawn/lacks.ts'
import { createSandboxSearch } from '../supervision/spawn/sandbox.ts'
import { createServerPlaces, protectedPath } from '../supervision/workspace/protected-path.ts'
import { createWorktrees } from '../supervision/worktrees/create-worktrees.ts'
import type { Telling } from './open-outbox.ts'

type NewCheckpoint = Parameters<SessionCheckpoints['save']>[2]

interface WorkParts extends Telling {
  elsewhere: AgentsElsewhere
  /** See `createServerPlaces`. */
  serverPaths: readonly string[]
}

/** Throws `config_invalid` for commands that cannot run. What is started here ends with `undo`. */
export function createSupervisedWork(parts: WorkParts, undo: AsyncDisposableStack) {
  const { elsewhere, settings, store, sessionLog, processes, own, replica } = parts
  const { dataDir, configDir, runtimeDir } = own
  const { clock, ids, log: logger } = parts
  const { supervision } = settings
  const workspaces = [
    ...supervision.workspaces.map(({ path }) => path),
    ...(supervision.defaultWorkspaceRoot === null ? [] : [supervision.defaultWorkspaceRoot]),
  ]
  const search = { searchPath: process.env.PATH ?? '', workspaces }
  const environment = commandEnvironment(process.env, process.platform, workspaces)
  const guarded = [dataDir, runtimeDir, ...(configDir === null ? [] : [configDir])]
  const becauseOurs = createServerPlaces(parts.serverPaths)
  const { sessions, takeStep, changes, whileWorking, operators } = elsewhere
  const shared = { sessions, takeStep, changes, whileWorking, operators, store, clock, ids, logger }

  const checkpoints = createSessionCheckpoints({
    ...shared,
    jobs: createCheckpoints({
      folder: join(dataDir, 'checkpoints'),
      excluded: guarded,
      isProtected: (path, root) => (becauseOurs(join(root, path), 'write') ?? protectedPath(path)) !== null,
    }),
  })
  const commands = createSessionCommands({
    ...shared,
    commands: resolveCommands(supervision.commands, { ...search, verbs: reservedVerbs }),
    processes,
    environment,
  })
  undo.defer(() => commands.close())
  const sandbox = createSandboxSearch(() => findProgram('bwrap', search).program, logger)
  const worktreesFolder = join(dataDir, 'worktrees')
  const worktrees = createWorktrees({
    folder: worktreesFolder,
    excluded: guarded,
    serverPaths: parts.serverPaths,
    git: findProgram('git', search).program,
    searchPath: environment.PATH ?? '',
    logger,
  })
  const shown = atTheirPlace({ checkpoints, commands }, store, replica)
  const { retentionDays } = settings.sessions
  const purge = createPurgeSupervised({ store, log: sessionLog, clock, retentionDays })
  return {
    ...shown,
    /** What keeps a host from being started here. */
    lacks: createLacks({ search, sandbox }),
    purge,
    /** What does the work of hosted agents. */
    async loadHostWork() {
      const [{ createHostWork }, { createStartHost }] = await Promise.all([
        import('../supervision/hosted/create-host-work.ts'),
        import('../supervision/hosted/start-host.ts'),
      ])
      const start = createStartHost({
        clock,
        ids,
        serverPaths: parts.serverPaths,
        worktrees,
        folder: worktreesFolder,
        processes,
        search,
        sandbox,
        environment,
        variables: process.env,
        masked: guarded,
        operatorHome: own.home,
        findWorkspace: parts.workspaces.find,
      })
      return createHostWork({
        ...elsewhere.hosting,
        store,
        changes,
        shared: replica.shared,
        owner: replica.owner,
        place: replica.place,
        start,
      })
    },
    /** After a start. */
    recover: checkpoints.recover,
    /** Once an hour. */
    async tidy() {
      await purge({ dryRun: false })
      const left = await store.supervised.sessions({ limit: MOST_SESSIONS })
      await worktrees.sweep(left.filter(({ supervision }) => supervision?.hosted !== undefined).map(({ id }) => id))
      await checkpoints.sweep()
    },
  }
}

/** More than a server keeps. */
const MOST_SESSIONS = 100_000

interface PlacedWork {
  checkpoints: SessionCheckpoints
  commands: SessionCommands
}

/** What needs the files of a session is done by the server that opened it, whichever one is asked. */
function atTheirPlace(
  { checkpoints, commands }: PlacedWork,
  store: Pick<Store, 'sessions' | 'supervised'>,
  replica: Replica,
): PlacedWork {
  const atItsPlace = createAtItsPlace(replica)
  const placeOf = async (sessionId: string) => (await store.sessions.get(sessionId))?.supervision?.place
  const ofSession = ([, sessionId]: readonly [Caller, string, ...unknown[]]) => placeOf(sessionId)
  const ofCheckpoint = ([{ sessionId }]: readonly [Checkpoint, ...unknown[]]) => placeOf(sessionId)
  const ofRecord = async ([, id]: readonly [Caller, string, ...unknown[]]) => {
    const checkpoint = await store.supervised.checkpoint(id)
    return checkpoint === null ? undefined : placeOf(checkpoint.sessionId)
  }
  // Whoever asks at another server and leaves does not end the work there: a signal cannot be sent as JSON.
  const save = atItsPlace('checkpoints.save', ofSession, (by: Caller, id: string, wanted: NewCheckpoint) =>
    checkpoints.save(by, id, wanted),
  )
  const changes = atItsPlace('checkpoints.changes', ofCheckpoint, (checkpoint: Checkpoint) =>
    checkpoints.changes(checkpoint),
  )
  return {
    checkpoints: {
      ...checkpoints,
      save: (by, id, wanted) => save(by, id, wanted),
      changes: (checkpoint) => changes(checkpoint),
      files: atItsPlace('checkpoints.files', ofCheckpoint, checkpoints.files),
      diff: atItsPlace('checkpoints.diff', ofCheckpoint, checkpoints.diff),
      restore: atItsPlace('checkpoints.restore', ofRecord, checkpoints.restore),
    },
    commands: { ...commands, run: atItsPlace('commands.run', ofSession, commands.run) },
  }
}
