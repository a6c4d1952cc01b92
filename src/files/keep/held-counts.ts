/** Changes the count of a key, which is gone from the map at 0. Gives the new count. */
export function addTo(counts: Map<string, number>, key: string, more: number): number {
  const now = (counts.get(key) ?? 0) + more
  if (now > 0) counts.set(key, now)
  else counts.delete(key)
  return now
}

/** Counts one holder of a key until it is disposed of. */
export function hold(counts: Map<string, number>, key: string): Disposable {
  addTo(counts, key, 1)
  return { [Symbol.dispose]: () => void addTo(counts, key, -1) }
}
