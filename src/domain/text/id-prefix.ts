// People name records and sessions by four characters of their ids. Ids begin with the time, which what was asked together shares, and
// end at random, so people are shown the end.

const SHORT = 4

/**
 * Those that are meant by what a person wrote: a whole id, its start, its end of at least four characters, or the four that are shown for
 * it. The case of letters and dashes do not matter. More than one is returned where it is not clear: nothing is guessed.
 */
export function matchingIds<T>(all: readonly T[], given: string, idOf: (one: T) => string): T[] {
  const text = plain(given)
  if (text === '') return []
  const found = (isMeant: (id: string) => boolean): T[] => all.filter((one) => isMeant(plain(idOf(one))))
  const exact = found((id) => id === text)
  if (exact.length > 0) return exact
  const likely = found((id) => id.startsWith(text) || (text.length >= SHORT && id.endsWith(text)))
  if (likely.length > 0) return likely
  const short = shortIds(all.map(idOf))
  return all.filter((one) => short.get(idOf(one)) === text)
}

const plain = (id: string): string => id.toLowerCase().replaceAll('-', '')

/** Four characters for each id that mean no other one to `matchingIds`: its last four, or others before them if two end alike. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const all = [...new Set(ids)].sort()
  const edges = new Map<string, number>()
  for (const id of all) {
    const text = plain(id)
    for (const edge of new Set([text.slice(0, SHORT), text.slice(-SHORT)])) edges.set(edge, (edges.get(edge) ?? 0) + 1)
  }
  const taken = new Set<string>()
  const short = (id: string): string => {
    const text = plain(id)
    if (text.length <= SHORT) return id
    const isFree = (end: number): boolean => {
      const part = text.slice(end - SHORT, end)
      return !taken.has(part) && (edges.get(part) ?? 0) === (end === text.length ? 1 : 0)
    }
    let end = text.length
    while (end > SHORT && !isFree(end)) end -= 1
    const part = isFree(end) ? text.slice(end - SHORT, end) : id
    taken.add(part)
    return part
  }
  return new Map(all.map((id) => [id, short(id)]))
}
