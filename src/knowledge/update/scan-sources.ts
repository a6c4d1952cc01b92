// Which files the sources of an index have. Nothing is read but folders and `.gitignore` files.

import type { Dirent, Stats } from 'node:fs'
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isWithin } from '../../domain/is-within.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { createIgnoreRules, joined } from '../../domain/text/ignore-rules.ts'
import { secretFile } from '../../domain/text/secret-file.ts'
import { MOST_PATH_BYTES } from '../../store/ports/knowledge.ts'
import type { IndexSettings } from '../knowledge.ts'
import { eachOf } from './each-of.ts'
import { openRegular } from './open-regular.ts'
import { placesOf, type SourcePlace, slashed } from './source-places.ts'

export interface ScannedFile {
  /** Its name in the index. */
  path: string
  /** Where it is, without links. */
  absolute: string
  /** The real path of its source. */
  root: string
  bytes: number
  /** When anything about it changed last: nobody can set this time. */
  changedMs: number
}

export interface FileProblem {
  /** A file, a folder, or a source as the settings name it. */
  path: string
  /** A sentence for people. */
  why: string
}

export interface Scan {
  /** In the order of their paths. */
  files: ScannedFile[]
  /** A change of what the sources have is a change in one of these. Absolute. */
  folders: string[]
  problems: FileProblem[]
}

export const scanLimits = {
  /** Files and problems of one index. */
  files: 200_000,
  fileBytes: 50_000_000,
  depth: 50,
  /** Of one `.gitignore`. */
  ignoreBytes: 100_000,
}

/** Folders that are read at once, and entries of each. */
const AT_ONCE = 4

/** `excluded`: absolute paths of folders of our own. */
export async function scanSources(
  settings: Pick<IndexSettings, 'sources' | 'directory' | 'folders' | 'ignore'>,
  excluded: readonly string[],
  signal: AbortSignal,
  limits: typeof scanLimits = scanLimits,
): Promise<Scan> {
  const found = createFound(limits)
  const own = await Promise.all(excluded.map((path) => realpath(path).catch(() => path)))
  for (const place of await placesOf(settings)) {
    if (place.real === null) {
      found.refuse(place.source, place.why)
      found.folders.add(await nearestFolder(place.root))
    } else await scanPlace(place, place.real, { ignore: settings.ignore, own, found, limits, signal })
  }
  return found.all()
}

