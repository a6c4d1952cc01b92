// Turns the names of a server's tools into names that every model accepts. The same list gives the same names in any order,
// because approvals and policies refer to them.

import { sha256 } from '../../../json/digest.ts'

const MAX_LENGTH = 64

/** Our name for each tool, or null for one that is listed twice. Names in `reserved` are not used. */
export function toolNames(
  originals: readonly string[],
  prefix: string,
  reserved: readonly string[] = [],
): (string | null)[] {
  const wanted = originals.map((original) => safeName(prefix + original))
  const claims = new Map<string, Set<string>>()
  for (const [i, name] of wanted.entries()) {
    const claimants = claims.get(name) ?? new Set()
    claims.set(name, claimants.add(originals[i] ?? ''))
  }
  const taken = new Set(reserved)
  return originals.map((original, i) => {
    const name = wanted[i] ?? ''
    const isShared = (claims.get(name)?.size ?? 0) > 1 && name !== prefix + original
    const clashes = isShared || reserved.includes(name)
    const unique = clashes ? withDigest(name, original) : name
    if (taken.has(unique)) return null
    taken.add(unique)
    return unique
  })
}

export function safeName(original: string): string {
  const spelled = original.replace(/[^a-zA-Z0-9_]/g, '_')
  const name = /^[a-zA-Z_]/.test(spelled) ? spelled : `_${spelled}`
  return name.length <= MAX_LENGTH ? name : withDigest(name, original)
}

function withDigest(name: string, original: string): string {
  const ending = `_${sha256(original).slice(0, 6)}`
  return name.slice(0, MAX_LENGTH - ending.length) + ending
}
