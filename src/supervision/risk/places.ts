// What it means for the risk that a command or a tool uses a path.

import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isWithin } from '../../domain/is-within.ts'
import { globMatches } from '../../domain/text/glob.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { createRealPath } from '../policy/real-path.ts'
import { leadsOut } from '../workspace/guard-arguments.ts'
import { protectedChange } from '../workspace/protected-path.ts'
import { secretPath } from '../workspace/secret-path.ts'
import type { WhereLeads } from '../workspace/where-leads.ts'
import type { WorkRisk } from './risk.ts'

export type Use = 'read' | 'write' | 'names'

export interface Finding {
  risk: WorkRisk
  why: string
  action: string | null
}

export interface PathUse extends Omit<Finding, 'action'> {
  /** Only a person lets an agent use it, so that nothing about it is remembered. */
  guarded: boolean
  /** In the workspace. Null: elsewhere or nowhere. */
  path: string | null
}

/** They are no files. */
const STREAM = /^(?:-|\/dev\/(?:null|zero|stdin|stdout|stderr|tty|fd\/\d+))$/
/** Whoever writes here changes the machine. */
const SYSTEM = /^\/(?:etc|usr|bin|sbin|lib\w*|boot|dev(?!\/shm\/)|proc|sys|root|System|Library|Windows)(?:\/|$)/
const MAX_ENTRIES = 1_000
/** For one piece of work. Looking blocks the event loop. */
const MAX_FOLDERS = 200
const MAX_NEAR_FOLDERS = 40

