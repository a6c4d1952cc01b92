// The private folders of hosted agents: each session has a copy of its workspace in which the agent writes what it likes. What becomes of
// it is a change set (`change-set.ts`), which a person approves and `apply-change-set.ts` writes.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Logger } from '../../domain/logger.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { createThreadTurns, runInThread } from '../checkpoints/run-in-thread.ts'
import { checkedId } from '../checkpoints/snapshot-store.ts'
import { createTurns } from '../sessions/turns.ts'
import type { ChangeSet, SetChange } from './change-set.ts'
import { hasOwnRepository, makePrivateClone } from './private-clone.ts'
import type { SyncRequest, WorktreePlaces } from './sync-worktree.ts'
import type { WorktreeJobs } from './worktree-job.ts'

export interface Worktrees {
  /**
   * The worktree of a session. The first time it is made: a private clone if the workspace has a git repository of its own, otherwise a
   * copy. After that it is as the agent left it. Throws `limit` and `file_unreadable` for a workspace that is too large.
   */
  open(of: { sessionId: string; workspaceRoot: string }): Promise<Worktree>
  /** Removes everything of a session. Its agent has ended. */
  remove(sessionId: string): Promise<void>
  /** Removes the worktrees of all other sessions. */
  sweep(keepIds: readonly string[]): Promise<void>
}

export interface Worktree {
  sessionId: string
  /** Real path of the real workspace. */
  workspaceRoot: string
  /** Private folder of the session. Nobody but us and the agent's sandbox uses it. */
  folder: string
  /** Where the agent's files are on this disk. In the sandbox they are at `workspaceRoot`. */
  root: string
  /** Home folder of the agent, with its caches. */
  home: string
  /** A link to the objects of the workspace's repository. In the sandbox they are at this path. Null: there is none. */
  objects: string | null
  /** Folders of the workspace that the agent sees read-only, relative to it. `refresh` brings them up to date. */
  readonly mounts: readonly string[]
  /** Call it before each prompt: brings what people changed in the workspace, except where the agent has changed the same file. */
  refresh(): Promise<void>
  /** What the agent has changed. Throws `limit` if it is more than one approval can hold. */
  changes(): Promise<ChangeSet>
  /** These were written to the workspace, maybe with a person's edits. What the agent did to them since stays. Can be called again. */
  settled(changes: readonly Pick<SetChange, 'path' | 'agentHash'>[]): Promise<void>
  /** Puts the workspace's version back. */
  discard(paths: readonly string[] | 'all'): Promise<void>
}

export interface WorktreesDeps {
  /** Private. It is created with the first worktree. */
  folder: string
  /** Absolute paths that no worktree holds: our data, config and runtime folders. */
  excluded: readonly string[]
  /** See `createServerPlaces`. */
  serverPaths: readonly string[]
  /** Path of git. Null: every worktree is a copy. */
  git: string | null
  /** PATH without folders that agents can write. */
  searchPath: string
  logger: Logger
}

/** Lies beside this file: as source in a checkout, compiled in the published package. */
const script = new URL(`./worktree-worker${extname(import.meta.url)}`, import.meta.url)
const THREADS = 2

const [TREE, HOME, OBJECTS, REMOVED] = ['tree', 'home', 'objects', '.removed-']

export function createWorktrees(deps: WorktreesDeps): Worktrees {
  const { folder: all, excluded, serverPaths, logger } = deps
  const inTurn = createTurns()
  const onThread = createThreadTurns(THREADS)

  const run = <Kind extends keyof WorktreeJobs>(kind: Kind, request: WorktreeJobs[Kind]['request']) =>
    // The thread answers with the result of the job that it was given.
    onThread(false, () => runInThread(script, { kind, request })) as Promise<WorktreeJobs[Kind]['result']>

  async function make({ folder, root, workspaceRoot }: WorktreePlaces): Promise<void> {
    await removeTree(folder)
    await mkdir(join(folder, HOME), { recursive: true, mode: 0o700 })
    const { git, searchPath } = deps
    if (git !== null && (await hasOwnRepository(workspaceRoot))) {
      try {
        await makePrivateClone({ git, workspaceRoot, root, objects: join(folder, OBJECTS), searchPath })
      } catch (error) {
        logger.warn('the repository of a workspace cannot be cloned, so its agent works in a copy without git', {
          error,
        })
        await removeTree(root)
        await rm(join(folder, OBJECTS), { force: true })
      }
    }
    await mkdir(root, { recursive: true, mode: 0o700 })
  }

  async function open({ sessionId, workspaceRoot }: { sessionId: string; workspaceRoot: string }): Promise<Worktree> {
    const folder = join(all, checkedId(sessionId))
    const places = { sessionId, folder, root: join(folder, TREE), workspaceRoot, excluded }
    const sync = (part: Partial<Pick<SyncRequest, 'discarded' | 'settled'>>) =>
      inTurn(sessionId, () => run('sync', { ...places, discarded: [], settled: [], ...part }))
    let mounts: readonly string[] = []
    await inTurn(sessionId, async () => {
      // The baseline is written last, so without it the worktree is not whole.
      if (!existsSync(join(folder, 'baseline'))) await make(places)
    })
    const refresh = async () => {
      mounts = (await sync({})).mounts
    }
    await refresh()
    return {
      sessionId,
      workspaceRoot,
      folder,
      root: places.root,
      home: join(folder, HOME),
      objects: existsSync(join(folder, OBJECTS)) ? join(folder, OBJECTS) : null,
      get mounts() {
        return mounts
      },
      refresh,
      changes: () => inTurn(sessionId, () => run('changes', { ...places, serverPaths })),
      async settled(changes) {
        await sync({ settled: changes.map(({ path, agentHash }) => [path, agentHash]) })
      },
      async discard(paths) {
        await sync({ discarded: paths })
      },
    }
  }

  async function remove(sessionId: string): Promise<void> {
    await inTurn(sessionId, async () => {
      const folder = join(all, checkedId(sessionId))
      // From here on nobody takes it for a worktree, even if removing it takes long or fails.
      const removed = join(all, `${REMOVED}${sessionId}`)
      await removeTree(removed)
      if (await isMoved(folder, removed)) await removeTree(removed)
    })
  }

  return {
    open,
    remove,
    async sweep(keepIds) {
      const keep = new Set(keepIds)
      for (const name of await namesIn(all)) {
        if (keep.has(name)) continue
        if (name.startsWith(REMOVED)) await removeTree(join(all, name))
        else await remove(name)
      }
    },
  }
}

async function isMoved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false
    throw error
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return []
    throw error
  }
}

const start = promisify(execFile)

/** An agent may have taken rights from its folders, or made them deeper than a path can be long. The programs of the system manage both. */
async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch (error) {
    if (process.platform === 'win32') throw error
    await start('/bin/chmod', ['-R', 'u+rwX', '--', folder], { env: {} }).catch(() => {})
    await start('/bin/rm', ['-rf', '--', folder], { env: {} })
  }
}
