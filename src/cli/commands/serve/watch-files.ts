// Notices changed files. An event of the operating system only says that it is time to look. Comparing finds what has changed, so
// missing, doubled or unrelated events do no harm.

import { type FSWatcher, readdirSync, type Stats, statSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '../../../domain/clock.ts'
import { isWithin } from '../../../domain/is-within.ts'
import { systemErrorCode } from '../../../domain/system-error-code.ts'

/** What to watch; all paths are absolute. */
export interface WatchTargets {
  /** With everything in them except hidden files, `node_modules`, and files that programs write while they run. */
  folders: readonly string[]
  /** Always watched, whatever their names. They may not exist yet. */
  files: readonly string[]
  /** Not watched, with everything in them. */
  ignore: readonly string[]
  /** Files to ignore whatever their names. */
  ignoreFile?: (file: Stats) => boolean
}

interface FileWatchOptions {
  clock: Clock
  /** The changed, new or removed paths, sorted. Changes in quick succession are reported together. */
  onChange(paths: string[]): void
  /** Something cannot be watched. Called once for each reason. */
  onProblem(message: string): void
}

/** Editors and checkouts write several files, each in several steps. */
const QUIET_MS = 100
/** An agent file in a home directory must not make us read all of it. */
const MAX_FOLDERS = 1_000
const MAX_FILES = 10_000

export function watchFiles(targets: WatchTargets, { clock, onChange, onProblem }: FileWatchOptions) {
  const watchers = new Map<string, FSWatcher>()
  const said = new Set<string>()
  let wanted = targets
  let stamps = new Map<string, string>()
  let cancelLook = () => {}
  let closed = false

  const complain = (message: string) => {
    if (!said.has(message)) onProblem(message)
    said.add(message)
  }

  function lookSoon(): void {
    cancelLook()
    if (!closed) cancelLook = clock.after(QUIET_MS, look)
  }

  function look(): void {
    const seen = scan(wanted, complain)
    // Changes in a new folder before it was watched brought no event.
    if (watchFolders(seen.folders)) lookSoon()
    const changed = difference(stamps, seen.stamps)
    stamps = seen.stamps
    if (changed.length > 0) onChange(changed)
  }

  /** Returns whether there was a new folder. */
  function watchFolders(folders: ReadonlySet<string>): boolean {
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue
      watcher.close()
      watchers.delete(folder)
    }
    let added = false
    for (const folder of folders) {
      if (watchers.has(folder)) continue
      try {
        const watcher = watch(folder, { persistent: false }, lookSoon)
        watcher.on('error', () => {
          // The folder was removed or moved. A look at its parent will show it.
          watcher.close()
          watchers.delete(folder)
          lookSoon()
        })
        watchers.set(folder, watcher)
        added = true
      } catch (error) {
        const code = systemErrorCode(error)
        if (code === 'ENOENT') continue
        const help = code === 'ENOSPC' ? ' Raise the limit: sysctl fs.inotify.max_user_watches=524288' : ''
        complain(`Not all folders can be watched (${code}).${help}`)
      }
    }
    return added
  }

  /** Watches these instead. Still reports a change since the last report, unless the file was not watched then. */
  function retarget(next: WatchTargets): void {
    wanted = next
    // Twice: the second look sees what changes while the watchers are set up.
    watchFolders(scan(wanted, complain).folders)
    const seen = scan(wanted, complain).stamps
    const known = new Map([...seen].map(([path, now]) => [path, stamps.get(path) ?? now]))
    stamps = known
    if (difference(known, seen).length > 0) lookSoon()
  }

  retarget(targets)
  return {
    retarget,
    close(): void {
      closed = true
      cancelLook()
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}

interface Seen {
  /** For each file, a text that changes with the file. */
  stamps: Map<string, string>
  folders: Set<string>
}

function scan({ folders, files, ignore, ignoreFile }: WatchTargets, complain: (message: string) => void): Seen {
  const seen: Seen = { stamps: new Map(), folders: new Set() }
  const left = [...folders]
  for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
    if (seen.folders.has(folder) || ignore.some((one) => isWithin(folder, one))) continue
    if (seen.folders.size >= MAX_FOLDERS || seen.stamps.size >= MAX_FILES) {
      complain(`There is too much to watch: only ${MAX_FOLDERS} folders and ${MAX_FILES} files are watched.`)
      break
    }
    seen.folders.add(folder)
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (isNoise(entry.name) || ignore.some((one) => isWithin(path, one))) continue
      if (entry.isDirectory()) left.push(path)
      else stamp(path, seen.stamps, ignoreFile)
    }
  }
  for (const file of files) {
    seen.folders.add(dirname(file))
    stamp(file, seen.stamps, ignoreFile)
  }
  return seen
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // Removed since it was found, or not readable.
    return []
  }
}

function stamp(path: string, stamps: Map<string, string>, ignoreFile: WatchTargets['ignoreFile']): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isFile() && ignoreFile?.(stats) !== true) stamps.set(path, `${stats.ino} ${stats.size} ${stats.mtimeMs}`)
}

/** Hidden files, packages, editors' copies, and files of databases and logs. */
const isNoise = (name: string): boolean =>
  name.startsWith('.') || name === 'node_modules' || /~$|\.(swp|tmp|log|db|sqlite3?)(-(wal|shm|journal))?$/i.test(name)

function difference(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort()
}
