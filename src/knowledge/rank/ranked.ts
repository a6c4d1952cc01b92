export interface Ranked {
  id: string
  /** The higher the better. */
  score: number
}

/** Equal scores by id, so that every store and every run has the same order. */
export const bestFirst = (a: Ranked, b: Ranked): number => b.score - a.score || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
