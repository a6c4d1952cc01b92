import { isRecord } from '../../domain/is-record.ts'
import { evaluate } from './evaluate.ts'
import { type Meter, Unchecked, weigh } from './meter.ts'
import { escapeKey, named } from './problem.ts'
import type { SchemaNode } from './schema-node.ts'

const MAX_DEPTH = 100

// What copying costs. Looking up a name costs 1.
const VALUE_WORK = 4
const NEST_WORK = 10
const NAME_WORK = 4

/** The schemas that apply to the value whatever it is. */
function certain(nodes: readonly SchemaNode[], meter: Meter): Set<SchemaNode> {
  const all = new Set(nodes)
  for (const node of all) {
    meter.spend(1 + (node.allOf?.length ?? 0))
    if (node.ref !== undefined) all.add(node.ref)
    for (const other of node.allOf ?? []) all.add(other)
  }
  return all
}

function defaultOf(node: SchemaNode, meter: Meter): SchemaNode['default'] {
  for (const one of certain([node], meter)) if (one.default !== undefined) return one.default
  return undefined
}

/**
 * A copy of the value in which absent properties have the default of their schema, if the default fits the schema. A second time changes
 * nothing, because approvals are bound to the result. Throws `Unchecked` for what is nested too deeply, is not JSON, or has a name that is
 * dangerous to copy.
 */
export function withDefaults(
  nodes: readonly SchemaNode[],
  value: unknown,
  path: string,
  depth: number,
  meter: Meter,
): unknown {
  if (depth > MAX_DEPTH) throw new Unchecked(`the value is nested more than ${MAX_DEPTH} levels deep; make it flatter`)
  meter.spend(VALUE_WORK)
  const all = certain(nodes, meter)
  if (Array.isArray(value)) {
    meter.spend(NEST_WORK)
    const ofItems = [...all].filter((node) => node.items !== undefined || node.prefixItems !== undefined)
    return value.map((item, i) => {
      meter.spend(3 * ofItems.length)
      const inner = ofItems.map((node) => node.prefixItems?.[i] ?? node.items).filter((node) => node !== undefined)
      return withDefaults(inner, item, `${path}/${i}`, depth + 1, meter)
    })
  }
  if (!isRecord(value)) {
    const isJson =
      typeof value === 'number'
        ? Number.isFinite(value)
        : typeof value === 'string' || typeof value === 'boolean' || value === null
    if (isJson) return value
    throw new Unchecked(`${named(path)} is not a JSON value`)
  }
  meter.spend(NEST_WORK)
  const copy: Record<string, unknown> = {}
  const ofNames = [...all].filter((node) => node.properties !== undefined || node.additionalProperties !== undefined)
  const schemasOf = (key: string): SchemaNode[] =>
    ofNames.map((node) => node.properties?.get(key) ?? node.additionalProperties).filter((node) => node !== undefined)
  for (const [key, item] of Object.entries(value)) {
    meter.spend(NAME_WORK + 3 * ofNames.length)
    // Copying the arguments key by key would change the prototype of the copy.
    if (key === '__proto__') throw new Unchecked(`${path}/__proto__ is not allowed as a name`)
    if (item === undefined) continue
    copy[key] = withDefaults(schemasOf(key), item, `${path}/${escapeKey(key)}`, depth + 1, meter)
  }
  for (const node of ofNames) {
    meter.spend(node.properties?.size ?? 0)
    for (const [key, inner] of node.properties ?? []) {
      if (Object.hasOwn(copy, key) || key === '__proto__') continue
      const given = defaultOf(inner, meter)
      if (given === undefined) continue
      meter.spend(NAME_WORK + 3 * ofNames.length)
      const filled = withDefaults(schemasOf(key), given.value, `${path}/${escapeKey(key)}`, depth + 1, meter)
      // A long default takes no memory here, however often it is filled in, but it does when the arguments become JSON.
      weigh(filled, meter)
      // Tools written in Python say `default: null` for a text. That is not the caller's fault.
      if (evaluate(inner, filled, '', [], null, meter)) copy[key] = filled
    }
  }
  return copy
}
