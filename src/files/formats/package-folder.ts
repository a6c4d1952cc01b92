import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The published program carries the files that it uses of some large packages; `scripts/shipped-packages.ts` lists them. Null: the
 * package is not carried, as in a checkout.
 */
export function carriedFolder(name: string): string | null {
  const folder = fileURLToPath(new URL(`../../packages/${name}`, import.meta.url))
  return existsSync(folder) ? folder : null
}

/** The folder of a package that we need. */
export const packageFolder = (name: string): string =>
  carriedFolder(name) ?? dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
