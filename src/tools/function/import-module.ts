// Imports a tool's module with Node's own loader, which strips types, and imports it again when it has changed.

import { readFileSync, realpathSync } from 'node:fs'
import { createRequire, type ResolveFnOutput, type ResolveHookContext, registerHooks } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type ModuleSource, readModuleSource, sourceName, textHash } from './module-source.ts'

export type ModuleExports = Readonly<Record<string, unknown>>

export interface ImportedModule {
  exports: ModuleExports
  source: ModuleSource
}

/** `version` is new for every reload; without one, the module is imported once in a process. */
export async function importModule(file: string, version: number | null): Promise<ImportedModule> {
  watchLoading()
  const named = namedSource(file, version)
  const url = pathToFileURL(realpathSync(file))
  if (version !== null) {
    url.searchParams.set('v', String(version))
    forgetCommonJs(file)
  }
  const exports: ModuleExports = await import(url.href)
  return { exports, source: { ...named, ...importedSource(url.href) } }
}

/**
 * The hash of each file's text that Node has loaded or will load, by URL. Node keeps a module as long as the process lives, even if the
 * file changes, so these are kept as long.
 */
const loaded = new Map<string, string>()
/** Which files of the project each file has imported, by URL. Node keeps files loaded with `require` by path, so they have no version. */
const imports = new Map<string, Set<string>>()
/** The hash of the text that each file had when it was last loaded, by URL. */
const texts = new Map<string, string>()
let isWatching = false

/** Every file of a project, not of a package, that tools have loaded in this process, or that these name. */
export const loadedFiles = (): string[] => [
  ...new Set([...loaded.keys(), ...texts.keys()].map((url) => fileURLToPath(unversioned(url)))),
]

/** The files that the text names, also those that are imported later. Throws if one cannot be read. */
function namedSource(file: string, version: number | null): ModuleSource {
  return readModuleSource(file, (path, text) => {
    const { href } = pathToFileURL(path)
    const key = version === null ? href : `${href}?v=${version}`
    const known = loaded.get(key)
    if (known !== undefined) return known
    const sha256 = textHash(text)
    loaded.set(key, sha256)
    // A file that is loaded with `require` has no version in its URL.
    if (version !== null) loaded.set(href, sha256)
    return sha256
  })
}

/** The files that were imported, however their names are written. */
function importedSource(root: string): ModuleSource {
  const all = new Set([root])
  for (const url of all) {
    for (const known of new Set([url, unversioned(url)])) for (const one of imports.get(known) ?? []) all.add(one)
  }
  const folder = dirname(fileURLToPath(root))
  const entries = [...all].flatMap((url) => {
    const sha256 = texts.get(url)
    return sha256 === undefined ? [] : [[sourceName(folder, fileURLToPath(url)), sha256]]
  })
  return Object.fromEntries(entries)
}

/**
 * Makes sure that what a tool imports, also while it runs, is what its approvals are bound to. The hooks stay in place, because a module
 * may import others at any time.
 */
function watchLoading(): void {
  if (isWatching) return
  isWatching = true
  registerHooks({
    /** Files of the project that a module imports are imported again too; packages are not. */
    resolve(specifier, context, nextResolve) {
      const { parentURL, conditions } = context
      const isTool = parentURL !== undefined && isOwn(parentURL)
      const ours = isTool && OURS.test(specifier) ? ourPackage(specifier, context, nextResolve) : null
      if (ours !== null) return ours
      const resolved = nextResolve(specifier, context)
      if (!isTool || !isOwn(resolved.url)) return resolved
      const version = versionOf(parentURL)
      const url = new URL(resolved.url)
      if (version !== null && !conditions.includes('require')) url.searchParams.set('v', version)
      if (isBeside(specifier)) imports.set(parentURL, (imports.get(parentURL) ?? new Set()).add(url.href))
      return { ...resolved, url: url.href }
    },
    load(url, context, nextLoad) {
      if (!isOwn(url)) return nextLoad(url, context)
      const module = nextLoad(url, { ...context, format: formatOf(url, context.format) })
      const sha256 = textHash(textOf(module.source) ?? readFileSync(fileURLToPath(url)))
      texts.set(url, sha256)
      if ((loaded.get(url) ?? sha256) === sha256) return module
      throw new Error(`${fileURLToPath(url)} has changed since the tools were loaded. Start the server again.`)
    },
  })
}

/** A tool may import these even if its project has installed nothing. */
const OURS = /^(?:zod|quarterdeck)(?:\/|$)/

/** Our own copy of the package. Null if the project has its own, or if nobody has it. */
function ourPackage(specifier: string, context: ResolveHookContext, nextResolve: NextResolve): ResolveFnOutput | null {
  // In a checkout, the source is used: the build may be missing or old.
  const isSource = specifier === 'quarterdeck' && import.meta.url.endsWith('.ts')
  try {
    const { url } = nextResolve(specifier, context)
    if (!isSource || url !== new URL('../../../bin/library.js', import.meta.url).href) return null
  } catch {
    // The project has none.
  }
  if (isSource) return { url: new URL('../../index.ts', import.meta.url).href, format: 'module-typescript' }
  try {
    return nextResolve(specifier, { ...context, parentURL: import.meta.url })
  } catch {
    return null
  }
}

/**
 * `npm init -y` writes `"type": "commonjs"`, and Node then refuses `import` and `export` in every .ts and .js file of the folder; without
 * a type it warns. A file with `import` or `export` is a module, whatever package.json says.
 */
function formatOf(url: string, format: string | null | undefined): string | null | undefined {
  const ending = /\.(ts|js)$/.exec(unversioned(url))?.[1]
  if (ending === undefined || format?.startsWith('module')) return format
  const code = readFileSync(fileURLToPath(url), 'utf8').replace(QUOTED, "''")
  if (!MODULE.test(code)) return format
  return ending === 'ts' ? 'module-typescript' : 'module'
}

/** Comments and strings: the words in them are not code. */
const QUOTED = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g

/** An `import` or `export` that is still there when the types are stripped. */
const MODULE =
  /(?<![.\w$])(?:import\s*(?:''|[{*]|(?!type\b)[\w$]+\s*(?:,|from\b))|export\s*(?:[{*]|(?:default|const|let|var|async|function|class|abstract|enum)\b))/

type NextResolve = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput

const textOf = (source: unknown): string | Uint8Array | null =>
  typeof source === 'string' || source instanceof Uint8Array ? source : null

const isOwn = (url: string): boolean => url.startsWith('file:') && !url.includes('/node_modules/')

/** True for a file of the project, false for a package. */
const isBeside = (specifier: string): boolean => /^(?:\.{0,2}\/|\.{1,2}$|#|file:)/.test(specifier)

const unversioned = (url: string): string => url.replace(/\?.*/, '')

const versionOf = (url: string): string | null => URL.parse(url)?.searchParams.get('v') ?? null

/** Node keeps CommonJS modules by path, whatever the query of the URL says. */
function forgetCommonJs(file: string): void {
  const { cache } = createRequire(pathToFileURL(file))
  const forget = (path: string): void => {
    const known = cache[path]
    if (known === undefined || /[\\/]node_modules[\\/]/.test(path)) return
    delete cache[path]
    imports.delete(pathToFileURL(path).href)
    for (const child of known.children) forget(child.id)
  }
  forget(file)
}
