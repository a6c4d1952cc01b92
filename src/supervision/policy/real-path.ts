import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, parse, resolve, sep } from 'node:path'

/** As many as Linux follows. */
const MAX_LINKS = 40
/** Of all paths of one call: the disk is asked while everybody else waits, some 5 µs each time. */
const MAX_LOOKUPS = 5_000

/** Where a link points to; null: no link. Undefined: nothing is there. */
type LinkAt = (path: string) => string | null | undefined

/**
 * Where an absolute path leads, symbolic links followed as the kernel does, one part after the other. What does not exist yet
 * is taken as it is written, behind a dangling link too: writing there makes it. Throws where that cannot be found out: a loop
 * of links, a folder that may not be looked into, a name that is too long, a link of `/proc`, which leads each process
 * somewhere else, and more paths than there is time for. To be made for each call, because it remembers.
 */
export function createRealPath(): (path: string) => string {
  const found = new Map<string, string>()
  const links = new Map<string, ReturnType<LinkAt>>()
  const linkAt: LinkAt = (path) => {
    if (links.has(path)) return links.get(path)
    if (links.size >= MAX_LOOKUPS) throw new Error('These paths are too many to look up.')
    const target = readLink(path)
    links.set(path, target)
    return target
  }
  return (path) => {
    const known = found.get(path)
    if (known !== undefined) return known
    const real = follow(path, linkAt)
    found.set(path, real)
    return real
  }
}

function follow(path: string, linkAt: LinkAt): string {
  const { root } = parse(path)
  let at = root
  /** The next one last. */
  const left = partsOf(path.slice(root.length)).reverse()
  let links = 0
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (part === '..') {
      at = dirname(at)
      continue
    }
    const next = resolve(at, part)
    const target = linkAt(next)
    if (target === undefined) return resolve(next, ...left.reverse())
    if (target === null) {
      at = next
      continue
    }
    links += 1
    if (links > MAX_LINKS) throw new Error(`Too many symbolic links: ${path}`)
    const base = isAbsolute(target) ? parse(target).root : at
    left.push(...partsOf(isAbsolute(target) ? target.slice(base.length) : target).reverse())
    at = base
  }
  return at
}

const partsOf = (path: string): string[] =>
  path.split(sep === '\\' ? /[\\/]/ : '/').filter((part) => part !== '' && part !== '.')

function readLink(path: string): ReturnType<LinkAt> {
  try {
    if (!lstatSync(path).isSymbolicLink()) return null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  if (path.startsWith('/proc/')) throw new Error(`Every process finds something else at ${path}.`)
  return readlinkSync(path)
}
