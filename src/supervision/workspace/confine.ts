// Where in a workspace a path leads that an agent names. The agent can write to the workspace while we look, so this is the first check
// only: `open-folder.ts` then opens the folder without following any link.

import { lstat, readdir, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import { isWithin } from '../../domain/is-within.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { hidesCharacters, visibleText } from '../../domain/text/visible-text.ts'

export interface ConfinedPath {
  /** Real path of the workspace. */
  root: string
  /** Folders from the root to the file, without links, as the disk spells them. Some may not exist yet. */
  folders: string[]
  name: string
  /** The same as one text: relative to the root, with `/`. */
  path: string
}

const MAX_PATH_CHARS = 1_024
const MAX_PART_BYTES = 255
/** Names that Windows gives to devices, whatever their ending. */
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** A folder that exists in a workspace. No folders: the workspace itself. */
type ConfinedFolder = Omit<ConfinedPath, 'name'>

/** Throws `path_violation` if the path leaves the workspace, or if it cannot name one ordinary file there. */
export async function confine(workspaceRoot: string, filePath: string): Promise<ConfinedPath> {
  const root = await realRoot(workspaceRoot)
  if (filePath === '') throw violation(filePath, 'it is empty')
  const parts = partsOf(filePath, root)
  if (filePath.endsWith('/')) throw violation(filePath, 'it names a folder. Name a file')
  const name = parts.pop()
  if (name === undefined) throw violation(filePath, 'it names the workspace itself. Name a file')
  const followed = await followFolders(root, parts, filePath)
  const folders = [...followed.folders, ...followed.missing]
  const file = await lookUp(root, folders, name, filePath)
  if (file?.kind === 'link') throw violation(filePath, 'it is a symbolic link. Name the file that it leads to')
  if (file?.kind === 'folder') throw violation(filePath, 'it is a folder. Name a file')
  if (file?.kind === 'other') throw violation(filePath, 'it is a device, a pipe or a socket. Name an ordinary file')
  const found = file?.name ?? name
  return { root, folders, name: found, path: [...folders, found].join('/') }
}

/** The same for a folder; an empty path is the workspace. Throws `file_not_found` if there is none. */
export async function confineFolder(workspaceRoot: string, folderPath: string): Promise<ConfinedFolder> {
  const root = await realRoot(workspaceRoot)
  const { folders, missing } = await followFolders(root, partsOf(folderPath, root), folderPath)
  if (missing.length > 0) {
    throw new ServerError('file_not_found', `There is no folder "${visibleText(folderPath)}" in the workspace.`)
  }
  return { root, folders, path: folders.join('/') }
}

/** Throws `path_violation`. The real path of a workspace never changes: if it leads elsewhere now, somebody has put a link in its place. */
export function refuseMoved(root: string, real: string): void {
  if (root !== real) throw violation(root, 'the workspace was replaced by a link')
}

/** Follows links to folders of the same workspace. What comes after the last folder that exists is `missing`. */
async function followFolders(
  root: string,
  parts: readonly string[],
  path: string,
): Promise<{ folders: string[]; missing: string[] }> {
  let folders: string[] = []
  for (const [i, part] of parts.entries()) {
    const found = await lookUp(root, folders, part, path)
    if (found === null) return { folders, missing: parts.slice(i) }
    if (found.kind === 'link') folders = await followLink(root, [...folders, found.name], path)
    else if (found.kind === 'folder') folders = [...folders, found.name]
    else throw violation(path, `${[...folders, found.name].join('/')} is not a folder`)
  }
  return { folders, missing: [] }
}

/** The error for a path that the workspace does not allow. `why` completes "… cannot be used:". */
export const violation = (path: string, why: string): ServerError =>
  new ServerError('path_violation', `The path "${visibleText(path.slice(0, 300))}" cannot be used: ${why}.`)

async function realRoot(workspaceRoot: string): Promise<string> {
  try {
    return await realpath(workspaceRoot)
  } catch (error) {
    const message = `The workspace ${visibleText(workspaceRoot)} cannot be read. Check that the folder exists.`
    throw new ServerError('path_violation', message, { cause: error })
  }
}

/** The parts of a path that is plain in every way: each check that can be made without looking at the disk. */
function partsOf(path: string, root: string): string[] {
  if (path.includes('\0')) throw violation(path, 'it contains a NUL character')
  if (path.length > MAX_PATH_CHARS) throw violation(path, `it is longer than ${MAX_PATH_CHARS} characters`)
  if (!path.isWellFormed() || hidesCharacters(path) || /[\t\n\r]|\ufe0e|\ufe0f/.test(path))
    throw violation(path, 'it contains characters that a person cannot see')
  if (isAbsolute(path)) {
    const within = isWithin(path, root) && path !== root ? `. Write "${visibleText(relative(root, path))}"` : ''
    throw violation(path, `it must be relative to the workspace${within}`)
  }
  if (path.includes('\\')) throw violation(path, 'it contains a backslash. Write folders with /')
  if (path.includes(':')) throw violation(path, 'it contains a colon, which names a drive or a stream on Windows')
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts[0] === '~') throw violation(path, '~ is not expanded. Write a path in the workspace')
  for (const part of parts) checkPart(part, path)
  return parts
}

