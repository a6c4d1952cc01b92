// People name records and sessions by the first characters of their ids.

/** Those whose id begins like this. The case of letters and dashes do not matter, and a whole id means only itself. */
export function matchingIds<T>(all: readonly T[], given: string, idOf: (one: T) => string): T[] {
  const start = plain(given)
  if (start === '') return []
  const exact = all.filter((one) => plain(idOf(one)) === start)
  return exact.length > 0 ? exact : all.filter((one) => plain(idOf(one)).startsWith(start))
}

const plain = (id: string): string => id.toLowerCase().replaceAll('-', '')

const SHORTEST_ID = 8

/** The shortest start of each id that no other one has. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const sorted = [...new Set(ids)].sort()
  const short = (id: string, i: number): string => {
    // The ids that begin most like this one are its neighbours.
    const shared = Math.max(sharedStart(id, sorted[i - 1] ?? ''), sharedStart(id, sorted[i + 1] ?? ''))
    const start = id.slice(0, Math.max(shared + 1, SHORTEST_ID))
    return start.endsWith('-') ? id.slice(0, start.length + 1) : start
  }
  return new Map(sorted.map((id, i) => [id, short(id, i)]))
}

function sharedStart(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}
