// Conditions on arguments that are paths. They look at the file that a path leads to, not at how it is written: `./x.env`,
// `conf/../x.env` and a link to it are all the file `x.env`.

import { homedir } from 'node:os'
import { basename, isAbsolute, relative, resolve, sep } from 'node:path'
import type { JsonSchema } from '../../domain/agent/tool-settings.ts'
import { isRecord } from '../../domain/is-record.ts'
import { globMatches } from '../../domain/text/glob.ts'

/** What decides where a path in the arguments of a call leads. */
export interface PathContext {
  /** JSON Schema of the tool's arguments. */
  parameters: JsonSchema
  /** The folders that a relative path may start from. */
  roots: readonly string[]
  /** Follows the links of an absolute path; throws if that is not possible. */
  realPath(path: string): string
}

/**
 * What happens in doubt. `wide`, for rules that ask or refuse: a doubt counts as a match. `narrow`, for rules that allow: it does
 * not.
 */
export type MatchMode = 'wide' | 'narrow'

const MAX_PATH_CHARS = 4_096
/** Every path of a list is compared with every rule, and the event loop is blocked meanwhile. */
const MAX_LIST = 200
const MAX_LIST_CHARS = 20_000
/** Arguments are never nested deeper than this. */
const MAX_DEPTH = 100
const NAME_OF_PATH = /(?:path|file|dir|folder|source|destination)s?$/i
/** `path` is customary in JSON Schema; Python's pydantic writes the others. */
const FORMATS: ReadonlySet<unknown> = new Set(['path', 'file-path', 'directory-path'])

/** Whether an argument is a path, by its name or by the tool's schema. A number in the name is an index and is skipped. */
export function isPathArgument(name: string, parameters: JsonSchema): boolean {
  const words = name.split('.').filter((word) => !/^\d+$/.test(word))
  return NAME_OF_PATH.test(words.at(-1) ?? '') || [...schemasAt(parameters, words)].some(saysPath)
}

function schemasAt(parameters: JsonSchema, names: readonly string[]): Set<JsonSchema> {
  let found = alternatives([parameters], parameters)
  for (const name of names) {
    const inner = [...found].flatMap(({ properties }) =>
      isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [],
    )
    found = alternatives(inner, parameters)
  }
  return found
}

/** The schemas themselves, the schemas that they refer to or offer as alternatives, and those of list entries. */
function alternatives(schemas: readonly unknown[], document: JsonSchema): Set<JsonSchema> {
  const found = new Set(schemas.filter(isRecord))
  // The loop also visits what it adds.
  for (const { $ref, anyOf, oneOf, allOf, items } of found) {
    for (const one of [referred($ref, document), items, anyOf, oneOf, allOf].flat()) if (isRecord(one)) found.add(one)
  }
  return found
}

/** The schema that a pointer inside the document names: `#/$defs/name`. */
function referred(reference: unknown, document: JsonSchema): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined
  let found: unknown = document
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return found
}

const saysPath = (schema: JsonSchema): boolean => FORMATS.has(schema.format)

/**
 * Whether a path fits. In a list, one path is enough for `wide`, and `narrow` needs all of them. A pattern without `/` is compared
 * with the last part of the path, one with `/` with the whole path, from a root or from `/`. Throws if a path cannot be resolved.
 */
export function pathFits(pattern: string, value: unknown, context: PathContext, mode: MatchMode): boolean {
  if (value === undefined || value === null) return false
  const placeFits = placeTest(pattern, context, mode)
  const fits = (path: unknown): boolean => {
    if (typeof path !== 'string') throw unresolvable()
    checkPlain(path)
    // With several roots, one match is enough to ask, and all must match to allow.
    const places = context.roots.map((root) => placeOf(path, root, context))
    return mode === 'wide' ? places.some(placeFits) : places.every(placeFits)
  }
  if (!Array.isArray(value)) return fits(value)
  const paths = pathsIn(value)
  return mode === 'wide' ? paths.some(fits) : paths.length > 0 && paths.every(fits)
}

function pathsIn(list: readonly unknown[]): unknown[] {
  if (list.length > MAX_LIST) throw unresolvable()
  const paths = list.flat(MAX_DEPTH)
  const chars = paths.reduce<number>((sum, one) => sum + (typeof one === 'string' ? one.length : 0), 0)
  if (paths.length > MAX_LIST || chars > MAX_LIST_CHARS) throw unresolvable()
  return paths
}

