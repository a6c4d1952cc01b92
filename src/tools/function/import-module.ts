// Imports a tool's module with Node's own loader, which strips types, and imports it anew when it has changed.

import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

export type ModuleExports = Readonly<Record<string, unknown>>

/** `version` is new for every reload; without one, the module is imported once in a process. */
export async function importModule(file: string, version: number | undefined): Promise<ModuleExports> {
  const url = pathToFileURL(file)
  if (version === undefined) return await import(url.href)
  url.searchParams.set('v', String(version))
  forgetCommonJs(file)
  const hooks = carryVersion()
  try {
    return await import(url.href)
  } finally {
    hooks.deregister()
  }
}

/** What the module imports from beside it is imported anew too; packages are not. */
function carryVersion(): { deregister(): void } {
  return registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const version = context.parentURL === undefined ? null : new URL(context.parentURL).searchParams.get('v')
      const isOwn = resolved.url.startsWith('file:') && !resolved.url.includes('/node_modules/')
      if (version === null || !isOwn || context.conditions.includes('require')) return resolved
      const url = new URL(resolved.url)
      url.searchParams.set('v', version)
      return { ...resolved, url: url.href }
    },
  })
}

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
