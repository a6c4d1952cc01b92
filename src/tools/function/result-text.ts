import { boundedJson, NotJson } from '../../json/bounded-json.ts'
import type { ToolOutcome } from '../tool.ts'

/**
 * A string as it is, nothing as the empty text, everything else as JSON, of which no more is made than `limit` characters. Throws
 * `NotJson`.
 */
export function resultText(result: unknown, limit: number): Pick<ToolOutcome, 'content' | 'isCut'> {
  if (typeof result === 'string') return { content: result }
  if (result === undefined || result === null) return { content: '' }
  const { text, isCut } = boundedJson(result, limit, refuseHollow)
  if (text === undefined) throw new NotJson(`a ${typeof result} is not JSON`)
  return { content: text, ...(isCut ? { isCut } : {}) }
}

/** JSON turns a Map, a Response or a Promise into `{}` without a word. */
function refuseHollow(value: object): NotJson | null {
  const prototype: unknown = Object.getPrototypeOf(value)
  // The prototype of plain objects has none itself, in every realm.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return null
  return new NotJson(`JSON cannot carry a ${value.constructor?.name || 'value of this class'}`)
}
