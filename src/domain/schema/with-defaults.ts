import { isObject, type Json } from './json.ts'
import { type Meter, Unchecked } from './meter.ts'
import { escapeKey, named } from './problem.ts'
import type { SchemaNode } from './read-schema.ts'

const MAX_DEPTH = 100

/** The schemas that hold for a value whatever it is. */
function certain(nodes: readonly SchemaNode[]): Set<SchemaNode> {
  const all = new Set(nodes)
  for (const node of all) {
    if (node.ref !== undefined) all.add(node.ref)
    for (const other of node.allOf ?? []) all.add(other)
  }
  return all
}

/**
 * A copy of the value in which properties that are absent have the default of their schema. Throws `Unchecked` for what is
 * nested too deeply, is no JSON, or has a name that is dangerous to copy.
 */
export function withDefaults(
  nodes: readonly SchemaNode[],
  value: unknown,
  path: string,
  depth: number,
  meter: Meter,
): unknown {
  if (depth > MAX_DEPTH) throw new Unchecked(`the value is nested more than ${MAX_DEPTH} levels deep; make it flatter`)
  const all = [...certain(nodes)]
  meter.spend(2 + all.length)
  if (Array.isArray(value)) {
    return value.map((item, i) => {
      const inner = all.flatMap((node) => node.prefixItems?.[i] ?? node.items ?? [])
      return withDefaults(inner, item, `${path}/${i}`, depth + 1, meter)
    })
  }
  if (!isObject(value)) {
    if (
      typeof value === 'number' ? Number.isFinite(value) : /^(string|boolean)$/.test(typeof value) || value === null
    ) {
      return value
    }
    throw new Unchecked(`${named(path)} is no JSON value`)
  }
  const copy: Json = {}
  for (const [key, item] of Object.entries(value)) {
    // Whoever copies the arguments key by key would change the prototype of the copy.
    if (key === '__proto__') throw new Unchecked(`${path}/__proto__ is not allowed as a name`)
    if (item === undefined) continue
    const inner = all.flatMap((node) => node.properties?.get(key) ?? node.additionalProperties ?? [])
    copy[key] = withDefaults(inner, item, `${path}/${escapeKey(key)}`, depth + 1, meter)
  }
  for (const node of all) {
    meter.spend(node.properties?.size ?? 0)
    for (const [key, inner] of node.properties ?? []) {
      if (Object.hasOwn(copy, key) || key === '__proto__') continue
      const given = [...certain([inner])].find((one) => one.default !== undefined)?.default
      if (given === undefined) continue
      copy[key] = withDefaults([inner], given.value, `${path}/${escapeKey(key)}`, depth + 1, meter)
    }
  }
  return copy
}
