import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, parse, resolve, sep } from 'node:path'

/** As many links as Linux follows. */
const MAX_LINKS = 40
/** For all paths of one call. A lookup takes about 5 µs and blocks the event loop. */
const MAX_LOOKUPS = 5_000

/** The target of a link; null: not a link; undefined: nothing exists there. */
type LinkAt = (path: string) => string | null | undefined

/**
 * Follows the symbolic links of an absolute path as the kernel does, one part after the other. Parts that do not exist yet stay as
 * written, also behind a dangling link, because writing there creates them. Throws if it cannot tell where the path leads: a loop
 * of links, a folder without read permission, a name that is too long, a link in `/proc` (which differs for each process), or too
 * many paths. Make a new one for each call: it caches what it finds.
 */
export function createRealPath(): (path: string) => string {
  const found = new Map<string, string>()
  const links = new Map<string, ReturnType<LinkAt>>()
  const linkAt: LinkAt = (path) => {
    if (links.has(path)) return links.get(path)
    if (links.size >= MAX_LOOKUPS) throw new Error('There are too many paths to look up.')
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
  /** The next part is the last element. */
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
  // Most names that are asked about name no file: an exception for each would cost more than the look.
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (!stat.isSymbolicLink()) return null
  if (path.startsWith('/proc/')) throw new Error(`${path} differs from process to process.`)
  return readlinkSync(path)
}
