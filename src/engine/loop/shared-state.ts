// The state that a session shares with its clients. Tools change it, and clients get the difference.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { JsonPatchOperation } from '../../domain/session/event.ts'
import { jsonLimits, jsonProblem } from '../../json/json-limits.ts'
import type { RunWriter } from '../run/run-writer.ts'

export interface SharedState {
  read(): unknown
  /** Clients see the change with the next flush, and the same commit stores it. Throws `tool_failed` if the state is too large. */
  replace(next: unknown): void
}

/** With more operations, sending the whole state is shorter and applying it is quicker. */
const MOST_OPERATIONS = 1_000

/** The run's readers have seen `initial` already. Undefined if there is no state yet. */
export function createSharedState(
  writer: Pick<RunWriter, 'emit' | 'timestamp' | 'keepState'>,
  initial: unknown,
): SharedState {
  let current = initial
  return {
    read: () => structuredClone(current),
    replace(next) {
      const problem = jsonProblem(next)
      if (problem !== null) {
        throw new ServerError(
          'tool_failed',
          `The shared state was not changed, because it would be too large. ${problem}`,
        )
      }
      const value: unknown = JSON.parse(JSON.stringify(next) ?? 'null')
      const timestamp = writer.timestamp()
      // A patch needs a state to apply to, and some readers have none yet.
      const delta = current === undefined ? null : difference(current, value, MOST_OPERATIONS)
      if (delta?.length === 0) return
      if (delta === null) writer.emit({ type: 'STATE_SNAPSHOT', snapshot: value, timestamp })
      else writer.emit({ type: 'STATE_DELTA', delta, timestamp })
      current = value
      writer.keepState(value)
    },
  }
}

/**
 * A JSON Patch (RFC 6902). Lists of the same length are compared item by item; a list that grew or shrank is replaced. Null if it
 * needs more than `most` operations, or if its paths are too long: a long key is part of the path of everything below it.
 */
export function difference(
  before: unknown,
  after: unknown,
  most = Number.POSITIVE_INFINITY,
): JsonPatchOperation[] | null {
  const operations: JsonPatchOperation[] = []
  let pathCharacters = 0
  const add = (operation: JsonPatchOperation): boolean => {
    operations.push(operation)
    pathCharacters += operation.path.length
    return operations.length <= most && pathCharacters <= jsonLimits.bytes
  }
  /** False if the patch is too large. */
  function compare(old: unknown, now: unknown, path: string): boolean {
    if (Array.isArray(old) && Array.isArray(now) && old.length === now.length) {
      return old.every((item, index) => Object.is(item, now[index]) || compare(item, now[index], `${path}/${index}`))
    }
    if (isRecord(old) && isRecord(now)) {
      const place = (key: string): string => `${path}/${escapeKey(key)}`
      const removed = Object.keys(old).filter((key) => !Object.hasOwn(now, key))
      return (
        removed.every((key) => add({ op: 'remove', path: place(key) })) &&
        Object.entries(now).every(([key, value]) => {
          if (!Object.hasOwn(old, key)) return add({ op: 'add', path: place(key), value })
          // Most of a large state does not change, and building the paths of unchanged parts would take most of the time.
          return Object.is(old[key], value) || compare(old[key], value, place(key))
        })
      )
    }
    return Object.is(old, now) || add({ op: 'replace', path, value: now })
  }
  return compare(before, after, '') ? operations : null
}

const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
