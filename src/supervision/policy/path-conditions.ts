// Arguments that are paths are judged by where they lead, not by how they are written: `./x.env`, `conf/../x.env` and a link to
// it are the file `x.env`.

import { homedir } from 'node:os'
import { basename, isAbsolute, relative, resolve, sep } from 'node:path'
import { globMatches } from '../../domain/glob.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { JsonSchema } from '../../domain/tool-settings.ts'

/** What is known of a call's tool that says where a path leads. */
export interface PathSense {
  parameters: JsonSchema
  /** The folders that a relative path may begin in. */
  roots: readonly string[]
  /** Where an absolute path leads; throws where that cannot be found out. */
  realPath(path: string): string
}

/**
 * What fits in doubt. `wide`, for rules that ask or refuse: whatever may be meant. `narrow`, for rules that allow: only what is
 * surely meant.
 */
export type Lean = 'wide' | 'narrow'

const MAX_PATH_CHARS = 4_096
/** Every path of a list is held against every rule, and nothing else happens meanwhile. */
const MAX_LIST = 200
const MAX_LIST_CHARS = 20_000
/** No arguments are nested deeper. */
const MAX_DEPTH = 100
const NAME_OF_PATH = /(?:path|file|dir|folder|source|destination)s?$/i
/** `path` is JSON Schema's by custom, the others are what Python's pydantic writes. */
const FORMATS: ReadonlySet<unknown> = new Set(['path', 'file-path', 'directory-path'])

/** By its name, or because the tool's schema says so. The place of an entry in a list is no name. */
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

/** The schemas themselves, what they refer to and offer as alternatives, and what the entries of a list are. */
function alternatives(schemas: readonly unknown[], document: JsonSchema): Set<JsonSchema> {
  const found = new Set(schemas.filter(isRecord))
  // It grows while it is gone through.
  for (const { $ref, anyOf, oneOf, allOf, items } of found) {
    for (const one of [referred($ref, document), items, anyOf, oneOf, allOf].flat()) if (isRecord(one)) found.add(one)
  }
  return found
}

/** Inside of the document, as a pointer: `#/$defs/name`. */
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
 * Whether the path, or in a list one of them (`narrow`: all of them), fits. A pattern without `/` is about the last part of the
 * path, one with it about the whole: from a root, or from `/`. Throws for what cannot be resolved.
 */
export function pathFits(pattern: string, value: unknown, sense: PathSense, lean: Lean): boolean {
  if (value === undefined || value === null) return false
  const placeFits = placeTest(pattern, sense, lean)
  const fits = (path: unknown): boolean => {
    if (typeof path !== 'string') throw unresolvable()
    checkPlain(path)
    // Wherever it may begin: one that fits is enough to ask, and to allow all must.
    const places = sense.roots.map((root) => placeOf(path, root, sense))
    return lean === 'wide' ? places.some(placeFits) : places.every(placeFits)
  }
  if (!Array.isArray(value)) return fits(value)
  const paths = pathsIn(value)
  return lean === 'wide' ? paths.some(fits) : paths.length > 0 && paths.every(fits)
}

function pathsIn(list: readonly unknown[]): unknown[] {
  if (list.length > MAX_LIST) throw unresolvable()
  const paths = list.flat(MAX_DEPTH)
  const chars = paths.reduce<number>((sum, one) => sum + (typeof one === 'string' ? one.length : 0), 0)
  if (paths.length > MAX_LIST || chars > MAX_LIST_CHARS) throw unresolvable()
  return paths
}

interface Place {
  /** As it is written, without its dots. */
  written: string
  /** Where it leads. */
  real: string
}

function placeOf(path: string, root: string, { realPath }: PathSense): Place {
  // Not joined: a link followed by `..` leads to where the link points, and joining would take both away.
  const whole = isAbsolute(path) ? path : `${root}${sep}${path}`
  return { written: resolve(root, path), real: realPath(whole) }
}

