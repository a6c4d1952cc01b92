// A git repository of the agent's own. Its objects are those of the workspace's repository, which nobody writes to; `git worktree add` would.
// Only a fresh clone runs git: once the agent had it, its configuration could make git run anything.

import { execFile } from 'node:child_process'
import { lstat, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface CloneRequest {
  /** Path of git. */
  git: string
  workspaceRoot: string
  /** Does not exist yet. */
  root: string
  /** Where the agent finds the objects of the workspace's repository. It does not exist yet. */
  objects: string
  /** PATH, for what git itself starts. */
  searchPath: string
}

const GIT_MS = 120_000

/** Only a repository of the workspace's own: a `.git` file leads to another folder. */
export async function hasOwnRepository(workspaceRoot: string): Promise<boolean> {
  const found = await lstat(join(workspaceRoot, '.git')).catch(() => null)
  return found?.isDirectory() === true
}

/**
 * Makes the clone: the same branch and history, an index that is at HEAD, no files. Throws if git fails; then `root` and `objects` may be
 * there in part.
 */
export async function makePrivateClone({ git, workspaceRoot, root, objects, searchPath }: CloneRequest): Promise<void> {
  const run = (...args: string[]) => runGit(git, [...SAFE, ...args], { searchPath, directory: join(root, '..') })
  await run(
    'clone',
    '--quiet',
    '--shared',
    '--no-checkout',
    '--origin',
    'workspace',
    ...inConfig(SETTINGS),
    '--',
    workspaceRoot,
    root,
  )
  const alternates = join(root, '.git/objects/info/alternates')
  const real = (await readFile(alternates, 'utf8').catch(() => '')).split('\n')[0] ?? ''
  // A shallow repository is copied and has none.
  if (real !== '') {
    await symlink(real, objects)
    await writeFile(alternates, `${objects}\n`)
  }
  // Git takes a branch at the same commit for the one that is checked out.
  const head = (await readFile(join(workspaceRoot, '.git/HEAD'), 'utf8')).trim()
  if (/^[0-9a-f]{40,64}$/.test(head)) await run('-C', root, 'update-ref', '--no-deref', 'HEAD', head)
  const isBorn = await run('-C', root, 'rev-parse', '--quiet', '--verify', 'HEAD').then(
    () => true,
    () => false,
  )
  if (isBorn) await run('-C', root, 'read-tree', 'HEAD')
  // A hook of a template would run in the agent's sandbox only, but the agent did not ask for it.
  await rm(join(root, '.git/hooks'), { recursive: true, force: true })
}

const SAFE = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'protocol.ext.allow=never']

/** Without a name, git refuses a commit. */
const SETTINGS = ['user.name=Agent', 'user.email=agent@localhost', 'gc.auto=0', 'core.fsmonitor=false']

const inConfig = (settings: readonly string[]): string[] => settings.flatMap((one) => ['--config', one])

function runGit(
  git: string,
  args: readonly string[],
  { searchPath, directory }: { searchPath: string; directory: string },
): Promise<void> {
  const env = {
    PATH: searchPath,
    HOME: directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TEMPLATE_DIR: '',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    LC_ALL: 'C',
  }
  return new Promise((resolve, reject) => {
    execFile(git, args, { env, cwd: directory, timeout: GIT_MS, maxBuffer: 1 << 20 }, (error, _stdout, stderr) => {
      if (error === null) resolve()
      else reject(new Error(stderr.trim().split('\n').at(-1) || error.message, { cause: error }))
    })
  })
}
