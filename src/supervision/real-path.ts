import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, parse, resolve, sep } from 'node:path'

/** As many as Linux follows. */
const MAX_LINKS = 40

/**
 * Where an absolute path leads, symbolic links followed as the kernel does, one part after the other. What does not exist yet
 * is taken as it is written, behind a dangling link too: writing there makes it. Throws where that cannot be found out: a loop
 * of links, a folder that may not be looked into, a name that is too long.
 */
export function realPath(path: string): string {
  const { root } = parse(path)
  let at = root
  let left = partsOf(path.slice(root.length))
  let links = 0
  while (left.length > 0) {
    const [part = '', ...rest] = left
    left = rest
    if (part === '..') {
      at = dirname(at)
      continue
    }
    const next = resolve(at, part)
    const target = linkAt(next)
    if (target === undefined) return resolve(next, ...left)
    if (target === null) {
      at = next
      continue
    }
    links += 1
    if (links > MAX_LINKS) throw new Error(`Too many symbolic links: ${path}`)
    const base = isAbsolute(target) ? parse(target).root : at
    left = [...partsOf(isAbsolute(target) ? target.slice(base.length) : target), ...left]
    at = base
  }
  return at
}

const partsOf = (path: string): string[] =>
  path.split(sep === '\\' ? /[\\/]/ : '/').filter((part) => part !== '' && part !== '.')

/** Where a link points to; null: no link. Undefined: nothing is there. */
function linkAt(path: string): string | null | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
