import { jsonPointer } from '../../shared/request/input-problems.ts'

/** What a tolerant reader left out. Bounded: a hostile body must not fill the log. */
export interface Warnings {
  readonly list: readonly string[]
  /** No more are taken. */
  readonly isFull: boolean
  add(what: string, path: readonly PropertyKey[]): void
}

const MAX_WARNINGS = 10
const MAX_POINTER = 120

export function createWarnings(): Warnings {
  const list: string[] = []
  return {
    list,
    get isFull() {
      return list.length >= MAX_WARNINGS
    },
    add(what, path) {
      if (list.length < MAX_WARNINGS) list.push(`${what} at ${jsonPointer(path).slice(0, MAX_POINTER)}`)
    },
  }
}
