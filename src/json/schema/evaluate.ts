// Checks a value against a schema that `read-schema.ts` prepared. Every step is counted, so that the check ends.

import { isRecord } from '../../domain/is-record.ts'
import { canonicalJson } from '../digest.ts'
import { checkNumber, checkText } from './check-scalar.ts'
import { type Meter, weigh } from './meter.ts'
import { cut, escapeKey, listed, MAX_PROBLEMS, type Problem, preview, sentence } from './problem.ts'
import { isOfType, type SchemaNode } from './schema-node.ts'

// What these cost. A step of a pattern, or looking up a name, costs 1.
const SCHEMA_WORK = 5
const PROBLEM_WORK = 20
/** How long the text may be when a value fits none of several forms. */
const MAX_FORM_TEXT = 500

/** Which names and items the fitting schemas have described, for `unevaluatedProperties` and `unevaluatedItems`. */
interface Seen {
  keys: Set<string>
  items: Set<number>
}

/** For `enum`, `const` and `uniqueItems`. */
function canonical(value: unknown, meter: Meter): string {
  weigh(value, meter)
  return canonicalJson(value)
}

/** Says whether the value fits, and adds what does not fit to `problems`. */
export function evaluate(
  node: SchemaNode,
  value: unknown,
  path: string,
  problems: Problem[],
  seen: Seen | null,
  meter: Meter,
): boolean {
  meter.spend(SCHEMA_WORK)
  if (problems.length >= MAX_PROBLEMS) return false
  const before = problems.length
  const say = (text: string, more: Partial<Problem> = {}) => {
    meter.spend(PROBLEM_WORK)
    problems.push({ path, text, ...more })
  }

  if (node.never) say('is not allowed; leave it out')
  if (node.types !== undefined && !node.types.some((type) => isOfType(value, type))) {
    say(`must be ${node.types.join(' or ')}, found ${preview(value)}`, { types: node.types })
    // The rest of the schema is about a value of that type.
    return false
  }
  for (const allowed of node.allowed ?? []) {
    if (allowed.has(canonical(value, meter))) continue
    say(`must be ${allowed.size === 1 ? '' : 'one of '}${listed(allowed)}, found ${preview(value)}`)
  }
  const own: Seen | null =
    seen ?? (node.unevaluatedProperties || node.unevaluatedItems ? { keys: new Set(), items: new Set() } : null)
  meter.nested(() => {
    applyInPlace(node, value, path, problems, own, meter)
    if (typeof value === 'string') checkText(node, value, say, meter)
    else if (typeof value === 'number') checkNumber(node, value, say)
    else if (Array.isArray(value)) checkItems(node, value, path, problems, own, meter)
    else if (isRecord(value)) checkProperties(node, value, path, problems, own, meter)
  })
  return problems.length === before
}

function applyInPlace(
  node: SchemaNode,
  value: unknown,
  path: string,
  problems: Problem[],
  seen: Seen | null,
  meter: Meter,
): void {
  const inner = (other: SchemaNode, into: Problem[]): boolean => {
    const looked: Seen | null = seen && { keys: new Set(), items: new Set() }
    const fits = evaluate(other, value, path, into, looked, meter)
    if (fits && seen !== null && looked !== null) {
      meter.spend(looked.keys.size + looked.items.size)
      for (const key of looked.keys) seen.keys.add(key)
      for (const item of looked.items) seen.items.add(item)
    }
    return fits
  }
  if (node.ref !== undefined) inner(node.ref, problems)
  for (const other of node.allOf ?? []) inner(other, problems)
  /** How many of the forms fit. Says what is wrong if none does. */
  const countFitting = (forms: readonly SchemaNode[]): number => {
    const failed = forms.flatMap((form) => {
      const found: Problem[] = []
      return inner(form, found) ? [] : [found]
    })
    if (failed.length === forms.length) problems.push(...nearest(failed, path, value))
    return forms.length - failed.length
  }
  if (node.anyOf !== undefined) countFitting(node.anyOf)
  if (node.oneOf !== undefined) {
    const fitting = countFitting(node.oneOf)
    if (fitting > 1)
      problems.push({ path, text: `must fit exactly one of ${node.oneOf.length} forms, and fits ${fitting}` })
  }
  if (node.not !== undefined && evaluate(node.not, value, path, [], null, meter)) {
    problems.push({ path, text: `may not be ${preview(value)}` })
  }
  if (node.if !== undefined) {
    const branch = inner(node.if, []) ? node.then : node.else
    if (branch !== undefined) inner(branch, problems)
  }
  if (node.dependentSchemas !== undefined && isRecord(value)) {
    meter.spend(2 * node.dependentSchemas.size)
    for (const [key, other] of node.dependentSchemas) if (Object.hasOwn(value, key)) inner(other, problems)
  }
}

/** What to say when a value fits none of several forms. */
function nearest(failed: readonly Problem[][], path: string, value: unknown): Problem[] {
  const wrongType = (found: Problem[]) => found.find((one) => one.path === path && one.types !== undefined)
  const types = failed.map((found) => wrongType(found)?.types ?? null)
  if (failed.length > 0 && !types.includes(null)) {
    const all = [...new Set(types.flatMap((some) => some ?? []))]
    return [{ path, text: `must be ${all.join(' or ')}, found ${preview(value)}`, types: all }]
  }
  const close = failed.filter((found) => wrongType(found) === undefined).sort((a, b) => a.length - b.length)
  const [first] = close
  if (first === undefined) return [{ path, text: `may not be ${preview(value)}` }]
  if (close.length === 1) return first
  return [
    {
      path,
      text: cut(
        `fits none of ${failed.length} forms; for the nearest, ${first.slice(0, 3).map(sentence).join(' and ')}`,
        MAX_FORM_TEXT,
      ),
    },
  ]
}

