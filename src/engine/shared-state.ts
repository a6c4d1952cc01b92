// The state that a session shares with its clients: tools change it, clients are sent the difference.

import type { JsonPatchOperation } from '../domain/event.ts'
import type { RunWriter } from './run-writer.ts'

export interface SharedState {
  read(): unknown
  /** Clients see it with the next flush, and it is stored in the same commit. */
  replace(next: unknown): void
}

/** `initial` has been shown to the run's readers already; undefined: there is no state yet. */
export function createSharedState(
  writer: Pick<RunWriter, 'emit' | 'timestamp' | 'keepState'>,
  initial: unknown,
): SharedState {
  let current = initial
  return {
    read: () => structuredClone(current),
    replace(next) {
      const value: unknown = JSON.parse(JSON.stringify(next) ?? 'null')
      const timestamp = writer.timestamp()
      if (current === undefined) {
        // A patch needs something to apply to: some readers start from nothing.
        writer.emit({ type: 'STATE_SNAPSHOT', snapshot: value, timestamp })
      } else {
        const delta = difference(current, value)
        if (delta.length === 0) return
        writer.emit({ type: 'STATE_DELTA', delta, timestamp })
      }
      current = value
      writer.keepState(value)
    },
  }
}

/** RFC 6902. Lists of the same length are compared item by item; one that grew or shrank is replaced. */
export function difference(before: unknown, after: unknown, path = ''): JsonPatchOperation[] {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => difference(item, after[index], `${path}/${index}`))
  }
  if (isObject(before) && isObject(after)) {
    const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
    return [
      ...removed.map((key) => ({ op: 'remove' as const, path: `${path}/${escapeKey(key)}` })),
      ...Object.entries(after).flatMap(([key, value]): JsonPatchOperation[] => {
        const place = `${path}/${escapeKey(key)}`
        return Object.hasOwn(before, key) ? difference(before[key], value, place) : [{ op: 'add', path: place, value }]
      }),
    ]
  }
  return Object.is(before, after) ? [] : [{ op: 'replace', path, value: after }]
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
