// Files that somebody executes or obeys without asking again: the person's git, shell, editor, package manager or CI, the agent's host, or
// this server. A change to one of them always needs a person. Source code is not here, nor a Makefile: nobody runs it unasked.

import { dirname } from 'node:path'
import { isRecord } from '../../domain/is-record.ts'
import { hosts } from '../../hosts/hosts.ts'
import { foldedName } from './confine.ts'

export type FileAccess = 'read' | 'write'

const GIT = 'Git runs hooks, filters and commands that are named here.'
const POLICY = 'It says what agents may do without asking.'
const HOST = 'A coding agent reads its settings, hooks or instructions here.'
const EDITOR = 'An editor runs tasks and settings from here.'
const CI = 'CI runs what is written here, with its secrets.'
const SHELL = 'A shell runs this file when it starts or enters the folder.'
const PACKAGES = 'Package managers and their tools obey this file.'
const SERVER = 'This server reads it.'

/** Folders: everything in them is protected, wherever in the workspace they are. Folded names. */
const FOLDERS: ReadonlyMap<string, string> = new Map([
  ...all(GIT, '.git', '.husky', '.githooks', '.lefthook'),
  ...all(POLICY, '.quarterdeck', '.monocoque'),
  ...Object.values(hosts).map(({ reads }): [string, string] => [reads.folder, HOST]),
  ...all(HOST, '.cursor', '.windsurf', '.continue', '.opencode', '.agents', '.roo', '.aider', '.clinerules', '.kiro'),
  ...all(HOST, '.amazonq', '.qwen'),
  ...all(EDITOR, '.vscode', '.idea', '.devcontainer', '.zed', '.fleet'),
  ...all(CI, '.github', '.gitlab', '.circleci', '.buildkite', '.gitea', '.forgejo', '.woodpecker', '.teamcity'),
  ...all(CI, '.azure-pipelines'),
  ['.yarn', PACKAGES],
])

function all(reason: string, ...names: string[]): [name: string, reason: string][] {
  return names.map((name) => [name, reason])
}

const FILES: readonly (readonly [RegExp, string])[] = [
  [/^\.git(?:config|modules|attributes)?$/, GIT],
  [/^(?:\.pre-commit-config\.ya?ml|\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)|\.lintstagedrc.*|\.huskyrc.*)$/, GIT],
  ...Object.values(hosts).map(({ reads }): [RegExp, string] => [reads.files, HOST]),
  [/^(?:\.(?:cursor|windsurf|cline|roo)rules|\.aider\..*|opencode\.jsonc?|qwen(?:\.local|\.override)?\.md)$/, HOST],
  [/^(?:.*\.code-workspace|\.exrc|\.n?vimrc|\.nvim\.lua|\.dir-locals\.el)$/, EDITOR],
  [/^(?:\.gitlab-ci\.ya?ml|jenkinsfile.*|\.travis\.ya?ml|azure-pipelines.*\.ya?ml|bitbucket-pipelines\.ya?ml)$/, CI],
  [
    /^(?:\.?appveyor\.ya?ml|\.drone\.ya?ml|\.cirrus\.ya?ml|cloudbuild\.ya?ml|buildspec\.ya?ml|\.woodpecker\.ya?ml)$/,
    CI,
  ],
  [/^\.(?:bash|zsh|ksh|csh|tcsh|fish)(?:rc|env|_profile|_login|_logout|_aliases|profile|login|logout)$/, SHELL],
  [
    /^(?:\.profile|\.login|\.logout|\.kshrc|\.inputrc|\.envrc|\.env|\.env\..*|config\.fish|mise\.toml|\.mise.*\.toml)$/,
    SHELL,
  ],
  [
    /^(?:\.npmrc|\.yarnrc(?:\.ya?ml)?|\.pnpmfile\.c?js|\.bunfig\.toml|bunfig\.toml|\.pypirc|pip\.conf|\.netrc)$/,
    PACKAGES,
  ],
  [/^(?:quarterdeck|agent)\.ya?ml$/, SERVER],
]

/** Keys of package.json that npm, git hooks or corepack execute. */
const EXECUTED_KEYS = ['scripts', 'husky', 'lint-staged', 'simple-git-hooks', 'pre-commit', 'packageManager', 'gypfile']

/**
 * Why a file is protected, as a sentence for the card; null if it is not. `path` is confined. Case and the ways to encode a name do not
 * matter, because some disks ignore them.
 */
export function protectedPath(path: string): string | null {
  const parts = path.split('/').map((part) => foldedName(part))
  const name = parts.at(-1) ?? ''
  const reason = reasonOfFolder(FOLDERS, parts)
  if (reason !== undefined) return reason
  if (parts.slice(0, -1).some((part) => part === 'hooks') && GIT_HOOK.test(name)) return GIT
  // Cargo and other tools keep `config` in a folder of their own.
  if (parts.at(-2) === '.cargo' && name.startsWith('config')) return PACKAGES
  return FILES.find(([pattern]) => pattern.test(name))?.[1] ?? null
}

/** Of the first folder that has one. Windows has short names: GIT~1 is .git. */
export const reasonOfFolder = (folders: ReadonlyMap<string, string>, parts: readonly string[]): string | undefined =>
  parts.map((part) => folders.get(/^git~\d+$/.test(part) ? '.git' : part)).find((reason) => reason !== undefined)

/** In a bare repository, and in folders that `core.hooksPath` often names. */
const GIT_HOOK =
  /^(?:applypatch-msg|commit-msg|post-(?:checkout|commit|merge|rewrite|applypatch|receive|update)|pre-(?:commit|push|rebase|receive|applypatch|merge-commit|auto-gc)|prepare-commit-msg|update|fsmonitor-watchman)$/

/**
 * Like `protectedPath`; package.json is protected where a change touches what others execute, and installed packages are. Null stands for
 * a file that does not exist.
 */
export function protectedChange(path: string, before: string | null, after: string | null): string | null {
  const reason = protectedPath(path)
  if (reason !== null) return reason
  const parts = path.split('/').map(foldedName)
  // Whoever writes here decides what an import means, in this server too.
  if (parts.includes('node_modules')) return 'Programs load code from here.'
  if (parts.at(-1) !== 'package.json') return null
  const was = executedKeys(before)
  const is = executedKeys(after)
  return was !== null && was === is ? null : 'It changes scripts or tools that package managers run.'
}

/**
 * What this server itself loads or keeps: why only a person may let an agent use a place; null if a policy may. To read beside such a file
 * is harmless. `serverPaths` are real paths of files, and of folders with everything in them; the paths that are asked about are real too.
 */
export function createServerPlaces(serverPaths: readonly string[]) {
  const own = new Set(serverPaths.map(foldedName))
  const above = new Set([...own].flatMap(foldersAbove))
  return (path: string, access: FileAccess): string | null => {
    const place = foldedName(path)
    if (own.has(place) || (access === 'write' && foldersAbove(place).some((one) => own.has(one)))) return SERVER
    // Whoever moves or removes a folder changes what is in it.
    return access === 'write' && above.has(place) ? 'This server reads files in it.' : null
  }
}

function foldersAbove(path: string): string[] {
  const above = dirname(path)
  return above === path ? [] : [above, ...foldersAbove(above)]
}

/** As JSON. Null if the text is not JSON. */
function executedKeys(text: string | null): string | null {
  if (text === null) return '[]'
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    if (!isRecord(value)) return null
    return JSON.stringify(EXECUTED_KEYS.flatMap((key) => (Object.hasOwn(value, key) ? [[key, value[key]]] : [])))
  } catch {
    return null
  }
}
