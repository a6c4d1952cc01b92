// Programs that we start for somebody. What an agent can change must not be one of them.

import { accessSync, constants, readlinkSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { isWithin } from '../../domain/is-within.ts'
import { createRealPath } from '../policy/real-path.ts'

export interface ProgramSearch {
  /** Folders that agents can write: the workspaces and `default_workspace_root`. */
  workspaces: readonly string[]
  /** The PATH of this process. */
  searchPath: string
}

/** The absolute path of a program, by its name or its whole path. The problem is a sentence that says what to do. */
export function findProgram(
  name: string,
  { workspaces, searchPath }: ProgramSearch,
): { program: string; problem: null } | { program: null; problem: string } {
  const fail = (problem: string) => ({ program: null, problem })
  const isPath = /[/\\]/.test(name)
  if (isPath && !isAbsolute(name))
    return fail(`write the whole path of ${name}: what it means depends on the workspace.`)
  const program = isPath ? (isProgram(name) ? name : null) : lookUp(name, searchPath)
  if (program === null) {
    return fail(`there is no program ${name}${isPath ? '' : ' in the PATH'}. Install it, or write its whole path.`)
  }
  if (hopsOf(program).some(createWorkspaceCheck(workspaces))) {
    return fail(
      `${name} is ${program}, which an agent can change because it leads into a workspace. Use a program from elsewhere.`,
    )
  }
  return { program, problem: null }
}

/**
 * The PATH for a command: without relative entries, which mean a folder of the workspace it runs in, and without folders that an agent
 * can write.
 */
export function safeSearchPath(searchPath: string, workspaces: readonly string[]): string {
  const inWorkspace = createWorkspaceCheck(workspaces)
  return foldersOf(searchPath)
    .filter((folder) => !inWorkspace(realOrAsWritten(folder)))
    .join(delimiter)
}

/** `place` must be real except for its last part: a link in a workspace is in the workspace, wherever it leads. */
function createWorkspaceCheck(workspaces: readonly string[]): (place: string) => boolean {
  const folders = workspaces.map(realOrAsWritten)
  return (place) => folders.some((folder) => isWithin(place, folder))
}

function realOrAsWritten(path: string): string {
  try {
    return createRealPath()(path)
  } catch {
    return resolve(path)
  }
}

/** As many links as Linux follows. */
const MAX_LINKS = 40

/** The program and everything that its links lead over, as places on the disk: whoever can change one of them changes what runs. */
function hopsOf(program: string): string[] {
  const hops: string[] = []
  let at = program
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const place = join(realOrAsWritten(dirname(at)), basename(at))
    hops.push(place)
    const target = linkAt(place)
    if (target === null) break
    at = resolve(dirname(place), target)
  }
  return hops
}

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function lookUp(name: string, searchPath: string): string | null {
  const names = process.platform === 'win32' ? [name, `${name}.exe`, `${name}.cmd`] : [name]
  for (const folder of foldersOf(searchPath)) {
    const found = names.map((one) => join(folder, one)).find(isProgram)
    if (found !== undefined) return found
  }
  return null
}

/** An empty entry means the current folder, and so does every relative one. */
const foldersOf = (searchPath: string): string[] => searchPath.split(delimiter).filter(isAbsolute)

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
