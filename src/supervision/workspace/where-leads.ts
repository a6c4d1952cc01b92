// Where a path leads on this disk, and what is there: the one answer for everybody who judges work of agents.

import { lstatSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { isWithin } from '../../domain/is-within.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { createServerPlaces, type FileAccess, protectedChange, protectedPath } from './protected-path.ts'
import { secretPath } from './secret-path.ts'

export interface Place {
  /** Links are followed. */
  real: string
  /** From the workspace down, with `/`; '' is the workspace. Null: outside. */
  path: string | null
  /** Why the place itself is guarded, whatever its name, as a sentence: this server uses it, or it has other names. */
  ours: string | null
  /** Why files of its name are protected, as a sentence. */
  named: string | null
  /** Why it is not shown to people, as a sentence. */
  secret: string | null
}

/** Null: the path names no file for anybody. Throws if it is not clear where it leads. */
export type WhereLeads = (
  path: string,
  at: { workspaceRoot: string; access: FileAccess; realPath(path: string): string },
) => Place | null

/** `serverPaths`: see `createServerPlaces`. */
export function createWhereLeads(serverPaths: readonly string[]): WhereLeads {
  const becauseOurs = createServerPlaces(serverPaths)
  return (written, { workspaceRoot, access, realPath }) => {
    const real = followed(written, realPath)
    if (real === null) return null
    const isWrite = access === 'write'
    const path = isWithin(real, workspaceRoot) ? relative(workspaceRoot, real).split(sep).join('/') : null
    const name = path ?? real.split(sep).join('/')
    const ours =
      becauseOurs(real, access) ??
      (isWrite && hasOtherNames(real) ? 'The file has other names (hard links), and they would change with it.' : null)
    return {
      real,
      path,
      ours,
      // Nobody has seen what a write to package.json changes.
      named: name === '' ? null : isWrite ? protectedChange(name, null, '') : protectedPath(name),
      secret: name === '' ? null : secretPath(name),
    }
  }
}

/** Null if a part is too long, or goes through a file. */
function followed(path: string, realPath: (path: string) => string): string | null {
  try {
    return realPath(path)
  } catch (error) {
    if (['ENAMETOOLONG', 'ENOTDIR'].includes(systemErrorCode(error))) return null
    throw error
  }
}

function hasOtherNames(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && stat.nlink > 1
}
