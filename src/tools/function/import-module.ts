// Imports a tool's module with Node's own loader, which strips types, and imports it anew when it has changed.

import { readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type ModuleSource, readModuleSource, textHash } from './module-source.ts'

export type ModuleExports = Readonly<Record<string, unknown>>

export interface ImportedModule {
  exports: ModuleExports
  source: ModuleSource
}

/** `version` is new for every reload; without one, the module is imported once in a process. */
export async function importModule(file: string, version: number | undefined): Promise<ImportedModule> {
  watchLoading()
  const source = sourceOf(file, version)
  const url = pathToFileURL(file)
  if (version !== undefined) {
    url.searchParams.set('v', String(version))
    forgetCommonJs(file)
  }
  return { exports: await import(url.href), source }
}

/**
 * What Node has loaded or will load, by URL: the hash of its text. Node keeps modules as long as the process lives, so this is
 * kept as long: a file that has changed since is not what runs.
 */
const loaded = new Map<string, string>()
let isWatching = false

/** The module as it is in this process, or as it will be when it is imported. Throws where it cannot be read. */
export function sourceOf(file: string, version: number | undefined): ModuleSource {
  return readModuleSource(file, (path, text) => {
    const { href } = pathToFileURL(path)
    const key = version === undefined ? href : `${href}?v=${version}`
    const known = loaded.get(key)
    if (known !== undefined) return known
    const sha256 = textHash(text)
    loaded.set(key, sha256)
    // What is loaded with `require` has no version in its URL.
    if (version !== undefined) loaded.set(href, sha256)
    return sha256
  })
}

/**
 * From here on what a tool imports, also while it runs, is what its approvals are bound to. They stay in place because a module
 * may import others at any time.
 */
function watchLoading(): void {
  if (isWatching) return
  isWatching = true
  registerHooks({
    /** What a module imports from beside it is imported anew too; packages are not. */
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const version = context.parentURL === undefined ? null : versionOf(context.parentURL)
      const isOwn = resolved.url.startsWith('file:') && !resolved.url.includes('/node_modules/')
      if (version === null || !isOwn || context.conditions.includes('require')) return resolved
      const url = new URL(resolved.url)
      url.searchParams.set('v', version)
      return { ...resolved, url: url.href }
    },
    load(url, context, nextLoad) {
      const module = nextLoad(url, context)
      const known = loaded.get(url)
      if (known === undefined || textHash(textOf(module.source) ?? readFileSync(fileURLToPath(url))) === known) {
        return module
      }
      throw new Error(`${fileURLToPath(url)} has changed since the tools were loaded. Start the server again.`)
    },
  })
}

const textOf = (source: unknown): string | Uint8Array | null =>
  typeof source === 'string' || source instanceof Uint8Array ? source : null

const versionOf = (url: string): string | null => URL.parse(url)?.searchParams.get('v') ?? null

/** CommonJS modules are kept by path, whatever the query says. */
function forgetCommonJs(file: string): void {
  const { cache } = createRequire(pathToFileURL(file))
  const forget = (path: string): void => {
    const known = cache[path]
    if (known === undefined || /[\\/]node_modules[\\/]/.test(path)) return
    delete cache[path]
    for (const child of known.children) forget(child.id)
  }
  forget(file)
}
