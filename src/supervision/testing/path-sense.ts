import { resolve } from 'node:path'
import type { PathSense } from '../policy/path-conditions.ts'

/** Paths of a disk without links, taken from `/srv/agent`. */
export const pathSense: PathSense = {
  parameters: { type: 'object' },
  roots: ['/srv/agent'],
  realPath: (path) => resolve(path),
}
