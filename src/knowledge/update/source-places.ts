// Where the sources of an index are, and what their files are called in it. It does not look at the files, so that a path of the index
// leads back to its file at any time.

import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isWithin } from '../../domain/is-within.ts'
import type { IndexSettings } from '../knowledge.ts'

export interface SourcePlace {
  /** As the file of the agent names it. */
  source: string
  /** Absolute path of the folder that the paths of its files are relative to. */
  root: string
  /** The same without links: no file outside of it is read. Null: `why`. */
  real: string | null
  why: 'It does not exist.' | 'It is a link that leads out of what the agent may read.'
  /** Stands before the path of each file: empty, or with `/` at its end. */
  prefix: string
  /** Which files of the folder. Names of a single one: as the source says it, and without links. Null: all. */
  only: { name: string; realName: string } | { patterns: string[] } | null
}

export const slashed = (path: string): string => (sep === '/' ? path : path.replaceAll(sep, '/'))

export async function placesOf({
  sources,
  directory,
  folders,
}: Pick<IndexSettings, 'sources' | 'directory' | 'folders'>): Promise<SourcePlace[]> {
  const allowed = await Promise.all(folders.map(realOrNull))
  // Somebody may have put a link in the place of a source since the settings were checked.
  const isAllowed = (real: string): boolean => allowed.some((folder) => folder !== null && isWithin(real, folder))
  const places = await Promise.all(sources.map((source) => placeOf(source, resolve(directory, source), isAllowed)))
  if (places.length === 1) return places
  const prefixes = new Map<string, string>()
  for (const { root } of places)
    if (isWithin(root, directory)) prefixes.set(root, ended(slashed(relative(directory, root))))
  for (const { root } of places) if (!prefixes.has(root)) prefixes.set(root, freePrefix(root, [...prefixes.values()]))
  return places.map((place) => ({ ...place, prefix: prefixes.get(place.root) ?? '' }))
}

const ended = (path: string): string => (path === '' ? '' : `${path}/`)

/** As much of the end of the path as no other source has. */
function freePrefix(root: string, taken: readonly string[]): string {
  const names = slashed(root).split('/').filter(Boolean)
  for (let from = names.length - 1; from > 0; from -= 1) {
    const prefix = ended(names.slice(from).join('/'))
    if (!taken.some((one) => one !== '' && (one.startsWith(prefix) || prefix.startsWith(one)))) return prefix
  }
  return ended(names.join('/'))
}

async function placeOf(source: string, path: string, isAllowed: (real: string) => boolean): Promise<SourcePlace> {
  const found = await stat(path).catch(() => null)
  const all = { source, root: path, prefix: '', only: null, why: 'It does not exist.' } as const
  const outside = (real: string): SourcePlace | null =>
    isAllowed(real) ? null : { ...all, real: null, why: 'It is a link that leads out of what the agent may read.' }
  // What exists under this very name is no pattern, whatever characters the name has.
  if (found !== null) {
    const real = await realOrNull(path)
    if (real === null) return { ...all, real }
    const refused = outside(real)
    if (refused !== null || found.isDirectory()) return refused ?? { ...all, real }
    return {
      ...all,
      root: dirname(path),
      real: dirname(real),
      only: { name: basename(path), realName: basename(real) },
    }
  }
  const names = path.split(sep)
  const first = names.findIndex((name) => /[*?[{]/.test(name))
  if (first === -1) return { ...all, real: null }
  const root = join(names.slice(0, first).join(sep), sep)
  const real = await realOrNull(root)
  const refused = real === null ? null : outside(real)
  if (refused !== null) return { ...refused, root: resolve(root) }
  return {
    ...all,
    root: resolve(root),
    real,
    only: { patterns: alternatives(names.slice(first).join('/')) },
  }
}

const realOrNull = (path: string): Promise<string | null> => realpath(path).catch(() => null)

const MOST_ALTERNATIVES = 1_000

/** `{a,b}/*.md` as one pattern for each alternative. Empty: there are too many. */
function alternatives(pattern: string): string[] {
  const left = [pattern]
  const patterns: string[] = []
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    // The innermost first.
    const braces = /\{([^{},]*,[^{}]*)\}/.exec(one)
    if (braces === null) patterns.push(one)
    else {
      const [start, end] = [one.slice(0, braces.index), one.slice(braces.index + braces[0].length)]
      for (const choice of (braces[1] ?? '').split(',')) left.push(start + choice + end)
    }
    if (left.length + patterns.length > MOST_ALTERNATIVES) return []
  }
  return patterns
}
