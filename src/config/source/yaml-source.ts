// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// A YAML file as data that still knows the place of each value.

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Pair,
  parseDocument,
  Scalar,
  YAMLMap,
} from 'yaml'
import type { ConfigIssue } from '../config-error.ts'
import type { Path } from './json-schema-node.ts'

export interface YamlSource {
  readonly file: string
  /** Calls `change` for every text value and puts the result in its place. */
  mapText(change: (text: string, path: Path) => unknown): void
  /** The data, which is a map at the top level. */
  value(): Record<string, unknown>
  /** An issue at a value or a key, or at the closest place that exists. */
  issueAt(path: Path, part: 'key' | 'value', message: string): ConfigIssue
}

export type ParsedYaml = { source: YamlSource; issues: [] } | { source: null; issues: ConfigIssue[] }

/**
 * `starter` is what to write into an empty file; null if an empty file is allowed. With `listKey`, a list at the top is read as if it stood
 * under this key.
 */
export function parseYaml(
  file: string,
  text: string,
  starter: string | null,
  listKey: string | null = null,
): ParsedYaml {
  const lines = new LineCounter()
  const document: Document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const issue = (offset: number, path: string, message: string): ConfigIssue => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1), path, message }
  }

  // Only a document without errors is converted to data: a broken one could take forever.
  const broken = syntaxMistakes(document, text).map((error) => issue(error.offset, '', error.message))
  if (broken.length > 0) return { source: null, issues: broken }

  if (starter === null && isEmpty(document.contents)) document.contents = document.createNode({})
  if (listKey !== null && isSeq(document.contents)) document.contents = underKey(listKey, document.contents)
  const root: unknown = document.contents
  if (isEmpty(root)) {
    return { source: null, issues: [issue(0, '', `the file is empty. Write e.g. ${starter}`)] }
  }
  if (!isMap(root)) {
    const found = isSeq(root) ? 'a list' : 'a single value'
    const expected = listKey === null ? 'keys with values' : 'a list'
    const message = `expected ${expected} at the top, found ${found}.${starter === null ? '' : ` Write e.g. ${starter}`}`
    return { source: null, issues: [issue(startOf(root), '', message)] }
  }

  const texts: { node: Scalar<string>; path: Path }[] = []
  const found: ConfigIssue[] = []
  walk(root, [], [], document, {
    text: (node, path) => texts.push({ node, path }),
    problem: (offset, path, message) => found.push(issue(offset, pathText(path), message)),
  })
  if (found.length > 0) return { source: null, issues: found }
  try {
    document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch {
    const message = 'the aliases (*name) in this file expand to too many values. Write the values out.'
    return { source: null, issues: [issue(Math.max(0, text.search(/\*\w/)), '', message)] }
  }

  const source: YamlSource = {
    file,
    mapText(change) {
      for (const { node, path } of texts) {
        const target: Scalar = node
        target.value = change(node.value, path)
      }
    },
    value: () => document.toJS({ maxAliasCount: MAX_ALIASES }),
    issueAt: (path, part, message) => issue(offsetOf(document, root, path, part), pathText(path), message),
  }
  return { source, issues: [] }
}

function underKey(name: string, list: Node): YAMLMap.Parsed {
  const key = new Scalar(name)
  const map = new YAMLMap()
  map.range = list.range ?? null
  key.range = list.range ?? null
  map.items.push(new Pair(key, list))
  // It has a place in the text, like what was parsed.
  return map as YAMLMap.Parsed
}

const MAX_ALIASES = 100
const MAX_SYNTAX_ERRORS = 10

/** `tools[0].name` */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? String(step) : `${text}.${String(step)}`
  }, '')
}

interface Visitor {
  text(node: Scalar<string>, path: Path): void
  problem(offset: number, path: Path, message: string): void
}

