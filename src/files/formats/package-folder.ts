import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The published program carries what it uses of some packages that are large for other reasons; `scripts/carried-packages.ts` has
 * the list. Null: it is not carried, as in a checkout.
 */
export function carriedFolder(name: string): string | null {
  const folder = fileURLToPath(new URL(`../../packages/${name}`, import.meta.url))
  return existsSync(folder) ? folder : null
}

/** Where a package that we need lies. */
export const packageFolder = (name: string): string =>
  carriedFolder(name) ?? dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