/** `$HOME`, `${x}`, `$(x)`, `%APPDATA%`; not `$id`, which files are called, too. */
const VARIABLE = /\$[A-Z_{(]|%\w+%/

/** A path as a tool may take it in more than one way, or that names more than one file. */
function checkPlain(path: string): void {
  const hasScheme = /^[a-z][a-z0-9+.-]+:/i.test(path)
  const hasOtherSlash = sep === '/' && path.includes('\\')
  if (path.length > MAX_PATH_CHARS || path !== path.trim() || !path.isWellFormed()) throw unresolvable()
  if (path.startsWith('~') || hasScheme || hasOtherSlash) throw unresolvable()
  if (/[\p{Cc}*?]|%[0-9a-f]{2}/iu.test(path) || VARIABLE.test(path)) throw unresolvable()
}

const unresolvable = (): Error => new Error('The path cannot be resolved.')

function placeTest(pattern: string, sense: PathSense, lean: Lean): (place: Place) => boolean {
  const { roots, realPath } = sense
  const realRoots = [...new Set(roots.map((root) => realPath(root)))]
  const froms = lean === 'wide' ? [...new Set([...roots, ...realRoots])] : realRoots
  const fitsOne = textTest(pattern.includes('/') ? patternsOf(pattern, sense, lean) : [pattern], lean)
  const fits = (end: string): boolean => {
    if (!pattern.includes('/')) {
      const isNamed = fitsOne(basename(end))
      return isNamed && (lean === 'wide' || realRoots.some((root) => !leadsOut(relative(root, end))))
    }
    const paths = [end, ...froms.map((root) => relative(root, end))].map(slashed)
    // What is about everything in a folder is about the folder too.
    return paths.some((path) => fitsOne(path) || (lean === 'wide' && fitsOne(`${path}/`)))
  }
  return ({ written, real }) => {
    // Some tools take the dots away before they follow links.
    const ends = new Set([real, realPath(written), ...(lean === 'wide' ? [written] : [])])
    return lean === 'wide' ? [...ends].some(fits) : [...ends].every(fits)
  }
}

const leadsOut = (path: string): boolean => path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)

const slashed = (path: string): string => (sep === '/' ? path : path.replaceAll(sep, '/'))

/**
 * The pattern as it is written, and with the links followed in the folder that it begins with: `/tmp` is a link on a Mac. To
 * allow, only links in `/` itself are followed: an agent that makes a link further down must not change what the pattern means.
 */
function patternsOf(pattern: string, { roots, realPath }: PathSense, lean: Lean): string[] {
  const plain = pattern
    .replace(/^~(?=\/)/, () => slashed(homedir()))
    .replaceAll(/\/+/g, '/')
    .replace(/^(?:\.\/)+|(?<=.)\/$/g, '')
  const isLiteral = !/[*?]/.test(plain)
  if (lean === 'narrow' && !plain.startsWith('/')) return [plain]
  const begin =
    lean === 'narrow' ? /^\/[^/*?]+(?=\/)/.exec(plain)?.[0] : isLiteral ? plain : /^[^*?]*(?=\/)/.exec(plain)?.[0]
  // `../**` is about what lies outside, not about the folder above with everything in it.
  if (begin === undefined || /^[./]*$/.test(begin)) return [plain]
  return [plain, ...roots.map((root) => slashed(realPath(resolve(root, begin))) + plain.slice(begin.length))]
}

/** Many disks do not tell capital letters from small ones, nor `ſ` from `s`; older ones of a Mac leave out what is not seen. */
const folded = (text: string): string =>
  text
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()

function textTest(patterns: readonly string[], lean: Lean): (text: string) => boolean {
  const form = (one: string) => (lean === 'wide' ? folded(one) : one.normalize('NFC'))
  const forms = [...new Set(patterns.map(form))]
  return (text) => {
    const formed = form(text)
    return forms.some((pattern) => globMatches(pattern, formed))
  }
}
