// Notices that files may have changed. An event of the operating system only says that it is time to look, so missing, doubled or
// unrelated events do no harm.

import { type FSWatcher, watch } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import type { Clock } from '../../domain/clock.ts'
import type { Logger } from '../../domain/logger.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'

export interface KeepFreshDeps {
  /** Looks for changes. It is not called again before it has ended. Never rejects. */
  changed(): Promise<void>
  clock: Clock
  log: Logger
}

export interface KeepFresh {
  /** Watches these folders (absolute paths) instead of those before. If some are new, it is soon time to look: what changed in them before brought no event. */
  watch(folders: readonly string[]): Promise<void>
  close(): void
}

export const freshLimits = {
  /** Programs write several files, each in several steps. */
  quietMs: 300,
  /** A program that never stops writing must not keep us from looking. */
  longestMs: 2_000,
  /** Where there are no events. */
  pollMs: 4_000,
  folders: 5_000,
}

/** The pause after a look is so many times as long as the look: when files change all the time, and where there are no events. */
const PAUSE_FOR_LOOK = 1
const POLL_FOR_LOOK = 10

/** Changes that another machine makes bring no event here: NFS, SMB, CIFS, SMB2, FUSE, 9P, AFS, Ceph, vboxsf. */
const REMOTE: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x5346414f, 0x00c36400, 0x786f4256,
])

export function createKeepFresh(
  { changed, clock, log }: KeepFreshDeps,
  limits: typeof freshLimits = freshLimits,
): KeepFresh {
  const watchers = new Map<string, FSWatcher>()
  let isPolling = false
  let isClosed = false
  let isLooking = false
  /** When the first event came since we last looked. */
  let firstAt: number | null = null
  let restUntil = 0
  let cancelLook = (): void => {}
  let cancelPoll = (): void => {}

  function event(): void {
    if (isClosed) return
    const now = clock.mono()
    firstAt ??= now
    cancelLook()
    if (isLooking) return
    const due = Math.max(Math.min(now + limits.quietMs, firstAt + limits.longestMs), restUntil)
    cancelLook = clock.after(Math.max(0, due - now), look)
  }

  async function look(): Promise<void> {
    if (isClosed || isLooking) return
    isLooking = true
    firstAt = null
    cancelLook()
    cancelPoll()
    const startedAt = clock.mono()
    await changed()
    const tookMs = clock.mono() - startedAt
    isLooking = false
    restUntil = clock.mono() + tookMs * PAUSE_FOR_LOOK
    if (firstAt !== null) event()
    pollIn(Math.max(limits.pollMs, tookMs * POLL_FOR_LOOK))
  }

  function pollIn(ms: number): void {
    cancelPoll()
    if (isPolling && !isClosed) cancelPoll = clock.after(ms, look)
  }

  /** With all below. */
  function forget(folder: string): void {
    if (!watchers.has(folder)) return
    for (const [one, watcher] of watchers) {
      if (one !== folder && !one.startsWith(folder + sep)) continue
      watcher.close()
      watchers.delete(one)
    }
  }

  /** Null: it is watched. Otherwise why it cannot be. */
  async function add(folder: string): Promise<string | null> {
    try {
      if (process.platform === 'linux' && REMOTE.has((await statfs(folder)).type)) return 'a network disk'
      if (isClosed || watchers.has(folder)) return null
      const watcher = watch(folder, { persistent: false }, (kind, name) => {
        // Another folder may have this path now, and an old watcher does not see it. A folder that goes tells its own name.
        if (kind === 'rename' && name !== null) {
          forget(join(folder, name))
          if (name === basename(folder)) forget(folder)
        }
        event()
      })
      watchers.set(folder, watcher)
      watcher.on('error', () => {
        forget(folder)
        event()
      })
      return null
    } catch (error) {
      const code = systemErrorCode(error)
      return code === 'ENOENT' || code === 'ENOTDIR' ? null : code
    }
  }

  return {
    async watch(folders) {
      const wanted = new Set(folders)
      for (const [folder, watcher] of watchers) {
        if (wanted.has(folder)) continue
        watcher.close()
        watchers.delete(folder)
      }
      const before = watchers.size
      let why = wanted.size > limits.folders ? `more than ${limits.folders} folders` : null
      for (const folder of wanted) {
        if (why !== null || isClosed) break
        if (!watchers.has(folder)) why = await add(folder)
      }
      if (isClosed) return
      if (why !== null && !isPolling)
        log.warn('not all folders of documents can be watched, so they are looked at now and then', {
          why,
          seconds: limits.pollMs / 1_000,
          ...(why === 'ENOSPC' && { help: 'sysctl fs.inotify.max_user_watches=524288' }),
        })
      isPolling = why !== null
      if (isPolling && !isLooking) pollIn(limits.pollMs)
      if (!isPolling) cancelPoll()
      if (watchers.size > before) event()
    },
    close() {
      isClosed = true
      cancelLook()
      cancelPoll()
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}
