import { resolve } from 'node:path'
import type { PathContext } from '../policy/path-conditions.ts'

/** A disk without links; relative paths start in `/srv/agent`. */
export const pathContext: PathContext = {
  parameters: { type: 'object' },
  roots: ['/srv/agent'],
  realPath: (path) => resolve(path),
}
