// Do the arguments of a call fit the conditions of a rule or a grant? Types are compared strictly: "1" is not 1.

import type { ArgumentCondition, ArgumentConditions } from '../../domain/approval-rule.ts'
import { globMatches } from '../../domain/glob.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { isPathArgument, type Lean, type PathSense, pathFits } from './path-conditions.ts'

/** At the end of a path: how many entries the object or list there has. It is never the name of an argument. */
export const COUNT = '#'

/**
 * All of them. An argument that is missing fits nothing but `not`. Throws for a condition that is none of ours, and for a path
 * that cannot be resolved. Without `sense` paths are not looked at.
 */
export const fits = (
  conditions: ArgumentConditions,
  args: Record<string, unknown>,
  sense: PathSense | null,
  lean: Lean,
): boolean =>
  Object.entries(conditions).every(([name, condition]) => {
    const isPath = 'path' in innermost(condition) || isPathArgument(name, sense?.parameters ?? {})
    if (isPath && sense === null) return true
    const values = valuesAt(args, name, lean)
    if (values.length < 2) return fitsOne(condition, values[0], isPath ? sense : null, lean)
    if (isPath) return fitsOne(condition, values, sense, lean)
    const fitsAlone = (value: unknown) => fitsOne(condition, value, null, lean)
    return lean === 'wide' ? values.some(fitsAlone) : values.every(fitsAlone)
  })

const innermost = (condition: ArgumentCondition): ArgumentCondition =>
  'not' in condition ? innermost(condition.not) : condition

/** `sense`: of an argument that is a path. */
function fitsOne(condition: ArgumentCondition, value: unknown, sense: PathSense | null, lean: Lean): boolean {
  if ('equals' in condition) return equals(condition.equals, value, sense, lean)
  if ('oneOf' in condition) return condition.oneOf.some((one) => equals(one, value, sense, lean))
  if ('matches' in condition) return matches(condition.matches, value, sense, lean)
  if ('path' in condition) return sense !== null && pathFits(condition.path, value, sense, lean)
  if ('above' in condition) return typeof value === 'number' && value > condition.above
  if ('below' in condition) return typeof value === 'number' && value < condition.below
  // The opposite of what surely fits is what may not fit.
  if ('not' in condition) return !fitsOne(condition.not, value, sense, lean === 'wide' ? 'narrow' : 'wide')
  return unreachable(condition)
}

/** What allows, allows what is written; what asks or refuses also means the other ways to write it. */
function equals(expected: unknown, value: unknown, sense: PathSense | null, lean: Lean): boolean {
  if (value === expected) return true
  if (sense === null || lean === 'narrow' || typeof expected !== 'string' || isAddress(expected)) return false
  // A glob is not meant here.
  if (/[*?]/.test(expected) || (typeof value !== 'string' && !Array.isArray(value))) return false
  return pathFits(expected, value, sense, lean)
}

function matches(pattern: string, value: unknown, sense: PathSense | null, lean: Lean): boolean {
  if (sense !== null && !isAddress(pattern)) return pathFits(pattern, value, sense, lean)
  return typeof value === 'string' && textMatches(pattern, value)
}

const isAddress = (pattern: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(pattern)

/**
 * Only what the arguments themselves hold. One value, or several where a list is on the way: `moves.source` is the source of
 * every entry. An entry without it keeps a rule from allowing, and is nothing to ask about.
 */
function valuesAt(args: Record<string, unknown>, path: string, lean: Lean): unknown[] {
  // A name may have a dot in it; what lies deeper has precedence, so that an extra argument cannot stand in for it.
  const deep = path.split('.').reduce<unknown[]>(
    (from, name, i, names) => {
      return from.flatMap((value) => inside(value, name, i === names.length - 1))
    },
    [args],
  )
  if (deep.every((value) => value === undefined || value === null) && path !== COUNT && Object.hasOwn(args, path)) {
    return [args[path]]
  }
  return lean === 'wide' ? deep.filter((value) => value !== undefined) : deep
}

function inside(value: unknown, name: string, isLast: boolean): unknown[] {
  if (typeof value !== 'object' || value === null) return [undefined]
  if (name === COUNT && isLast) return [Object.keys(value).length]
  const own = Object.getOwnPropertyDescriptor(value, name)
  if (own?.enumerable) return [own.value]
  return Array.isArray(value) && !/^\d+$/.test(name) ? value.flatMap((one) => inside(one, name, isLast)) : [undefined]
}

/** An address is judged by where it leads too: `https://a.example/x/../y` is `https://a.example/y`. */
const textMatches = (pattern: string, text: string): boolean =>
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
