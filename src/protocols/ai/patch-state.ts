// Applies the JSON Patch (RFC 6902) of a STATE_DELTA. The engine writes `add`, `replace` and `remove` only.

import { isRecord } from '../../domain/is-record.ts'
import type { JsonPatchOperation } from '../../domain/session/event.ts'

/** A new value; `before` stays as it is. An operation that does not fit changes nothing. */
export function patchState(before: unknown, operations: readonly JsonPatchOperation[]): unknown {
  const root = { state: structuredClone(before) }
  for (const operation of operations) {
    const keys = operation.path.split('/').slice(1).map(keyIn)
    const last = keys.pop()
    const holder = keys.reduce(memberOf, root.state)
    if (last === undefined) root.state = 'value' in operation ? structuredClone(operation.value) : undefined
    else if (Array.isArray(holder)) patchList(holder, last, operation)
    else if (isRecord(holder)) patchRecord(holder, last, operation)
  }
  return root.state
}

const keyIn = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~')

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return Reflect.get(value, key)
}

function patchList(list: unknown[], key: string, operation: JsonPatchOperation): void {
  const at = key === '-' ? list.length : Number(key)
  if (!Number.isInteger(at) || at < 0 || at > list.length) return
  if (operation.op === 'remove') list.splice(at, 1)
  else if (operation.op === 'add') list.splice(at, 0, structuredClone(operation.value))
  else if (operation.op === 'replace' && at < list.length) list[at] = structuredClone(operation.value)
}

function patchRecord(record: Record<string, unknown>, key: string, operation: JsonPatchOperation): void {
  if (operation.op === 'remove') delete record[key]
  else if (operation.op === 'add' || operation.op === 'replace') {
    // Not an assignment: "__proto__" must be an ordinary key.
    const value: unknown = structuredClone(operation.value)
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true })
  }
}
