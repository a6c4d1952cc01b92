// bubblewrap, where it is installed: the agent sees the machine read-only, writes in its workspace, and does not see what guards it.

import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { isWithin } from '../../domain/is-within.ts'
import type { Logger } from '../../domain/logger.ts'

export interface Sandbox {
  /** The path of `bwrap`. */
  program: string
}

type FoundSandbox = { found: Sandbox } | { found: null; why: string }

const TRY_MS = 5_000

/** Tries it: in many containers the kernel does not allow what bubblewrap needs. */
export function findSandbox(program: string | null): Promise<FoundSandbox> {
  if (process.platform !== 'linux') return Promise.resolve({ found: null, why: 'bubblewrap only exists on Linux' })
  if (program === null) return Promise.resolve({ found: null, why: 'bubblewrap (bwrap) is not installed' })
  const args = [...BASE, ...rights(), '/bin/true']
  return new Promise((resolve) => {
    execFile(program, args, { timeout: TRY_MS, env: {} }, (error, _stdout, stderr) => {
      if (error === null) return resolve({ found: { program } })
      const said = stderr.trim().split('\n')[0] || error.message
      resolve({ found: null, why: `bubblewrap does not work here: ${said}` })
    })
  })
}

// Its own process numbers: an agent cannot see, signal or read the processes outside. The network stays, because it needs its model.
const BASE = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-pid', '--unshare-ipc']

/** What root could use to change the whole machine: bubblewrap leaves it writable. */
const KERNEL = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'mtrr'].map((name) => `/proc/${name}`)

/** Where the server runs as root, bubblewrap leaves the agent root's rights: it could make everything writable again. */
const rights = (): string[] =>
  isRoot() ? [...KERNEL.flatMap((path) => ['--ro-bind-try', path, path]), '--cap-drop', 'ALL'] : []

const isRoot = (): boolean => process.getuid?.() === 0

/** Looks for it again as long as there is none: a try may fail because the machine is busy. */
export function createSandboxSearch(program: () => string | null, logger: Logger): () => Promise<Sandbox | null> {
  let sandbox: Sandbox | null = null
  return async () => {
    if (sandbox !== null) return sandbox
    const looked = await findSandbox(program())
    if (looked.found === null) logger.warn('there is no sandbox for agents', { why: looked.why })
    sandbox = looked.found
    return sandbox
  }
}

const TEMPORARY = ['/tmp', '/var/tmp']

/** In there, what runs in the sandbox sees folders of its own. */
export const isTemporary = (program: string): boolean =>
  TEMPORARY.some((folder) => isWithin(program, folder) || isWithin(realpathSync(program), folder))

export const IS_HIDDEN =
  'lies in a folder for temporary files, where an agent sees files of its own only: install it elsewhere'

export type CommandLine = [program: string, ...args: string[]]

/** Lays `layers`, which are arguments of bubblewrap, over the machine. The order counts: what comes later lies on top. */
export const sandboxedIn = (
  { program }: Sandbox,
  directory: string,
  layers: readonly string[],
  command: readonly string[],
): CommandLine => [
  program,
  ...BASE,
  ...rights(),
  // Its own: in the real ones are sockets of the operator's other programs, such as tmux.
  ...TEMPORARY.filter(existsSync).flatMap((path) => ['--tmpfs', path]),
  ...layers,
  '--chdir',
  directory,
  '--',
  ...command,
]
