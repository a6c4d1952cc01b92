// The one reader of JSON Schemas, for tools, answers and agent files. It checks that the schema is one, resolves its references and
// prepares what `evaluate.ts` looks up for each value.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { describeValue } from '../describe-value.ts'
import type { SchemaBudget } from './budget.ts'
import { createLinearPattern, type LinearPattern } from './linear-pattern.ts'
import { broken, cut } from './problem.ts'
import { type Reading, readers } from './read-keywords.ts'
import { createReferences } from './references.ts'
import type { SchemaNode } from './schema-node.ts'

/** How many schemas may refer to one another for the same value. */
const MAX_IN_PLACE = 50

/** How many of the patterns that are not enforced are named. */
const MAX_NAMED = 5

export interface ReadOptions {
  budget: SchemaBudget
  /** Patterns in the syntax of another language are not enforced; otherwise they are a mistake. */
  foreignPatterns: boolean
  /** Gets every mistake, and what is returned is of no use after one. Null: the first mistake is thrown. */
  report: ((mistake: ServerError) => void) | null
  /** Sees every schema inside this one, and definitions that nothing refers to are read too. Null: they are not. */
  visit: ((schema: Record<string, unknown>, pointer: string) => void) | null
}

/**
 * Throws `config_invalid` for what is not a schema, is too large for the budget, refers to something outside of itself, or refers to
 * itself in a circle. `warnings` say in short sentences what is not enforced.
 */
export function readSchema(
  schema: unknown,
  { budget, foreignPatterns, report, visit }: ReadOptions,
): { root: SchemaNode; warnings: string[] } {
  budget.admit(schema)
  const patterns = createPatternReader(budget, foreignPatterns)
  const draft = isRecord(schema) && typeof schema.$schema === 'string' ? schema.$schema : ''
  const references = createReferences(schema, /draft-04/.test(draft))
  const legacy = /draft-0[3-7]/.test(draft)

  let isSound = true
  const refuse = (mistake: unknown): void => {
    isSound = false
    if (report === null || !(mistake instanceof ServerError)) throw mistake
    report(mistake)
  }

  const nodes = new Map<unknown, SchemaNode>()
  const open: { raw: Record<string, unknown>; node: SchemaNode; pointer: string }[] = []
  const nodeOf = (raw: unknown, pointer: string): SchemaNode => {
    if (raw === true) return {}
    if (raw === false) return { never: true }
    const known = nodes.get(raw)
    if (known !== undefined) return known
    const node: SchemaNode = {}
    if (isRecord(raw)) {
      nodes.set(raw, node)
      open.push({ raw, node, pointer })
    } else {
      refuse(broken(pointer, `expected a JSON Schema, found ${describeValue(raw)}. Write e.g. { type: string }`))
    }
    return node
  }
  const root = nodeOf(schema, '')
  const common = { nodeOf, patternOf: patterns.read, references, isWhole: visit !== null }
  // A list instead of recursion: references can make a chain of any length.
  for (const { raw, node, pointer } of open) {
    visit?.(raw, pointer)
    const reading: Reading = { ...common, raw }
    const ignoresOthers = legacy && raw.$ref !== undefined
    for (const [key, value] of Object.entries(raw)) {
      const read = readers.get(key)
      // Up to draft 7, what stands beside a reference has no meaning.
      if (value === undefined || read === undefined || (ignoresOthers && key !== '$ref' && key !== 'default')) continue
      try {
        read(node, value, `${pointer}/${key}`, reading)
      } catch (error) {
        refuse(error)
      }
    }
  }
  if (isSound) {
    try {
      refuseCircles(nodes.values())
    } catch (error) {
      refuse(error)
    }
  }
  return { root, warnings: patterns.warnings() }
}

function createPatternReader(budget: SchemaBudget, foreignPatterns: boolean) {
  const named: string[] = []
  let unnamed = 0
  const ignored = (source: string, pointer: string, why: string): null => {
    if (named.length < MAX_NAMED) {
      named.push(`the pattern ${JSON.stringify(cut(source, 100))} at ${cut(pointer, 200)} ${why} and is not enforced`)
    } else unnamed += 1
    return null
  }
  return {
    /** Null for a pattern that is not enforced. */
    read(source: string, pointer: string): LinearPattern | null {
      try {
        const pattern = createLinearPattern(source, budget)
        return pattern ?? ignored(source, pointer, 'looks around, refers back or takes too many steps')
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
        if (foreignPatterns) return ignored(source, pointer, 'is not a JavaScript regular expression')
        throw broken(pointer, notRegex(source, error))
      }
    },
    warnings: () => (unnamed > 0 ? [...named, `${unnamed} more patterns are not enforced`] : named),
  }
}

/** For a text that JavaScript does not take as a regular expression. */
export const notRegex = (source: string, error: SyntaxError): string =>
  `${describeValue(source)} is not a regular expression (${error.message.replace(/^.*: /s, '')}). Fix it.`

/** The schemas that apply to the same value as this one. */
function* inPlace(node: SchemaNode): Iterable<SchemaNode> {
  if (node.ref !== undefined) yield node.ref
  if (node.not !== undefined) yield node.not
  if (node.if !== undefined) yield node.if
  if (node.then !== undefined) yield node.then
  if (node.else !== undefined) yield node.else
  if (node.allOf !== undefined) yield* node.allOf
  if (node.anyOf !== undefined) yield* node.anyOf
  if (node.oneOf !== undefined) yield* node.oneOf
  if (node.dependentSchemas !== undefined) yield* node.dependentSchemas.values()
}

/** A schema that applies to a value only because it applies to that value has no meaning, and would be followed for ever. */
function refuseCircles(nodes: Iterable<SchemaNode>): void {
  const heights = new Map<SchemaNode, number>()
  const path = new Set<SchemaNode>()
  const height = (node: SchemaNode): number => {
    const known = heights.get(node)
    if (known !== undefined) return known
    if (path.has(node)) throw broken('', 'it refers to itself in a circle.')
    path.add(node)
    let highest = 0
    if (path.size <= MAX_IN_PLACE) for (const inner of inPlace(node)) highest = Math.max(highest, 1 + height(inner))
    path.delete(node)
    if (path.size + highest >= MAX_IN_PLACE)
      throw broken('', `it has more than ${MAX_IN_PLACE} schemas that refer to one another.`)
    heights.set(node, highest)
    return highest
  }
  for (const node of nodes) height(node)
}