function createFound(limits: typeof scanLimits) {
  const files = new Map<string, ScannedFile>()
  const problems = new Map<string, string>()
  const folders = new Set<string>()
  let isFull = false

  function refuse(path: string, why: string): void {
    if (!isTooMany()) problems.set(path.slice(0, MOST_PATH_BYTES / 4), why)
  }

  function isTooMany(): boolean {
    isFull ||= files.size + problems.size >= limits.files
    return isFull
  }

  return {
    folders,
    refuse,
    isTooMany,
    add(file: Pick<ScannedFile, 'path' | 'absolute' | 'root'>, stats: Stats): void {
      const why = whyNot(file.path, stats, limits)
      const other = files.get(file.path)
      if (why !== null) refuse(file.path, why)
      else if (other !== undefined && other.absolute !== file.absolute)
        refuse(file.absolute, `Another file is called ${file.path} here too. Give one of the sources another path.`)
      else if (!isTooMany()) {
        // Stores keep whole milliseconds.
        files.set(file.path, { ...file, bytes: stats.size, changedMs: Math.floor(stats.ctimeMs) })
      }
    },
    all(): Scan {
      if (isFull)
        problems.set(
          'The sources',
          `They have more than ${limits.files.toLocaleString('en')} files. The others are left out: name fewer, or use \`ignore\`.`,
        )
      return {
        files: [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
        folders: [...folders],
        problems: [...problems].map(([path, why]) => ({ path, why })),
      }
    },
  }
}

function whyNot(path: string, stats: Stats, { fileBytes }: typeof scanLimits): string | null {
  if (Buffer.byteLength(path) > MOST_PATH_BYTES) return `Its path is longer than ${MOST_PATH_BYTES} bytes.`
  if (!stats.isFile()) return 'It is not a regular file.'
  if (stats.size <= fileBytes) return null
  return `It has ${megabytes(stats.size)}. Files of more than ${megabytes(fileBytes)} are not read.`
}

interface ScanContext {
  ignore: readonly string[]
  own: readonly string[]
  found: ReturnType<typeof createFound>
  limits: typeof scanLimits
  signal: AbortSignal
}

interface Folder {
  /** Relative to the source. A link that leads here may be a part of it. */
  path: string
  absolute: string
}

async function scanPlace(place: SourcePlace, root: string, context: ScanContext): Promise<void> {
  const { own, found, limits, signal } = context
  const { prefix, only } = place
  const git = createIgnoreRules()
  const ignored = rulesOf(context.ignore)
  const wanted = only !== null && 'patterns' in only ? rulesOf(only.patterns.map((pattern) => `/${pattern}`)) : null
  const depth =
    only !== null && 'patterns' in only && !only.patterns.some((pattern) => pattern.includes('**'))
      ? Math.max(...only.patterns.map((pattern) => pattern.split('/').length)) - 1
      : limits.depth
  const isLeftOut = (name: string): boolean => name.startsWith('.') || name === 'node_modules'
  const isOwn = (path: string): boolean => own.some((one) => isWithin(path, one))

  if (place.root !== root) found.folders.add(dirname(place.root))
  if (only !== null && 'name' in only) {
    const { name, realName } = only
    const absolute = join(root, realName)
    found.folders.add(root).add(place.root)
    const secret = secretNamed(name) ?? secretNamed(realName)
    if (ignored.scopeOf('')(name, false)) return
    if (secret !== null) return found.refuse(prefix + name, secret)
    return found.add({ path: prefix + name, absolute, root }, await lstat(absolute))
  }

  let seen = 0
  const visited = new Set<string>()
  /** Links wait, so that a folder is called what it is called without them, and all rules are known. */
  const linked: (() => Promise<void>)[] = []
  let next: Folder[] = [{ path: '', absolute: root }]
  while (next.length > 0 && !found.isTooMany()) {
    const level = next
    next = []
    await eachOf(level, AT_ONCE, readFolder)
    if (next.length === 0) await eachOf(linked.splice(0), AT_ONCE, (follow) => follow())
  }
  if (wanted !== null && seen === 0) found.refuse(place.source, 'There is no such file.')

  async function readFolder(folder: Folder): Promise<void> {
    signal.throwIfAborted()
    if (visited.has(folder.absolute) || found.isTooMany()) return
    visited.add(folder.absolute)
    const entries = await readdir(folder.absolute, { withFileTypes: true }).catch((error: unknown) => {
      const code = systemErrorCode(error)
      if (code !== 'ENOENT') found.refuse(ended(prefix + folder.path), `The folder cannot be read (${code}).`)
      return null
    })
    if (entries === null) return
    found.folders.add(folder.absolute)
    if (entries.some(({ name }) => name === '.gitignore')) await readIgnoreFile(folder)
    const scopes = { isIgnored: ignoring(folder), wanted: wanted?.scopeOf(folder.path) }
    await eachOf(entries, AT_ONCE, (entry) => look(folder, entry, scopes))
  }

  type Scope = (name: string, isFolder: boolean) => boolean

  /** By its own path, and by the one that a link has led here with. */
  function ignoring({ path, absolute }: Folder): Scope {
    const scopes = [...new Set([path, realPathOf(absolute)])].flatMap((one) => [git.scopeOf(one), ignored.scopeOf(one)])
    return (name, isFolder) => scopes.some((isIgnored) => isIgnored(name, isFolder))
  }

  function realPathOf(absolute: string): string {
    return slashed(relative(root, absolute))
  }

  /** Where a link leads, it or a folder above it. */
  function isIgnoredBehindLink(target: string, isFolder: boolean): boolean {
    const names = realPathOf(target).split('/')
    return names.some((name, i) => {
      const path = names.slice(0, i).join('/')
      return ignoring({ path, absolute: join(root, path) })(name, isFolder || i < names.length - 1)
    })
  }

  async function look(
    folder: Folder,
    entry: Dirent,
    scopes: { isIgnored: Scope; wanted: Scope | undefined },
  ): Promise<void> {
    signal.throwIfAborted()
    const { name } = entry
    const path = joined(folder.path, name)
    const named = prefix + path
    const absolute = join(folder.absolute, name)
    const isFolder = entry.isDirectory()
    const isWanted = scopes.wanted?.(name, false) ?? true
    if (scopes.isIgnored(name, isFolder) || isOwn(absolute)) return
    if (isFolder) {
      if (!isLeftOut(name)) below({ path, absolute })
      return
    }
    const secret = isWanted ? secretNamed(name) : null
    if (isWanted) seen += 1
    if (secret !== null) return found.refuse(named, secret)
    if (isLeftOut(name)) return
    if (entry.isSymbolicLink()) return void linked.push(() => follow({ path, absolute }, named, isWanted))
    if (!isWanted) return
    const stats = await lstat(absolute).catch((error: unknown) => {
      if (name.includes('\ufffd')) found.refuse(named, 'Its name is not UTF-8.')
      else if (systemErrorCode(error) !== 'ENOENT')
        found.refuse(named, `It cannot be read (${systemErrorCode(error)}).`)
      return null
    })
    // What has become a link since is looked at again with the next scan.
    if (stats !== null && !stats.isSymbolicLink()) found.add({ path: named, absolute, root }, stats)
  }

  async function follow({ path, absolute }: Folder, named: string, isWanted: boolean): Promise<void> {
    const target = await realpath(absolute).catch(() => null)
    const stats = target === null ? null : await stat(target).catch(() => null)
    if (target === null || stats === null) {
      if (isWanted) found.refuse(named, 'It is a link that leads nowhere.')
      return
    }
    if (!isWithin(target, root)) {
      if (isWanted || stats.isDirectory()) found.refuse(named, 'It is a link that leads out of the source.')
      return
    }
    const names = realPathOf(target).split('/')
    if (names.includes('.git') || names.includes('node_modules') || isOwn(target)) return
    if (target !== root && isIgnoredBehindLink(target, stats.isDirectory())) return
    if (stats.isDirectory()) return void next.push({ path, absolute: target })
    const secret = secretNamed(basename(target))
    if (!isWanted) return
    if (secret !== null) return found.refuse(named, secret)
    found.add({ path: named, absolute: target, root }, stats)
  }

  function below(folder: Folder): void {
    const levels = folder.path.split('/').length
    if (levels <= depth) next.push(folder)
    else if (levels > limits.depth)
      found.refuse(ended(prefix + folder.path), `It is more than ${limits.depth} folders deep.`)
  }

  async function readIgnoreFile(folder: Folder): Promise<void> {
    try {
      await using handle = await openRegular(join(folder.absolute, '.gitignore'), root)
      const { size } = await handle.stat()
      if (size > limits.ignoreBytes)
        found.refuse(prefix + joined(folder.path, '.gitignore'), 'It is too large. Its rules do not apply.')
      else git.add({ folder: realPathOf(folder.absolute), text: await handle.readFile('utf8') })
    } catch {
      // Like git, which follows no links here and takes what it cannot read for missing.
    }
  }
}

const rulesOf = (lines: readonly string[]) => createIgnoreRules([{ folder: '', text: lines.join('\n') }])

const ended = (path: string): string => (path.endsWith('/') ? path : `${path}/`)

const secretNamed = (name: string): string | null => secretFile(name, name.normalize('NFKC').toLowerCase())

const megabytes = (bytes: number): string =>
  `${(bytes / 1_000_000).toLocaleString('en', { maximumFractionDigits: 1 })} MB`

/** What does not exist may begin to, and this folder is the one to see it. */
async function nearestFolder(path: string): Promise<string> {
  for (let at = dirname(path); ; at = dirname(at)) {
    const stats = await stat(at).catch(() => null)
    if (stats?.isDirectory() === true || at === dirname(at)) return at
  }
}
