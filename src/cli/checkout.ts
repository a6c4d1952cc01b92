import { existsSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** The folder of this program's source, if that is what runs. Null: an installed package runs. `src/cli` and `dist/cli` are equally deep. */
export const checkout: string | null =
  existsSync(join(root, 'src', 'cli', 'main.ts')) && !root.split(sep).includes('node_modules') ? root : null

/** Whether a path is in the checkout. */
export const isInCheckout = (path: string): boolean =>
  checkout !== null && !relative(checkout, path).startsWith('..') && relative(checkout, path) !== path
