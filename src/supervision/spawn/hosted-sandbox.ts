// The sandbox of a hosted agent. It sees its worktree at the path of the workspace, so every path that it names is true, and the rest of the
// machine read-only, without what operators keep secret. Nothing that it starts outlives the server.

import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isWithin } from '../../domain/is-within.ts'
import { secretPath } from '../workspace/secret-path.ts'
import { type CommandLine, type Sandbox, sandboxedIn } from './sandbox.ts'

export interface HostedPlaces {
  /** Real path. The agent starts in it. */
  workspace: string
  /** Null: the agent sees the real workspace, read-only, and writes through us. */
  worktree: { root: string; objects: string | null; mounts: readonly string[] } | null
  /** Private folder of the session. The agent sees nothing in it but `home` and the objects of git. */
  folder: string
  /** The agent's home folder, in `folder`: its caches and its state are in there. */
  home: string
  /** Other paths that the agent may write. They must exist. */
  writable: readonly string[]
  /** Paths that the agent reads although they lie in a masked folder. They must exist. */
  shown: readonly string[]
  /** Folders of ours: config, data and runtime folder. Those that do not exist are left out. */
  masked: readonly string[]
  /** The home folder of the operator, whose credentials the agent must not see. */
  operatorHome: string | null
  /** False: the agent reaches nothing, not even programs on this machine. */
  network: boolean
}

/** The command line that runs `command` for a hosted agent. It sets HOME and TMPDIR; the rest of the environment is the caller's. */
export function hostedSandbox(sandbox: Sandbox, places: HostedPlaces, command: readonly string[]): CommandLine {
  const { workspace, folder, home, writable, shown, masked, operatorHome, network } = places
  const hidden = [...masked, folder, RUN, ...(operatorHome === null ? [] : credentialsIn(operatorHome))]
  const layers = [
    '--die-with-parent',
    // Without it, the agent could type into the operator's terminal.
    '--new-session',
    ...(network ? [] : ['--unshare-net']),
    ...masksOf(hidden),
    ...SHOWN_OF_RUN.flatMap((path) => ['--ro-bind-try', path, path]),
    ...shown.flatMap((path) => ['--ro-bind', path, path]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...['--bind', home, home],
    ...layersOf(places),
    ...['--setenv', 'HOME', home, '--setenv', 'TMPDIR', '/tmp'],
  ]
  return sandboxedIn(sandbox, workspace, layers, command)
}

function layersOf({ workspace, worktree, writable }: HostedPlaces): string[] {
  if (worktree === null) return writable.includes(workspace) ? [] : ['--ro-bind', workspace, workspace]
  const { root, objects, mounts } = worktree
  const places = mounts.map((path) => join(workspace, path))
  return [
    ...['--bind', root, workspace],
    // One may have gone since it was found.
    ...places.flatMap((path) => ['--ro-bind-try', path, path]),
    ...places
      .flatMap((path) => TOOLS_WRITE.map((name) => join(path, name)))
      .filter(existsSync)
      .flatMap((path) => ['--tmpfs', path]),
    ...(objects === null ? [] : ['--ro-bind', realpathSync(objects), objects]),
  ]
}

/** Build tools keep these beside the packages, and fail if they cannot. */
const TOOLS_WRITE = ['.cache', '.vite', '.vite-temp']

/** Sockets of the machine: Docker's alone would give the agent everything. A read-only mount does not stop anybody from using them. */
const RUN = '/run'
/** What programs need of it: names on the network, and where some systems keep all programs. */
const SHOWN_OF_RUN = [
  '/run/systemd/resolve',
  '/run/NetworkManager/resolv.conf',
  '/run/resolvconf',
  '/run/current-system',
]

/** Links are followed, because the real place would stay visible. What lies in another masked folder is masked with it. */
function masksOf(paths: readonly string[]): string[] {
  const real = new Map<string, 'folder' | 'file'>()
  for (const path of paths) {
    try {
      const place = realpathSync(path)
      real.set(place, lstatSync(place).isDirectory() ? 'folder' : 'file')
    } catch {
      // There is none.
    }
  }
  const isBelow = (path: string): boolean =>
    [...real].some(([other, kind]) => kind === 'folder' && other !== path && isWithin(path, other))
  return [...real].flatMap(([path, kind]) => {
    if (isBelow(path)) return []
    return kind === 'folder' ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]
  })
}

/** Beside what has a secret name by itself: see `secretPath`. */
const CREDENTIALS = [
  ...['.docker', '.colima', '.lima', '.orbstack', '.rd', '.password-store', '.terraform.d', '.fly', '.oci'],
  ...[
    '.cargo/credentials',
    '.cargo/credentials.toml',
    '.m2/settings.xml',
    '.gradle/gradle.properties',
    '.gem/credentials',
  ],
  ...[
    '.config/gh',
    '.config/glab-cli',
    '.config/hub',
    '.config/gcloud',
    '.config/op',
    '.config/rclone',
    '.config/doctl',
  ],
  ...['.config/git/credentials', '.config/heroku', '.config/google-chrome', '.config/chromium', '.config/containers'],
  ...['.mozilla', '.local/share/keyrings', '.local/share/containers', '.netlify', '.bash_history', '.zsh_history'],
  // Logins of coding agents: which one an agent gets, its host says.
  ...['.claude', '.claude.json', '.codex', '.gemini', '.copilot', '.config/github-copilot'],
]

function credentialsIn(home: string): string[] {
  const named = ['', '.config'].flatMap((folder) =>
    namesIn(join(home, folder)).flatMap((name) => (secretPath(name) === null ? [] : [join(home, folder, name)])),
  )
  return [...named, ...CREDENTIALS.map((path) => join(home, path))]
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
