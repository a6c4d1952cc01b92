// Whether the arguments of a call fit the conditions of a rule or a grant. Types are compared strictly: "1" is not 1.

import type { ArgumentCondition, ArgumentConditions } from '../../domain/agent/approval-rule.ts'
import { globMatches } from '../../domain/text/glob.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { isPathArgument, type MatchMode, type PathContext, pathFits } from './path-conditions.ts'

/** As the last part of a path it stands for the number of entries of that object or list. It is never the name of an argument. */
export const COUNT = '#'

/**
 * Whether all conditions fit. A missing argument fits only `not`. Throws for an unknown condition, and for a path that cannot be
 * resolved. Without `context`, conditions on paths are skipped.
 */
export const fits = (
  conditions: ArgumentConditions,
  args: Record<string, unknown>,
  context: PathContext | null,
  mode: MatchMode,
): boolean =>
  Object.entries(conditions).every(([name, condition]) => {
    const isPath = 'path' in innermost(condition) || isPathArgument(name, context?.parameters ?? {})
    if (isPath && context === null) return true
    const values = valuesAt(args, name, mode)
    if (values.length < 2) return fitsOne(condition, values[0], isPath ? context : null, mode)
    if (isPath) return fitsOne(condition, values, context, mode)
    const fitsAlone = (value: unknown) => fitsOne(condition, value, null, mode)
    return mode === 'wide' ? values.some(fitsAlone) : values.every(fitsAlone)
  })

const innermost = (condition: ArgumentCondition): ArgumentCondition =>
  'not' in condition ? innermost(condition.not) : condition

/** `context` is null for an argument that is not a path. */
function fitsOne(condition: ArgumentCondition, value: unknown, context: PathContext | null, mode: MatchMode): boolean {
  if ('equals' in condition) return equals(condition.equals, value, context, mode)
  if ('oneOf' in condition) return condition.oneOf.some((one) => equals(one, value, context, mode))
  if ('matches' in condition) return matches(condition.matches, value, context, mode)
  if ('path' in condition) return context !== null && pathFits(condition.path, value, context, mode)
  if ('above' in condition) return typeof value === 'number' && value > condition.above
  if ('below' in condition) return typeof value === 'number' && value < condition.below
  // The opposite of "surely fits" is "may not fit", so the mode flips.
  if ('not' in condition) return !fitsOne(condition.not, value, context, mode === 'wide' ? 'narrow' : 'wide')
  return unreachable(condition)
}

/** A rule that allows means the path exactly as written. A rule that asks or refuses also means other ways to write it. */
function equals(expected: unknown, value: unknown, context: PathContext | null, mode: MatchMode): boolean {
  if (value === expected) return true
  if (context === null || mode === 'narrow' || typeof expected !== 'string' || isAddress(expected)) return false
  // `equals` compares text, so `*` and `?` are not wildcards here.
  if (/[*?]/.test(expected) || (typeof value !== 'string' && !Array.isArray(value))) return false
  return pathFits(expected, value, context, mode)
}

function matches(pattern: string, value: unknown, context: PathContext | null, mode: MatchMode): boolean {
  if (context !== null && !isAddress(pattern)) return pathFits(pattern, value, context, mode)
  return typeof value === 'string' && textMatches(pattern, value)
}

const isAddress = (pattern: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(pattern)

/**
 * The values at a path; several if there is a list on the way: `moves.source` is the source of every entry. Inherited
 * properties do not count. An entry without a value keeps a rule from allowing, but it is not a reason to ask.
 */
function valuesAt(args: Record<string, unknown>, path: string, mode: MatchMode): unknown[] {
  // A name may contain a dot. The nested value goes first, so that an extra argument cannot pretend to be it.
  const deep = path.split('.').reduce<unknown[]>(
    (from, name, i, names) => {
      return from.flatMap((value) => inside(value, name, i === names.length - 1))
    },
    [args],
  )
  if (deep.every((value) => value === undefined || value === null) && path !== COUNT && Object.hasOwn(args, path)) {
    return [args[path]]
  }
  return mode === 'wide' ? deep.filter((value) => value !== undefined) : deep
}

function inside(value: unknown, name: string, isLast: boolean): unknown[] {
  if (typeof value !== 'object' || value === null) return [undefined]
  if (name === COUNT && isLast) return [Object.keys(value).length]
  const own = Object.getOwnPropertyDescriptor(value, name)
  if (own?.enumerable) return [own.value]
  return Array.isArray(value) && !/^\d+$/.test(name) ? value.flatMap((one) => inside(one, name, isLast)) : [undefined]
}

/** An address is normalized first: `https://a.example/x/../y` is `https://a.example/y`. */
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