interface Place {
  /** As written, but without `.` and `..`. */
  written: string
  /** With all links followed. */
  real: string
}

function placeOf(path: string, root: string, { realPath }: PathContext): Place {
  // Not `join`: `link/..` is the folder above the target of the link, and `join` would remove both parts.
  const whole = isAbsolute(path) ? path : `${root}${sep}${path}`
  return { written: resolve(root, path), real: realPath(whole) }
}

/** `$HOME`, `${x}`, `$(x)`, `%APPDATA%`; not `$id`, because files have such names too. */
const VARIABLE = /\$[A-Z_{(]|%\w+%/

/** Throws for a path that tools may understand in different ways, or that may name more than one file. */
function checkPlain(path: string): void {
  const hasScheme = /^[a-z][a-z0-9+.-]+:/i.test(path)
  const hasOtherSlash = sep === '/' && path.includes('\\')
  if (path.length > MAX_PATH_CHARS || path !== path.trim() || !path.isWellFormed()) throw unresolvable()
  if (path.startsWith('~') || hasScheme || hasOtherSlash) throw unresolvable()
  if (/[\p{Cc}*?]|%[0-9a-f]{2}/iu.test(path) || VARIABLE.test(path)) throw unresolvable()
}

const unresolvable = (): Error => new Error('The path cannot be resolved.')

function placeTest(pattern: string, context: PathContext, mode: MatchMode): (place: Place) => boolean {
  const { roots, realPath } = context
  const realRoots = [...new Set(roots.map((root) => realPath(root)))]
  const froms = mode === 'wide' ? [...new Set([...roots, ...realRoots])] : realRoots
  const fitsOne = textTest(pattern.includes('/') ? patternsOf(pattern, context, mode) : [pattern], mode)
  const fits = (end: string): boolean => {
    if (!pattern.includes('/')) {
      const isNamed = fitsOne(basename(end))
      return isNamed && (mode === 'wide' || realRoots.some((root) => !leadsOut(relative(root, end))))
    }
    const paths = [end, ...froms.map((root) => relative(root, end))].map(slashed)
    // A pattern for everything in a folder also means the folder itself.
    return paths.some((path) => fitsOne(path) || (mode === 'wide' && fitsOne(`${path}/`)))
  }
  return ({ written, real }) => {
    // Some tools remove `..` before they follow links.
    const ends = new Set([real, realPath(written), ...(mode === 'wide' ? [written] : [])])
    return mode === 'wide' ? [...ends].some(fits) : [...ends].every(fits)
  }
}

const leadsOut = (path: string): boolean => path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)

const slashed = (path: string): string => (sep === '/' ? path : path.replaceAll(sep, '/'))

/**
 * The pattern as written, and the same with links followed in the folder that it starts with: `/tmp` is a link on a Mac. A rule
 * that allows only follows links in `/` itself, because an agent that makes a link further down must not change its meaning.
 */
function patternsOf(pattern: string, { roots, realPath }: PathContext, mode: MatchMode): string[] {
  const plain = pattern
    .replace(/^~(?=\/)/, () => slashed(homedir()))
    .replaceAll(/\/+/g, '/')
    .replace(/^(?:\.\/)+|(?<=.)\/$/g, '')
  const isLiteral = !/[*?]/.test(plain)
  if (mode === 'narrow' && !plain.startsWith('/')) return [plain]
  const begin =
    mode === 'narrow' ? /^\/[^/*?]+(?=\/)/.exec(plain)?.[0] : isLiteral ? plain : /^[^*?]*(?=\/)/.exec(plain)?.[0]
  // `../**` means what lies outside. It is not the parent folder with everything in it.
  if (begin === undefined || /^[./]*$/.test(begin)) return [plain]
  return [plain, ...roots.map((root) => slashed(realPath(resolve(root, begin))) + plain.slice(begin.length))]
}

/** Many file systems ignore case, and treat `ſ` as `s`; older ones on a Mac ignore invisible characters. */
const folded = (text: string): string =>
  text
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()

function textTest(patterns: readonly string[], mode: MatchMode): (text: string) => boolean {
  const form = (one: string) => (mode === 'wide' ? folded(one) : one.normalize('NFC'))
  const forms = [...new Set(patterns.map(form))]
  return (text) => {
    const formed = form(text)
    return forms.some((pattern) => globMatches(pattern, formed))
  }
}