function walk(node: unknown, path: Path, above: readonly unknown[], document: Document, visitor: Visitor): void {
  const inside = [...above, node]
  if (isMap(node)) {
    for (const pair of node.items) {
      if (!isScalar(pair.key)) {
        visitor.problem(startOf(pair.key), path, 'a key must be text. Write key: value')
      } else {
        walk(pair.value, [...path, String(pair.key.value)], inside, document, visitor)
      }
    }
  } else if (isSeq(node)) {
    node.items.forEach((item, index) => void walk(item, [...path, index], inside, document, visitor))
  } else if (isAlias(node)) {
    const target = node.resolve(document)
    if (target === undefined) {
      const message = `the alias *${node.source} has no anchor &${node.source} before it. Add the anchor, or write the value out.`
      visitor.problem(startOf(node), path, message)
    } else if (above.includes(target)) {
      visitor.problem(startOf(node), path, `the alias *${node.source} contains itself. Write the value out.`)
    }
  } else if (isText(node)) {
    visitor.text(node, path)
  }
}

const isEmpty = (node: unknown): boolean => node === null || (isScalar(node) && node.value === null)

const isText = (node: unknown): node is Scalar<string> => isScalar(node) && typeof node.value === 'string'

const startOf = (node: unknown): number => (isNodeWithRange(node) ? node.range[0] : 0)

const isNodeWithRange = (node: unknown): node is Node & { range: [number, number, number] } =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)

function offsetOf(document: Document, root: Node, path: Path, part: 'key' | 'value'): number {
  let node: unknown = root
  let offset = startOf(root)
  for (const [index, step] of path.entries()) {
    const here = isAlias(node) ? node.resolve(document) : node
    const isLast = index === path.length - 1
    if (isMap(here)) {
      const pair = here.items.find((item) => isScalar(item.key) && String(item.key.value) === step)
      if (pair === undefined) return offset
      // The empty value of a key would be placed after the colon, where there is nothing to see.
      const empty = isScalar(pair.value) && pair.value.value === null && pair.value.source === ''
      const target = (isLast && part === 'key') || empty || pair.value === null ? pair.key : pair.value
      offset = startOf(isLast ? target : pair.key)
      node = pair.value
    } else if (isSeq(here) && typeof step === 'number') {
      node = here.items[step]
      if (node === undefined) return offset
      offset = startOf(node)
    } else {
      return offset
    }
  }
  return offset
}

interface SyntaxMistake {
  offset: number
  message: string
}

function syntaxMistakes(document: Document, text: string): SyntaxMistake[] {
  const errors: SyntaxMistake[] = []
  const lines = new Set<number>()
  for (const error of [...document.errors, ...document.warnings]) {
    const offset = error.pos[0]
    // One mistake often causes several errors; the first one on a line is the one to fix.
    const line = text.lastIndexOf('\n', offset - 1)
    if (lines.has(line)) continue
    lines.add(line)
    const isVariable = text.startsWith('${', offset - 1)
    const message = isVariable ? UNQUOTED : syntaxMessage(error.code, error.message, text.slice(...error.pos))
    errors.push({ offset, message })
    // Errors after these are only consequences.
    if (errors.length === MAX_SYNTAX_ERRORS || isVariable || error.code === 'RESOURCE_EXHAUSTION') break
  }
  return errors
}

const UNQUOTED = 'inside { } and [ ] a variable needs quotes. Write "${NAME}"'

function syntaxMessage(code: string, message: string, found: string): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key appears twice. Keep one of them.'
    case 'TAB_AS_INDENT':
      return 'YAML does not allow tabs for indentation. Use spaces.'
    case 'MULTIPLE_DOCS':
      return 'a second document starts here (---). Keep one document per file.'
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY':
      return 'this value contains ": ", or a line near it has the wrong indentation. Put the value in quotes, or align the keys.'
    case 'BAD_SCALAR_START':
      return `a value cannot start with ${found.slice(0, 1)} here. Put it in quotes.`
    case 'RESOURCE_EXHAUSTION':
      return 'the file is nested too deeply.'
    case 'TAG_RESOLVE_FAILED':
      return `${message}. Remove the tag.`
    default:
      return `this is not valid YAML: ${message}. Check the indentation and the quotes around here.`
  }
}