function checkItems(
  node: SchemaNode,
  value: unknown[],
  path: string,
  problems: Problem[],
  seen: Seen | null,
  meter: Meter,
): void {
  const say = (text: string) => {
    meter.spend(PROBLEM_WORK)
    problems.push({ path, text })
  }
  if (value.length < (node.minItems ?? 0)) say(`must have at least ${node.minItems} items, found ${value.length}`)
  if (value.length > (node.maxItems ?? value.length))
    say(`must have at most ${node.maxItems} items, found ${value.length}`)
  const described = node.items === undefined ? Math.min(node.prefixItems?.length ?? 0, value.length) : value.length
  meter.spend(described)
  for (let i = 0; i < described && problems.length < MAX_PROBLEMS; i += 1) {
    const inner = node.prefixItems?.[i] ?? node.items
    if (inner === undefined) continue
    seen?.items.add(i)
    evaluate(inner, value[i], `${path}/${i}`, problems, null, meter)
  }
  if (node.contains !== undefined) {
    const { contains, minContains = 1, maxContains } = node
    const fitting = value.filter((item, i) => {
      const fits = evaluate(contains, item, `${path}/${i}`, [], null, meter)
      if (fits) seen?.items.add(i)
      return fits
    }).length
    if (fitting < minContains) say(`must have at least ${minContains} items of the asked kind, found ${fitting}`)
    if (maxContains !== undefined && fitting > maxContains) {
      say(`must have at most ${maxContains} items of that kind, found ${fitting}`)
    }
  }
  if (node.uniqueItems && new Set(value.map((item) => canonical(item, meter))).size < value.length)
    say('must not have the same item twice')
  if (node.unevaluatedItems !== undefined && seen !== null) {
    meter.spend(value.length)
    for (const [i, item] of value.entries()) {
      if (seen.items.has(i)) continue
      seen.items.add(i)
      evaluate(node.unevaluatedItems, item, `${path}/${i}`, problems, null, meter)
    }
  }
}

/** An object may have thousands of names and be checked against thousands of schemas that do not look at them. */
const looksAtKeys = (node: SchemaNode): boolean =>
  node.properties !== undefined ||
  node.patternProperties !== undefined ||
  node.additionalProperties !== undefined ||
  node.unevaluatedProperties !== undefined ||
  node.propertyNames !== undefined ||
  node.minProperties !== undefined ||
  node.maxProperties !== undefined

function checkProperties(
  node: SchemaNode,
  value: Record<string, unknown>,
  path: string,
  problems: Problem[],
  seen: Seen | null,
  meter: Meter,
): void {
  const say = (text: string, key?: string) => {
    meter.spend(PROBLEM_WORK)
    problems.push({ path: key === undefined ? path : `${path}/${escapeKey(key)}`, text })
  }
  const keys = looksAtKeys(node) ? Object.keys(value) : []
  meter.spend(2 * keys.length + (node.required?.length ?? 0) + 2 * (node.dependentRequired?.size ?? 0))
  for (const key of node.required ?? []) {
    if (Object.hasOwn(value, key)) continue
    say('is required', key)
    if (problems.length >= MAX_PROBLEMS) return
  }
  for (const [key, needed] of node.dependentRequired ?? []) {
    if (!Object.hasOwn(value, key)) continue
    meter.spend(needed.length)
    for (const other of needed)
      if (!Object.hasOwn(value, other)) say(`is required where there is ${cut(key, 60)}`, other)
  }
  if (keys.length < (node.minProperties ?? 0))
    say(`must have at least ${node.minProperties} properties, found ${keys.length}`)
  if (keys.length > (node.maxProperties ?? keys.length)) {
    say(`must have at most ${node.maxProperties} properties, found ${keys.length}`)
  }
  for (const key of keys) {
    if (problems.length >= MAX_PROBLEMS) return
    const inside = (inner: SchemaNode) => {
      seen?.keys.add(key)
      evaluate(inner, value[key], `${path}/${escapeKey(key)}`, problems, null, meter)
    }
    if (node.propertyNames !== undefined) {
      const found: Problem[] = []
      if (!evaluate(node.propertyNames, key, '', found, null, meter)) {
        say(`is not a name that can be used: it ${found[0]?.text ?? 'is not allowed'}`, key)
      }
    }
    const named = node.properties?.get(key)
    let known = named !== undefined
    if (named !== undefined) inside(named)
    meter.spend(node.patternProperties?.length ?? 0)
    for (const { pattern, node: inner } of node.patternProperties ?? []) {
      // A pattern that cannot be followed may match this name, so the name does not count as unknown.
      if (pattern === null) known = true
      else if (pattern.foundIn(key, meter.spend)) {
        known = true
        inside(inner)
      }
    }
    if (known || node.additionalProperties === undefined) continue
    if (node.additionalProperties.never) {
      const names = listed(node.properties?.keys() ?? [])
      say(names === '' ? 'is not known; leave it out' : `is not known; there is ${names}`, key)
    } else inside(node.additionalProperties)
  }
  if (node.unevaluatedProperties !== undefined && seen !== null) {
    meter.spend(keys.length)
    for (const key of keys) {
      if (seen.keys.has(key)) continue
      seen.keys.add(key)
      evaluate(node.unevaluatedProperties, value[key], `${path}/${escapeKey(key)}`, problems, null, meter)
    }
  }
}
