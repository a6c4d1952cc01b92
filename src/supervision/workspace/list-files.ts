// The files of a workspace, as its operator sees them. The agent can write there while we look, so each folder is opened from the one above
// without following links.

import type { Dirent, Stats } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { createIgnoreRules, foldersAbove, joined } from '../../domain/text/ignore-rules.ts'
import { NEVER_KEPT } from '../checkpoints/hash-workspace.ts'
import { placeOf } from '../checkpoints/restore-step.ts'
import { confineFolder, refuseMoved } from './confine.ts'
import { type OpenFolder, openFolder } from './open-folder.ts'
import { readFileIn } from './read-workspace-file.ts'
import { refuseSecret } from './secret-path.ts'

export interface ListedEntry {
  /** Relative to the workspace, with slashes. The agent chose the name: show it with `visibleText`. */
  path: string
  /** 1 for what is directly in the listed folder. */
  depth: number
  /** Links are never followed. `other`: a device, a pipe or a socket. */
  type: 'folder' | 'file' | 'link' | 'other'
  /** Of a file; null also if there was no time to look. */
  bytes: number | null
  /** It could not be looked at, so nothing is known about its size or what is in it. */
  isUnread?: true
}

export interface FileList {
  /** The folder, relative to the workspace. Empty: the workspace itself. */
  path: string
  /** As a tree: what is in a folder follows it. Folders come first, then files, both sorted by name. */
  entries: ListedEntry[]
  /** How many entries were left out because they are generated or .gitignore excludes them. */
  ignored: number
  /** Why this is not everything; null if it is. What is near the listed folder comes before what is deep below it. */
  cut: 'entries' | 'time' | null
}

interface ListLimits {
  maxEntries: number
  /** Names that are looked at, also those that are left out. */
  maxNames: number
  maxMs: number
}

const listLimits: ListLimits = { maxEntries: 2_000, maxNames: 20_000, maxMs: 5_000 }
const MOST_DEPTH = 10
export const USUAL_DEPTH = 3

/** Nobody wants to read these. A folder that is named is listed all the same. */
const LEFT_OUT: ReadonlySet<string> = new Set([...NEVER_KEPT, 'node_modules'])
/** Of all .gitignore files together. Matching takes time, and this runs beside everything else that the server does. */
const MAX_RULE_BYTES = 32_768
const MAX_RULE_CHARS = 255
const BREATHE_MS = 20

/**
 * Lists a folder of a workspace. `root` is its real path. Throws `path_violation` for a path that leaves the workspace, `file_not_found`,
 * `forbidden` for a folder that is not shown, and `invalid_request` for a depth that is not 1 to 10.
 */
export async function listFiles(
  root: string,
  { path, depth = USUAL_DEPTH }: { path: string; depth?: number },
  clock: Pick<Clock, 'mono' | 'soon'>,
  limits: Partial<ListLimits> = {},
): Promise<FileList> {
  if (!Number.isInteger(depth) || depth < 1 || depth > MOST_DEPTH) {
    throw new ServerError('invalid_request', `The depth is a whole number from 1 to ${MOST_DEPTH}.`)
  }
  const place = await confineFolder(root, path)
  refuseMoved(root, place.root)
  refuseSecret(place.path, path)
  const walk = createWalk(root, clock, { ...listLimits, ...limits })
  for (const above of foldersAbove(place.path).slice(1).reverse()) await walk.readRules(above)
  let level = [place.path]
  for (let at = 1; at <= depth && level.length > 0; at += 1) {
    const below: string[] = []
    for (const folder of level) {
      if (walk.isOver()) break
      below.push(...(await walk.readFolder(folder, at)))
    }
    level = below
  }
  return walk.result(place.path)
}

interface Found {
  name: string
  type: ListedEntry['type']
}