function checkPart(part: string, path: string): void {
  if (part === '..') throw violation(path, 'it contains "..". Write the path from the workspace down')
  // Names such as `․․` or `a／b` become another path on disks and in tools that normalise names.
  const normal = part.normalize('NFKC')
  if (/[/\\:\0]/.test(normal) || /^\.+$/.test(normal))
    throw violation(path, 'it contains a character that can turn into a separator')
  // Windows drops them, so that `.git.` would be `.git`.
  if (/[. ]$/.test(part)) throw violation(path, 'a name in it ends with a dot or a space')
  if (part.startsWith(' ')) throw violation(path, 'a name in it starts with a space')
  if (Buffer.byteLength(part) > MAX_PART_BYTES) throw violation(path, `a name in it has over ${MAX_PART_BYTES} bytes`)
  if (sep === '\\' && WINDOWS_DEVICE.test(part)) throw violation(path, 'a name in it is a device on Windows')
}

/** The form in which names are the same on a disk that ignores case, or that normalises Unicode. */
export const foldedName = (name: string): string => name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFC')

interface Found {
  /** As the disk spells it. */
  name: string
  kind: 'file' | 'folder' | 'link' | 'other'
}

/**
 * Null: nothing has this name. A name that differs from an existing one only by case is the same file on some disks and another on
 * others. If the disk says that it is the same, the disk's spelling counts; otherwise the name is refused.
 */
async function lookUp(root: string, folders: readonly string[], name: string, path: string): Promise<Found | null> {
  const folder = join(root, ...folders)
  const found = await statOf(join(folder, name), path)
  const names = await namesIn(folder, path)
  if (found !== null && names.has(name)) return { name, kind: found.kind }
  const folded = foldedName(name)
  for (const other of names) {
    if (other === name || foldedName(other) !== folded) continue
    const twin = await statOf(join(folder, other), path)
    if (found === null)
      throw violation(path, `"${visibleText(other)}" exists and differs only by case or by how it is encoded`)
    if (twin !== null && twin.id === found.id) return { name: other, kind: found.kind }
  }
  return found === null ? null : { name, kind: found.kind }
}

async function namesIn(folder: string, path: string): Promise<Set<string>> {
  try {
    return new Set(await readdir(folder))
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return new Set()
    throw violation(path, `its folder cannot be read (${systemErrorCode(error)})`)
  }
}

async function statOf(absolute: string, path: string): Promise<{ kind: Found['kind']; id: string } | null> {
  try {
    const stat = await lstat(absolute, { bigint: true })
    const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : stat.isSymbolicLink() ? 'link' : 'other'
    return { kind, id: `${stat.dev}:${stat.ino}` }
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw violation(path, `it cannot be looked at (${systemErrorCode(error)})`)
  }
}

/** The folders that a link to a folder of the same workspace leads to. */
async function followLink(root: string, folders: readonly string[], path: string): Promise<string[]> {
  const link = visibleText(folders.join('/'))
  let target: string
  try {
    target = await realpath(join(root, ...folders))
  } catch {
    throw violation(path, `the symbolic link ${link} leads nowhere`)
  }
  if (!isWithin(target, root)) throw violation(path, `the symbolic link ${link} leads out of the workspace`)
  const way = relative(root, target)
  return way === '' ? [] : way.split(sep)
}
