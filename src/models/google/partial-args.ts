// Vertex AI can stream a call's arguments as values at JSON paths. They are collected here and passed on as a whole.

import { isRecord } from '../../domain/is-record.ts'
import { textAt } from '../wire/json.ts'

type Container = Map<string | number, Container | unknown>

export interface PartialArgs {
  /** Returns about how many characters were added. */
  add(parts: unknown): number
  /** The arguments so far, as JSON text. */
  text(): string
}

export function createPartialArgs(): PartialArgs {
  // Maps, not objects: the paths come from a model, and "__proto__" must be an ordinary key.
  const root: Container = new Map()
  return {
    add(parts) {
      if (!Array.isArray(parts)) return 0
      let characters = 0
      for (const part of parts) {
        if (!isRecord(part)) continue
        const path = textAt(part, 'jsonPath')
        put(root, path, part)
        characters += path.length + textAt(part, 'stringValue').length
      }
      return characters
    },
    text: () => textOf(root),
  }
}

/** `$.recipe.steps[0].name` and `$['a b']` → keys and indexes. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = []
  for (const match of path.matchAll(/\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]|([^.[\]$]+)/g)) {
    const [, index, single, double, name] = match
    steps.push(index === undefined ? (single ?? double ?? name ?? '') : Number(index))
  }
  return steps
}

function put(root: Container, path: string, part: Record<string, unknown>): void {
  const steps = stepsOf(path)
  const last = steps.pop()
  if (last === undefined) return
  let at = root
  for (const step of steps) {
    const below = at.get(step)
    const next: Container = below instanceof Map ? below : new Map()
    at.set(step, next)
    at = next
  }
  const before = at.get(last)
  if (typeof part.stringValue === 'string') {
    at.set(last, typeof before === 'string' ? before + part.stringValue : part.stringValue)
  } else if (typeof part.numberValue === 'number') at.set(last, part.numberValue)
  else if (typeof part.boolValue === 'boolean') at.set(last, part.boolValue)
  else if ('nullValue' in part) at.set(last, null)
  // An entry without a value ends its path. If the path has no value yet, it is an empty list or object.
  else if (before === undefined && part.willContinue !== true) at.set(last, path.endsWith('[]') ? [] : {})
}

function textOf(value: unknown): string {
  if (!(value instanceof Map)) return JSON.stringify(value)
  const entries = [...value]
  const isList = entries.length > 0 && entries.every(([key]) => typeof key === 'number')
  if (isList) return `[${entries.map(([, item]) => textOf(item)).join(',')}]`
  return `{${entries.map(([key, item]) => `${JSON.stringify(String(key))}:${textOf(item)}`).join(',')}}`
}
