// Notices changed policy files, so that operators are asked and warned in time. Nothing depends on an event: whoever judges a request reads
// the file again, and so a missed event can neither widen a policy nor delay that it narrows.

import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { type EffectivePolicy, effectivePolicy, type PinnedPolicy } from './effective-policy.ts'
import { type FoundPolicy, findPolicy, POLICY_FILES } from './find-policy.ts'
import { type ReadPolicy, readPolicy } from './read-policy.ts'

export interface PolicyWatch {
  /** Calls `onChange` whenever the policy file of this workspace changes. */
  watch(workspaceRoot: string): void
  /** What counts now. Reads the disk each time, whether the workspace is watched or not. */
  effective(workspaceRoot: string, pin: PinnedPolicy | null): EffectivePolicy
  close(): void
}

interface PolicyWatchOptions {
  clock: Clock
  log: Logger
  /** Called once for each state of the file that differs from the one before it. */
  onChange(workspaceRoot: string, found: FoundPolicy): void
}

/** Editors write a file in several steps. The first event starts this time, so an agent that never stops writing cannot delay the look. */
const QUIET_MS = 100
/** Each takes up to three watchers of the operating system. */
const MAX_WORKSPACES = 64
/** Texts whose meaning is kept. */
const MAX_READ = 64

const FOLDERS = POLICY_FILES.map((file) => file.split('/')[0] ?? '')

export function createPolicyWatch({ clock, log, onChange }: PolicyWatchOptions): PolicyWatch {
  const watched = new Map<string, WatchedWorkspace>()
  const readCached = createCachedRead()
  let closed = false
  let warned = false

  const warnOnce = (message: string, code: string): void => {
    if (!warned) log.warn(message, { code })
    warned = true
  }

  return {
    watch(root) {
      if (closed || watched.has(root)) return
      if (watched.size >= MAX_WORKSPACES) {
        const message = `Only ${MAX_WORKSPACES} workspaces are watched. The policies of others are read when they are needed.`
        return warnOnce(message, 'limit')
      }
      watched.set(root, watchWorkspace(root, { clock, warnOnce, onChange: (found) => onChange(root, found) }))
    },
    effective(root, pin) {
      const found = findPolicy(root)
      watched.get(root)?.seen(found)
      return effectivePolicy(pin, found, readCached)
    },
    close() {
      closed = true
      for (const one of watched.values()) one.close()
      watched.clear()
    },
  }
}

interface WatchedWorkspace {
  /** Takes note of what somebody else has just read. */
  seen(found: FoundPolicy): void
  close(): void
}

interface WorkspaceWatchOptions {
  clock: Clock
  warnOnce(message: string, code: string): void
  onChange(found: FoundPolicy): void
}

function watchWorkspace(root: string, { clock, warnOnce, onChange }: WorkspaceWatchOptions): WatchedWorkspace {
  const watchers = new Map<string, FSWatcher>()
  let cancelLook: (() => void) | null = null
  let closed = false
  let last = ''

  function lookSoon(): void {
    if (!closed) cancelLook ??= clock.after(QUIET_MS, look)
  }

  function look(): void {
    cancelLook = null
    // A folder that was replaced keeps its name, but the old watcher looks at the old folder.
    for (const folder of FOLDERS) open(join(root, folder), () => true)
    seen(findPolicy(root))
  }

  function seen(found: FoundPolicy): void {
    const key = stateKey(found)
    if (key === last || closed) return
    last = key
    onChange(found)
  }

  function open(folder: string, concerns: (name: string | null) => boolean): void {
    watchers.get(folder)?.close()
    watchers.delete(folder)
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (concerns(name)) lookSoon()
      })
      watcher.on('error', () => {
        watcher.close()
        lookSoon()
      })
      watchers.set(folder, watcher)
    } catch (error) {
      const code = systemErrorCode(error)
      if (code === 'ENOENT' || code === 'ENOTDIR') return
      const help = code === 'ENOSPC' ? ' Raise the limit: sysctl fs.inotify.max_user_watches=524288' : ''
      warnOnce(`Policy files cannot be watched, so they are only read when they are needed.${help}`, code)
    }
  }

  // The root shows when one of the two folders appears. An agent writes much beside them.
  open(root, (name) => name === null || FOLDERS.includes(name))
  for (const folder of FOLDERS) open(join(root, folder), () => true)
  last = stateKey(findPolicy(root))
  return {
    seen,
    close() {
      closed = true
      cancelLook?.()
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}

function stateKey(found: FoundPolicy): string {
  if (found.state === 'none') return 'none'
  return `${found.file} ${found.state === 'text' ? found.sha256 : found.reason}`
}

/** Requests come often and texts change rarely. */
function createCachedRead(): (text: string) => ReadPolicy {
  const known = new Map<string, ReadPolicy>()
  return (text) => {
    const found = known.get(text) ?? readPolicy(text)
    // The one that was used last is removed last.
    known.delete(text)
    known.set(text, found)
    const [oldest] = known.keys()
    if (known.size > MAX_READ && oldest !== undefined) known.delete(oldest)
    return found
  }
}
