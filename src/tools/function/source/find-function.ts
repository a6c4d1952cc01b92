// Where in a module's tokens the function behind an export is written.

import { keyOf } from './read-literal.ts'
import type { Token } from './tokenize.ts'
import { Unreadable } from './unreadable.ts'

export interface FoundFunction {
  /** The `(` of its parameters, or the one name of `name => …`. */
  head: number
  /** The comment that belongs to it. */
  doc: string | null
}

interface Declaration {
  /** Where its value begins. */
  at: number
  doc: string | null
}

/** The names that a module's top level gives to values, and those that it gives away. */
interface TopLevel {
  declared: Map<string, Declaration>
  /** Exported name -> declaration, or the local name that stands for it. */
  exported: Map<string, Declaration | string>
}

/** The member of an exported object that is the function. */
export const MEMBERS = ['run', 'execute'] as const

/** Throws `Unreadable` when the export is made in a way that does not show. */
export function findFunction(tokens: readonly Token[], exportName: string): FoundFunction {
  const top = readTopLevel(tokens)
  const exported = top.exported.get(exportName)
  const declaration = typeof exported === 'string' ? top.declared.get(exported) : exported
  if (exported === undefined) {
    const found = commonJsExport(tokens, top, exportName)
    if (found !== null) return found
    throw new Unreadable(0, `the export ${exportName} is not written in this file`)
  }
  if (declaration === undefined) throw new Unreadable(0, `the export ${exportName} comes from another file`)
  return callable(tokens, top, declaration, [])
}

function readTopLevel(tokens: readonly Token[]): TopLevel {
  const top: TopLevel = { declared: new Map(), exported: new Map() }
  for (let at = 0; at < tokens.length; at = next(tokens, at)) {
    const token = tokens[at]
    if (token?.kind !== 'name' || !beginsStatement(tokens, at)) continue
    const isExport = token.text === 'export'
    const start = isExport ? at + 1 : at
    if (isExport && textAt(tokens, start) === '{') readExportList(tokens, start, top)
    else if (isExport && textAt(tokens, start) === 'default') readDefault(tokens, start + 1, token.doc, top)
    else readDeclarations(tokens, start, token.doc, isExport, top)
  }
  return top
}

/** The following token, behind the bracket's end where this one opens one. */
function next(tokens: readonly Token[], at: number): number {
  const pair = tokens[at]?.pair ?? -1
  return (pair > at ? pair : at) + 1
}

/** On the top level. A line break is enough where the line before it is finished. */
function beginsStatement(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1]
  if (before === undefined || before.text === ';' || before.text === '}') return true
  if (['export', 'const', 'let', 'var'].includes(textAt(tokens, at))) return before.text !== '.'
  const isFinished = before.kind !== 'punctuation' || [')', ']', '>', '!', '++', '--'].includes(before.text)
  return isFinished && tokens[at]?.newline === true
}

/** `export { a, b as c }`, also `… from './other.ts'`, whose names lead nowhere in this file. */
function readExportList(tokens: readonly Token[], open: number, top: TopLevel): void {
  const close = tokens[open]?.pair ?? open
  const isForeign = textAt(tokens, close + 1) === 'from'
  for (let at = open + 1; at < close; at += 1) {
    const local = textAt(tokens, at)
    const isRenamed = textAt(tokens, at + 1) === 'as'
    const name = isRenamed ? keyOf(tokens[at + 2]) : local
    // No declaration can have this name.
    if (name !== null) top.exported.set(name, isForeign ? '' : local)
    at += isRenamed ? 3 : 1
  }
}

function readDefault(tokens: readonly Token[], at: number, doc: string | null, top: TopLevel): void {
  top.exported.set('default', { at, doc })
  const name = functionName(tokens, at)
  if (name !== null) top.declared.set(name, { at, doc })
}

function readDeclarations(
  tokens: readonly Token[],
  at: number,
  doc: string | null,
  isExport: boolean,
  top: TopLevel,
): void {
  const declare = (name: string, declaration: Declaration): void => {
    // Of overloads the last one has the body; the first one has the comment.
    const comment = declaration.doc ?? top.declared.get(name)?.doc ?? null
    top.declared.set(name, { ...declaration, doc: comment })
    if (isExport) top.exported.set(name, name)
  }
  const name = functionName(tokens, at)
  if (name !== null) declare(name, { at, doc })
  if (!['const', 'let', 'var'].includes(textAt(tokens, at))) return

  for (let i = at + 1; i < tokens.length && (i === at + 1 || !beginsStatement(tokens, i)); i = next(tokens, i)) {
    const token = tokens[i]
    const follows = i === at + 1 || tokens[i - 1]?.text === ','
    if (!follows || token?.kind !== 'name' || !/^[=:]$/.test(textAt(tokens, i + 1))) continue
    const equals = textAt(tokens, i + 1) === '=' ? i + 1 : assignment(tokens, i + 2)
    if (equals !== -1) declare(token.text, { at: equals + 1, doc: token.doc ?? doc })
  }
}

/** The `=` behind a type. */
function assignment(tokens: readonly Token[], from: number): number {
  for (let at = from; at < tokens.length; at = next(tokens, at)) {
    if (textAt(tokens, at) === '=') return at
    if (textAt(tokens, at) === ';') return -1
  }
  return -1
}

/** The name of `[async] function[*] name`. */
function functionName(tokens: readonly Token[], from: number): string | null {
  const at = textAt(tokens, from) === 'async' ? from + 1 : from
  if (textAt(tokens, at) !== 'function') return null
  const token = tokens[textAt(tokens, at + 1) === '*' ? at + 2 : at + 1]
  return token?.kind === 'name' ? token.text : null
}

