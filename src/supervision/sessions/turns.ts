/** One after the other for each key. */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key) ?? Promise.resolve()
    const turn = before.then(work, work)
    const settled = turn.catch(() => {})
    last.set(key, settled)
    try {
      return await turn
    } finally {
      if (last.get(key) === settled) last.delete(key)
    }
  }
}
