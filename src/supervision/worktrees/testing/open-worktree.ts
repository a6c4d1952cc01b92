import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { silentLogger } from '../../../domain/logger.ts'
import { writeFiles } from '../../checkpoints/testing/workspace.ts'
import { createWorktrees, type WorktreesDeps } from '../create-worktrees.ts'

/** A server's folder and a workspace with these files, and the worktree of a session in it. */
export async function openWorktree(
  files: Readonly<Record<string, string>>,
  { base = tmpdir(), prepare = (_workspace: string): void => {}, ...more }: Partial<WorktreesDeps> & Places = {},
) {
  const top = realpathSync(mkdtempSync(join(base, 'quarterdeck-worktree-')))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }), 600_000)
  const workspace = join(top, 'shop')
  mkdirSync(workspace)
  writeFiles(workspace, files)
  prepare(workspace)
  const deps: WorktreesDeps = {
    folder: join(top, 'data/worktrees'),
    excluded: [],
    serverPaths: [],
    git: null,
    searchPath: '/usr/bin:/bin',
    logger: silentLogger,
    ...more,
  }
  const worktrees = createWorktrees(deps)
  const open = () => worktrees.open({ sessionId: 'S1', workspaceRoot: workspace })
  const worktree = await open()
  return { top, workspace, worktrees, worktree, open, deps, inTree: (path: string) => join(worktree.root, path) }
}

interface Places {
  base?: string
  prepare?: (workspace: string) => void
}
