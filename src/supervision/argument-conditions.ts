// Do the arguments of a call fit the conditions of a rule or a grant? Types are compared strictly: "1" is not 1.

import type { ArgumentCondition, ArgumentConditions } from '../domain/approval-rule.ts'
import { globMatches } from '../domain/glob.ts'
import { unreachable } from '../domain/unreachable.ts'

/** At the end of a path: how many entries the object or list there has. It is never the name of an argument. */
export const COUNT = '#'

/** All of them. An argument that is missing fits nothing but `not`. Throws for a condition that is none of ours. */
export const fits = (conditions: ArgumentConditions, args: Record<string, unknown>): boolean =>
  Object.entries(conditions).every(([path, condition]) => fitsOne(condition, valueAt(args, path)))

function fitsOne(condition: ArgumentCondition, value: unknown): boolean {
  if ('equals' in condition) return value === condition.equals
  if ('oneOf' in condition) return condition.oneOf.some((one) => value === one)
  if ('matches' in condition) return typeof value === 'string' && matches(condition.matches, value)
  if ('above' in condition) return typeof value === 'number' && value > condition.above
  if ('below' in condition) return typeof value === 'number' && value < condition.below
  if ('not' in condition) return !fitsOne(condition.not, value)
  return unreachable(condition)
}

/** Only what the arguments themselves hold; undefined where there is nothing. */
function valueAt(args: Record<string, unknown>, path: string): unknown {
  // A name may have a dot in it; what lies deeper has precedence, so that an extra argument cannot stand in for it.
  return inside(args, path.split('.')) ?? (path !== COUNT && Object.hasOwn(args, path) ? args[path] : undefined)
}

function inside(from: unknown, names: readonly string[]): unknown {
  let value = from
  for (const [i, name] of names.entries()) {
    if (typeof value !== 'object' || value === null) return undefined
    const entries: Record<string, unknown> = { ...value }
    if (name === COUNT && i === names.length - 1) return Object.keys(entries).length
    value = Object.hasOwn(entries, name) ? entries[name] : undefined
  }
  return value
}

/** A path is judged by where it leads: `/data/../etc/passwd` lies in `/etc`, and so does `/etc//passwd`. */
const matches = (pattern: string, text: string): boolean =>
  pattern.includes('/') ? globMatches(pattern.replaceAll(/\/+/g, '/'), straight(text)) : globMatches(pattern, text)

function straight(path: string): string {
  const parts: string[] = []
  const all = path.split('/')
  for (const [i, part] of all.entries()) {
    const last = parts.at(-1)
    if (part === '' && i > 0 && i < all.length - 1) continue
    if (part === '.' && all.length > 1) {
      if (i === all.length - 1) parts.push('')
    } else if (part === '..' && last !== undefined && last !== '..') {
      if (parts.length > 1 || last !== '') parts.pop()
      if (i === all.length - 1) parts.push('')
    } else parts.push(part)
  }
  return parts.join('/')
}
