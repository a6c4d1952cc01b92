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
  const short = (id: string): string => {
    for (let length = SHORTEST_ID; length < id.length; length += 1) {
      const start = id.slice(0, length)
      if (!start.endsWith('-') && ids.every((other) => other === id || !other.startsWith(start))) return start
    }
    return id
  }
  return new Map(ids.map((id) => [id, short(id)]))
}