/** For one piece of work: it remembers what it has looked up. `seen`: see `Work`. */
export function createPathUses(whereLeads: WhereLeads, workspaceRoot: string, seen?: string) {
  const realPath = createRealPath()
  const looked = new Map<string, readonly Dirent[]>()

  /** Throws if the work makes us look into too many folders. */
  function entriesIn(folder: string): readonly Dirent[] {
    const known = looked.get(folder)
    if (known !== undefined) return known
    if (looked.size >= MAX_FOLDERS) throw new Error('There are too many folders to look into.')
    let entries: Dirent[] = []
    try {
      entries = readdirSync(folder, { withFileTypes: true })
    } catch {
      // There is nothing to find.
    }
    looked.set(folder, entries)
    return entries
  }

  /** A path as it is written, from a folder; null: from a folder that nobody knows. */
  function use(written: string, folder: string | null, access: Use): PathUse {
    if (written === '' || STREAM.test(written)) return found('none', 'reads nothing')
    if (folder === null && !isAbsolute(written)) return unclear(written)
    // Not `join`: `link/..` is the folder above the target of the link.
    const whole = isAbsolute(written) ? written : `${folder}${sep}${written}`
    try {
      const place = whereLeads(whole, { workspaceRoot, access: access === 'write' ? 'write' : 'read', realPath })
      if (place === null) return found('none', 'names no file')
      const { real, path, ours, named } = place
      const secret = place.secret !== null && isSecretFile(real, access)
      const isWrite = access === 'write'
      const shown = shownPath(written)
      if (access === 'names')
        return path === null && leadsOut(written)
          ? found('high', `looks outside the workspace (${shown})`)
          : found('none', '', path)
      if (secret)
        return guarded('critical', `${isWrite ? 'changes' : 'reads'} a file that usually holds secrets (${shown})`)
      if (ours !== null)
        return guarded(
          isWrite ? 'critical' : 'high',
          `${isWrite ? 'changes' : 'reads'} a file that this server uses (${shown})`,
        )
      // Only package.json is protected for what a change may bring. It still says what is installed.
      if (isWrite && named !== null && path !== null && path === seen)
        return guarded('high', `changes what package managers read (${shown})`, path)
      if (isWrite && named !== null) return guarded('critical', `changes a protected file (${shown})`)
      if (path !== null)
        return named === null ? found('none', '', path) : guarded('low', `reads a protected file (${shown})`, path)
      if (!isWrite)
        return leadsOut(written) ? found('high', `reads outside the workspace (${shown})`) : found('none', '')
      const throughLink = isWithin(resolve(whole), workspaceRoot)
      if (throughLink || SYSTEM.test(real)) return guarded('critical', `writes outside the workspace (${shown})`)
      return found('high', `writes outside the workspace (${shown})`)
    } catch {
      return unclear(written)
    }
  }

  /** The paths that a pattern stands for now, and the folder that it starts from. Null: too many to look at, or from nobody knows where. */
  function matching(pattern: string, folders: readonly string[] | null): string[] | null {
    const isWhole = isAbsolute(pattern)
    if (folders === null && !isWhole) return null
    // Other shells look into all folders for `**`: then the name alone says what is there.
    const last = basename(pattern).replaceAll(/[*?]/g, 'x')
    const found = [dirname(pattern.replace(/[*?[].*$/s, 'x')), ...(pattern.includes('**') ? [last] : [])]
    for (const folder of isWhole ? ['/'] : (folders ?? [])) {
      let paths = [isWhole ? '/' : '']
      for (const part of pattern.split('/').filter(Boolean)) {
        paths = paths.flatMap((path) => {
          if (!/[*?[]/.test(part)) return [join(path, part)]
          return entriesIn(resolve(folder, path)).flatMap(({ name }) => (matches(part, name) ? [join(path, name)] : []))
        })
        if (paths.length > MAX_ENTRIES) return null
      }
      found.push(...paths)
    }
    return found
  }

  /** What is in and near a folder. Folders that tools make are not looked at, nor what is far below. */
  function* entriesNear(folder: string): Generator<{ entry: Dirent; path: string }> {
    const left = [folder]
    for (let i = 0; i < Math.min(left.length, MAX_NEAR_FOLDERS); i += 1) {
      for (const entry of entriesIn(left[i] ?? '')) {
        const path = join(left[i] ?? '', entry.name)
        yield { entry, path }
        if (entry.isDirectory() && !/^(?:\.git|node_modules)$/.test(entry.name)) left.push(path)
      }
    }
  }

  /** A file in or near a folder that usually holds secrets. */
  function secretBelow(folder: string): string | null {
    for (const { entry, path } of entriesNear(folder)) {
      if (entry.isFile() && secretPath(entry.name) !== null) return shownPath(entry.name)
      // Some programs follow links.
      if (entry.isSymbolicLink() && use(path, null, 'read').risk !== 'none') return shownPath(entry.name)
    }
    return null
  }

  /** A protected file of these names in or near a folder of the workspace. */
  function protectedBelow(folder: string, names: string): string | null {
    for (const { entry, path } of entriesNear(join(workspaceRoot, folder))) {
      const isMeant = entry.isFile() && globMatches(names.toLowerCase(), entry.name.toLowerCase())
      if (isMeant && protectedChange(relative(workspaceRoot, path), null, '') !== null) return shownPath(entry.name)
    }
    return null
  }

  const known = new Map<string, string[] | null>()
  const secrets = new Map<string, string | null>()
  return {
    use,
    protectedBelow,
    matching: (pattern: string, folders: readonly string[] | null): string[] | null =>
      once(known, `${folders?.join('\0')}\0${pattern}`, () => matching(pattern, folders)),
    secretBelow: (folder: string): string | null => once(secrets, folder, () => secretBelow(folder)),
  }
}

/** Matches more than a shell does: a set of characters is any character. */
const matches = (pattern: string, name: string): boolean =>
  (pattern.startsWith('.') || !name.startsWith('.')) && globMatches(pattern.replaceAll(/\[[^\]]*\]/g, '?'), name)

/** A word such as `token` is a secret only if there is a file of that name, and `.env.example` is there to be read. */
function isSecretFile(path: string, access: Use): boolean {
  const name = basename(path)
  if (/^\.env\.(?:example|sample|template|dist)$/.test(name)) return access === 'write'
  const isWord = !name.includes('.') && !/^id_(?:rsa|dsa|ecdsa|ed25519)/.test(name)
  if (!isWord || secretPath(join(dirname(path), 'x')) !== null) return true
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function once<T>(known: Map<string, T>, key: string, look: () => T): T {
  const found = known.has(key) ? (known.get(key) as T) : look()
  known.set(key, found)
  return found
}

export const shownPath = (path: string): string => visibleText(path.length > 60 ? `${path.slice(0, 59)}…` : path)
export const unclear = (written: string): PathUse =>
  found('high', `uses a path that is not clear (${shownPath(written)})`)
const found = (risk: WorkRisk, why: string, path: string | null = null): PathUse => ({
  risk,
  why,
  path,
  guarded: false,
})
const guarded = (risk: WorkRisk, why: string, path: string | null = null): PathUse => ({
  risk,
  why,
  path,
  guarded: true,
})

/** `*.ts`: a pattern that says which kind of file it means, and no file with secrets is of this kind. */
export function isKindOfFile(pattern: string): boolean {
  const [, kinds] = /^(?:\*|[\w-]+)\.([\w-]+|\{[\w,-]+\})$/.exec(pattern) ?? []
  return (
    kinds
      ?.replaceAll(/[{}]/g, '')
      .split(',')
      .every((kind) => secretPath(`.${kind}`) === null && secretPath(`x.${kind}`) === null) ?? false
  )
}
