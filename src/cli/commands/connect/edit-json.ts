// Changes single values of a JSON file and leaves every other character as it is: comments, order, line breaks. Taking a value out
// again gives back the text from before.

import {
  findNodeAtLocation,
  getNodeValue,
  type JSONPath,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { type CliError, cannotCreate } from '../../cli-error.ts'

export interface JsonEditor {
  get(path: JSONPath): unknown
  /** Creates the objects around it. */
  set(path: readonly string[], value: unknown): void
  /** Adds to the end of a list, and creates the list. */
  append(path: readonly string[], value: unknown): void
  /** Also removes the objects and lists around it that are empty then. */
  remove(path: JSONPath): void
}

/** `name` is for the error: throws `CliError` if the text is not a JSON object. */
export function editJson(text: string | null, name: string, edit: (json: JsonEditor) => void): string {
  let current = text === null || text.trim() === '' ? '{}\n' : text
  const style = styleOf(current)
  const root = (): Node => parsed(current, name)
  const find = (path: JSONPath): Node | undefined => findNodeAtLocation(root(), path)

  function set(path: readonly string[], value: unknown): void {
    const known = find([...path])
    if (known !== undefined) {
      const { parent } = known
      const shown =
        parent !== undefined && isOneLine(parent, current)
          ? JSON.stringify(value)
          : pretty(value, indentAt(current, known), style)
      current = replaced(current, known.offset, known.offset + known.length, shown)
      return
    }
    const depth = deepest(path, find)
    const container = find(path.slice(0, depth))
    const [key = '', ...inner] = path.slice(depth)
    if (container?.type !== 'object') throw notUnderstood(name, `${path.slice(0, depth).join('.')} is not an object`)
    const nested = inner.reduceRight<unknown>((inside, one) => ({ [one]: inside }), value)
    current = inserted(current, container, nested, key, style)
  }

  root()
  edit({
    get(path) {
      const node = find(path)
      return node === undefined ? undefined : getNodeValue(node)
    },
    set,
    append(path, value) {
      const list = find([...path])
      if (list === undefined) set(path, [value])
      else if (list.type === 'array') current = inserted(current, list, value, null, style)
      else throw notUnderstood(name, `${path.join('.')} is not a list`)
    },
    remove(path) {
      for (let at = path; at.length > 0; at = at.slice(0, -1)) {
        const node = find(at)
        if (node === undefined || (at !== path && (node.children ?? [node]).length > 0)) continue
        current = withoutNode(current, node.parent?.type === 'property' ? node.parent : node)
      }
    },
  })
  return current
}

/** The same for taking something out. Null: nothing is left but an empty object. */
export function trimJson(text: string, name: string, edit: (json: JsonEditor) => void): string | null {
  const rest = editJson(text, name, edit)
  return /^\s*\{\s*\}\s*$/.test(rest) ? null : rest
}

interface JsonStyle {
  /** One level of indentation. */
  unit: string
  eol: string
}

function styleOf(text: string): JsonStyle {
  return { unit: /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ', eol: text.includes('\r\n') ? '\r\n' : '\n' }
}

/** How many keys of the path exist. */
function deepest(path: readonly string[], find: (path: JSONPath) => Node | undefined): number {
  let depth = 0
  while (depth < path.length && find(path.slice(0, depth + 1)) !== undefined) depth += 1
  return depth
}

/** With a key into an object, without one into a list. */
function inserted(text: string, container: Node, value: unknown, key: string | null, style: JsonStyle): string {
  const [open, close] = [container.offset + 1, container.offset + container.length - 1]
  const outer = indentAt(text, container)
  const indent = outer + style.unit
  const label = key === null ? '' : `${JSON.stringify(key)}: `
  const last = container.children?.at(-1)
  const line = `${style.eol}${indent}${label}${pretty(value, indent, style)}`
  if (last === undefined) {
    const inside = text.slice(open, close).trimEnd()
    return replaced(text, open, close, `${inside}${line}${style.eol}${outer}`)
  }
  const end = last.offset + last.length
  if (isOneLine(container, text)) return replaced(text, end, end, `, ${label}${JSON.stringify(value)}`)
  // A comment behind the last value stays with it.
  const [comment = ''] = /^,?[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/[ \t]*(?=\r?\n))/.exec(text.slice(end, close)) ?? []
  const hasComma = /^\s*,/.test(text.slice(end, close))
  return replaced(text, end, end + comment.length, `${hasComma ? '' : ','}${comment}${line}`)
}

/** Takes out a value of a list or a property of an object, with its comma. */
function withoutNode(text: string, node: Node): string {
  const siblings = node.parent?.children ?? []
  const at = siblings.indexOf(node)
  const [before, after] = [siblings[at - 1], siblings[at + 1]]
  const end = node.offset + node.length
  if (before !== undefined) {
    const from = before.offset + before.length
    const hasCommaAfter = /^\s*,/.test(text.slice(end))
    const between = text.slice(from, node.offset)
    return replaced(
      text,
      from,
      end,
      (hasCommaAfter && after === undefined ? between : between.replace(',', '')).trimEnd().replace(/,$/, ''),
    )
  }
  if (after !== undefined) return replaced(text, node.offset, after.offset, '')
  const { offset, length } = node.parent ?? node
  const rest = text.slice(offset + 1, node.offset) + text.slice(end, offset + length - 1).replace(/^\s*,/, '')
  return replaced(text, offset + 1, offset + length - 1, rest.trim() === '' ? '' : rest)
}

const replaced = (text: string, from: number, to: number, by: string): string =>
  text.slice(0, from) + by + text.slice(to)

const isOneLine = ({ offset, length }: Node, text: string): boolean =>
  length > 2 && !text.slice(offset, offset + length).includes('\n')

const indentAt = (text: string, { offset }: Node): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? ''

const pretty = (value: unknown, indent: string, { unit, eol }: JsonStyle): string =>
  JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`)

function parsed(text: string, name: string): Node {
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first !== undefined) {
    const line = text.slice(0, first.offset).split('\n').length
    throw notUnderstood(name, `line ${line}: ${printParseErrorCode(first.error)}`)
  }
  if (tree?.type !== 'object') throw notUnderstood(name, 'not an object')
  return tree
}

const notUnderstood = (name: string, why: string): CliError =>
  cannotCreate(`${name} is not a config file that can be changed (${why}).`, [
    'Nothing was changed. Fix the file, or do it by hand: quarterdeck connect print',
  ])
