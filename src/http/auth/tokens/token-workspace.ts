// The folder that an agent's token is bound to.

import { realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { ServerError } from '../../../domain/errors.ts'
import { isWithin } from '../../../domain/is-within.ts'
import { systemErrorCode } from '../../../domain/system-error-code.ts'

interface Folders {
  home: string
  /** Our own folders: an agent that works in one of them could change its supervisor. They do not have to exist. */
  own: readonly string[]
}

/** Throws `invalid_request` if an agent may not work there. */
export function tokenWorkspace(
  { workspace, channel }: { workspace?: string | undefined; channel?: string | undefined },
  { home, own }: Folders,
): { workspace: string; channel?: string } {
  if (workspace === undefined) throw refused('The role agent needs the folder that the agent works in.')
  const real = realFolder(workspace)
  if (dirname(real) === real) throw refused('The root of the file system cannot be a workspace.')
  if (real === existingPath(home)) throw refused('The home folder cannot be a workspace. Name a folder in it.')
  for (const folder of own.map(existingPath)) {
    if (isWithin(real, folder) || isWithin(folder, real)) {
      throw refused(`${real} is, contains or lies in ${folder}, where Quarterdeck keeps its own files.`)
    }
  }
  return { workspace: real, ...(channel === undefined ? {} : { channel }) }
}

function realFolder(path: string): string {
  if (!isAbsolute(path) || path.includes('\0')) throw refused('The workspace must be an absolute path.')
  try {
    const real = realpathSync(path)
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    throw refused(
      `The folder ${JSON.stringify(path)} cannot be opened (${systemErrorCode(error) || 'unknown reason'}).`,
    )
  }
  throw refused(`${JSON.stringify(path)} is not a folder.`)
}

function existingPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const refused = (detail: string): ServerError =>
  new ServerError('invalid_request', 'No token can be made for an agent in this folder.', {
    problems: [{ pointer: '/workspace', detail }],
  })