function createWalk(root: string, clock: Pick<Clock, 'mono' | 'soon'>, limits: ListLimits) {
  const started = clock.mono()
  const rules = createIgnoreRules()
  const inFolder = new Map<string, ListedEntry[]>()
  let ruleBytes = 0
  let names = 0
  let kept = 0
  let ignored = 0
  let cut: FileList['cut'] = null
  let breathed = started

  function isLate(): boolean {
    if (clock.mono() - started <= limits.maxMs) return false
    cut ??= 'time'
    return true
  }

  /** Lets others work. A hostile .gitignore can make one name take milliseconds. */
  async function breathe(): Promise<void> {
    if (clock.mono() - breathed < BREATHE_MS) return
    await new Promise<void>((resolve) => clock.soon(resolve))
    breathed = clock.mono()
  }

  async function addRules(folder: string, open: OpenFolder): Promise<void> {
    const path = joined(folder, '.gitignore')
    const file = await readFileIn(open, { root, folders: partsOf(folder), name: '.gitignore', path }).catch(orNone)
    if (file === null || file.bytes.length > MAX_RULE_BYTES - ruleBytes) return
    ruleBytes += file.bytes.length
    const lines = Buffer.from(file.bytes).toString('utf8').split('\n')
    rules.add({ folder, text: lines.filter((line) => line.length <= MAX_RULE_CHARS).join('\n') })
  }

  async function namesIn(open: OpenFolder): Promise<Found[]> {
    const found: Found[] = []
    for await (const item of await opendir(open.at('.'))) {
      names += 1
      if (names > limits.maxNames) {
        cut ??= 'entries'
        break
      }
      if (names % 256 === 0 && isLate()) break
      found.push({ name: item.name, type: typeOf(item) })
    }
    return found
  }

  /** Without what is left out. */
  async function wanted(folder: string, found: readonly Found[]): Promise<Found[]> {
    const isIgnored = rules.scopeOf(folder)
    const left: Found[] = []
    for (const one of found) {
      await breathe()
      if (isLate()) return left
      if (LEFT_OUT.has(one.name.toLowerCase()) || isIgnored(one.name, one.type === 'folder')) ignored += 1
      else left.push(one)
    }
    return left
  }

  async function addEntries(folder: string, depth: number, open: OpenFolder): Promise<ListedEntry[]> {
    await addRules(folder, open)
    const entries: ListedEntry[] = []
    for (const one of (await wanted(folder, await namesIn(open))).sort(inOrder)) {
      if (kept >= limits.maxEntries) {
        cut ??= 'entries'
        break
      }
      const path = joined(folder, one.name)
      const entry = isLate() ? { path, type: one.type, bytes: null } : await look(one, path, open)
      if (entry === null) continue
      entries.push({ ...entry, depth })
      kept += 1
    }
    return entries
  }

  async function opened<T>(folder: string, work: (open: OpenFolder) => Promise<T>): Promise<T | null> {
    await using open = await openFolder(root, partsOf(folder), { create: false })
    return open === null ? null : await work(open)
  }

  return {
    isOver: () => isLate() || cut !== null,
    readRules: (folder: string) => opened(folder, (open) => addRules(folder, open)),
    /** Gives the folders below. */
    async readFolder(folder: string, depth: number): Promise<string[]> {
      try {
        const entries = (await opened(folder, (open) => addEntries(folder, depth, open))) ?? []
        inFolder.set(folder, entries)
        return entries.filter(({ type }) => type === 'folder').map(({ path }) => path)
      } catch (error) {
        // The listed folder itself must be there. One below may be closed to us, or gone or replaced meanwhile.
        if (depth === 1) throw error
        orNone(error)
        const itself = inFolder.get(placeOf(folder).folder)?.find(({ path }) => path === folder)
        if (itself !== undefined) itself.isUnread = true
        return []
      }
    },
    result(path: string): FileList {
      const tree = (folder: string): ListedEntry[] =>
        (inFolder.get(folder) ?? []).flatMap((entry) =>
          entry.type === 'folder' ? [entry, ...tree(entry.path)] : [entry],
        )
      return { path, entries: tree(path), ignored, cut }
    },
  }
}

/** For what the workspace or the disk refuses. Anything else is a bug. */
function orNone(error: unknown): null {
  if (error instanceof ServerError || systemErrorCode(error) !== '') return null
  throw error
}

const partsOf = (folder: string): string[] => (folder === '' ? [] : folder.split('/'))

const typeOf = (one: Dirent | Stats): ListedEntry['type'] =>
  one.isDirectory() ? 'folder' : one.isFile() ? 'file' : one.isSymbolicLink() ? 'link' : 'other'

const inOrder = (a: Found, b: Found): number =>
  Number(b.type === 'folder') - Number(a.type === 'folder') || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

/** Null: it is gone by now. */
async function look({ name, type }: Found, path: string, open: OpenFolder): Promise<Omit<ListedEntry, 'depth'> | null> {
  try {
    const stat = await lstat(open.at(name))
    return { path, type: typeOf(stat), bytes: stat.isFile() ? stat.size : null }
  } catch (error) {
    // A name that is not UTF-8 leads nowhere, although it is there.
    if (systemErrorCode(error) === 'ENOENT' && !name.includes('\ufffd')) return null
    orNone(error)
    return { path, type, bytes: null, isUnread: true }
  }
}