/** `exports.name = …`, `module.exports.name = …`, `module.exports = …` */
function commonJsExport(tokens: readonly Token[], top: TopLevel, exportName: string): FoundFunction | null {
  for (let at = 0; at < tokens.length; at = next(tokens, at)) {
    if (textAt(tokens, at) !== 'exports') continue
    const isModule = textAt(tokens, at - 1) === '.' && textAt(tokens, at - 2) === 'module'
    const doc = tokens[isModule ? at - 2 : at]?.doc ?? null
    if (textAt(tokens, at + 1) === '.' && textAt(tokens, at + 2) === exportName && textAt(tokens, at + 3) === '=')
      return callable(tokens, top, { at: at + 4, doc }, [])
    if (!isModule || textAt(tokens, at + 1) !== '=') continue
    if (exportName === 'default') return callable(tokens, top, { at: at + 2, doc }, [])
    if (textAt(tokens, at + 2) === '{') return objectMember(tokens, top, at + 2, [exportName], doc, [])
  }
  return null
}

/** The function that a value is: written out, called by its name, or a member of an object. */
function callable(tokens: readonly Token[], top: TopLevel, from: Declaration, seen: readonly string[]): FoundFunction {
  const { doc } = from
  const at = textAt(tokens, from.at) === 'async' && textAt(tokens, from.at + 1) !== '=>' ? from.at + 1 : from.at
  const token = tokens[at]
  const unclear = new Unreadable(token?.start ?? 0, 'the exported value is not a function that is written out here')
  if (token === undefined) throw unclear

  if (token.text === 'function') {
    let head = at + 1
    while (textAt(tokens, head) === '*' || (tokens[head]?.kind === 'name' && head <= at + 2)) head += 1
    return { head: behindTypeParameters(tokens, head), doc }
  }
  if (token.text === '<') return { head: behindTypeParameters(tokens, at), doc }
  if (token.text === '(') {
    const after = textAt(tokens, token.pair + 1)
    return after === '=>' || after === ':' ? { head: at, doc } : callable(tokens, top, { at: at + 1, doc }, seen)
  }
  if (token.text === '{') return objectMember(tokens, top, at, MEMBERS, doc, seen)
  if (token.kind !== 'name') throw unclear
  if (textAt(tokens, at + 1) === '=>') return { head: at, doc }

  // `defineTool({ … })`, `library.tool<Args>({ … })`
  let end = at + 1
  while (textAt(tokens, end) === '.') end += 2
  const called = textAt(tokens, end) === '<' ? behindTypeParameters(tokens, end) : end
  if (textAt(tokens, called) === '(' && textAt(tokens, called + 1) === '{')
    return objectMember(tokens, top, called + 1, MEMBERS, doc, seen)

  const known = top.declared.get(token.text)
  const isAlone = end === at + 1 && textAt(tokens, end) !== '('
  if (known === undefined || !isAlone || seen.includes(token.text)) throw unclear
  return callable(tokens, top, { at: known.at, doc: known.doc ?? doc }, [...seen, token.text])
}

function objectMember(
  tokens: readonly Token[],
  top: TopLevel,
  open: number,
  names: readonly string[],
  doc: string | null,
  seen: readonly string[],
): FoundFunction {
  const member = memberOf(tokens, top, open, names)
  if (member === null)
    throw new Unreadable(tokens[open]?.start ?? 0, `the exported object shows no ${names.join(' or ')} function`)
  const own = { ...member, doc: member.doc ?? doc }
  return member.isMethod
    ? { head: behindTypeParameters(tokens, member.at), doc: own.doc }
    : callable(tokens, top, own, seen)
}

function memberOf(
  tokens: readonly Token[],
  top: TopLevel,
  open: number,
  names: readonly string[],
): (Declaration & { isMethod: boolean }) | null {
  const close = tokens[open]?.pair ?? open
  for (let at = open + 1; at < close; ) {
    const doc = tokens[at]?.doc ?? null
    let key = at
    while (/^(async|\*)$/.test(textAt(tokens, key)) && !/^[:(,}]$/.test(textAt(tokens, key + 1))) key += 1
    const name = keyOf(tokens[key])
    const after = textAt(tokens, key + 1)
    if (name !== null && names.includes(name)) {
      if (after === '(' || after === '<') return { at: key + 1, doc, isMethod: true }
      if (after === ':') return { at: key + 2, doc, isMethod: false }
      const known = after === ',' || after === '}' ? top.declared.get(name) : undefined
      if (known !== undefined) return { at: known.at, doc: known.doc ?? doc, isMethod: false }
    }
    while (at < close && textAt(tokens, at) !== ',') at = next(tokens, at)
    at += 1
  }
  return null
}

/** The `(` behind `<…>`. */
function behindTypeParameters(tokens: readonly Token[], from: number): number {
  let at = from
  if (textAt(tokens, at) === '<') {
    let depth = 0
    do {
      if (textAt(tokens, at) === '<') depth += 1
      if (textAt(tokens, at) === '>') depth -= 1
      at = next(tokens, at)
    } while (depth > 0 && at < tokens.length)
  }
  if (textAt(tokens, at) !== '(')
    throw new Unreadable(tokens[from]?.start ?? 0, 'the parameters are not where they should be')
  return at
}

const textAt = (tokens: readonly Token[], at: number): string => tokens[at]?.text ?? ''
