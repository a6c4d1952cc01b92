// Finds what a tool's module is made of: its own text and the files of the project that it imports. npm packages are left out.

import { hash } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** SHA-256 of the text of each file, by its path relative to the module's folder. */
export type ModuleSource = Readonly<Record<string, string>>

/** `hashOf` gives the SHA-256 of a file. */
export function readModuleSource(file: string, hashOf: (path: string, text: Buffer) => string): ModuleSource {
  const found = new Map<string, string>()
  const add = (path: string): void => {
    if (found.has(path) || /[\\/]node_modules[\\/]/.test(path)) return
    const text = readFileSync(path)
    found.set(path, hashOf(path, text))
    if (CODE.includes(extname(path))) for (const one of importsOf(text.toString('utf8'), path)) add(one)
  }
  const root = realpathSync(file)
  add(root)
  return Object.fromEntries([...found].map(([path, sha256]) => [sourceName(dirname(root), path), sha256]))
}

export const sourceName = (folder: string, path: string): string => relative(folder, path).replaceAll(sep, '/')

export const textHash = (text: string | Uint8Array): string => hash('sha256', text, 'hex')

const CODE = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.jsx', '.tsx']

const GAP = String.raw`(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n)*`
/** Paths of files, not names of packages. A path in a comment is found too, which does no harm. */
const PATH = String.raw`(["'\`])((?:\.{0,2}\/|\.{1,2}(?=\1)|#|file:)(?:(?!\1|\$\{)[^\n])*)\1`
const IMPORT = new RegExp(String.raw`\b(?:from|import|require)${GAP}\(?${GAP}${PATH}`, 'g')
/** Code that runs without being imported, such as a worker's. Other files that are named like this are data, which a tool may write. */
const NAMED = new RegExp(String.raw`\b(?:URL|resolve)${GAP}\(${GAP}${PATH}`, 'g')

/** The files that a module names. A path that is put together at run time is not found. */
function importsOf(text: string, from: string): string[] {
  const named = [...text.matchAll(NAMED)].filter(([, , specifier = '']) => CODE.includes(extname(specifier)))
  return [...text.matchAll(IMPORT), ...named].flatMap(([, , specifier = '']) => resolved(specifier, from) ?? [])
}

/** Null if it cannot be resolved: Node says what is wrong when it loads it. */
function resolved(specifier: string, from: string): string | null {
  try {
    const url = specifier.startsWith('#') ? null : URL.parse(specifier, pathToFileURL(from).href)
    const path = url === null ? null : fileURLToPath(url)
    // CommonJS leaves out endings, and package.json says what `#name` stands for.
    const file = path !== null && isFile(path) ? path : createRequire(from).resolve(specifier)
    return isFile(file) ? realpathSync(file) : null
  } catch {
    return null
  }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true
