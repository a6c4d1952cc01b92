// Reading configuration files, as a port, so that a test or an embedding program can supply the files itself.

import { closeSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { systemErrorCode } from '../../domain/system-error-code.ts'

export interface ConfigFiles {
  /** The first `limit` bytes of a file. Throws as `node:fs` does. */
  read(path: string, limit: number): Uint8Array
  /** The entries of a folder, sorted by name; null if `path` is not a folder. */
  list(path: string): FolderEntry[] | null
  /** The path without links, as far as it exists. */
  realPath(path: string): string
}

export interface FolderEntry {
  name: string
  isFolder: boolean
  /** False for links and devices, whatever they lead to. */
  isFile: boolean
}

/** Far more than any sensible configuration or prompt needs, and small enough to read at once. */
export const MAX_FILE_BYTES = 1_048_576

export const diskFiles: ConfigFiles = {
  // Reads in pieces up to the limit, because a pipe has no size and a device has no end.
  read(path, limit) {
    const handle = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(limit)
      let length = 0
      while (length < limit) {
        const read = readSync(handle, bytes, length, limit - length, null)
        if (read === 0) break
        length += read
      }
      return bytes.subarray(0, length)
    } finally {
      closeSync(handle)
    }
  },
  list(path) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return null
    return readdirSync(path, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory(), isFile: entry.isFile() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  },
  realPath(path) {
    try {
      return realpathSync(path)
    } catch {
      const above = dirname(path)
      return above === path ? path : join(diskFiles.realPath(above), basename(path))
    }
  },
}

/** Records which files a configuration was made of: `paths` are absolute, of all that were asked for, existing or not. */
export function recordReading(files: ConfigFiles = diskFiles) {
  const asked = new Set<string>()
  const source: ConfigFiles = {
    ...files,
    read(path, limit) {
      asked.add(resolve(path))
      return files.read(path, limit)
    },
  }
  return { source, paths: () => [...asked] }
}

export type TextFile =
  | { text: string; problem: null; missing: false }
  | { text: null; problem: string; missing: boolean }

/** A file as text, without its byte order mark, or the reason why it cannot be read. */
export function readText(files: ConfigFiles, path: string): TextFile {
  let bytes: Uint8Array
  try {
    bytes = files.read(path, MAX_FILE_BYTES + 1)
  } catch (error) {
    return { text: null, problem: reasonOf(error), missing: systemErrorCode(error) === 'ENOENT' }
  }
  if (bytes.length > MAX_FILE_BYTES) return { text: null, problem: 'it is larger than 1 MiB', missing: false }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), problem: null, missing: false }
  } catch {
    return { text: null, problem: 'it is not UTF-8 text', missing: false }
  }
}

/** Why a file cannot be read, whatever its size and type; null if it can. */
export function fileProblem(files: ConfigFiles, path: string): string | null {
  try {
    files.read(path, 1)
    return null
  } catch (error) {
    return reasonOf(error)
  }
}

function reasonOf(error: unknown): string {
  const code = systemErrorCode(error)
  return reasons[code] ?? `it cannot be read (${code || 'unknown reason'})`
}

const reasons: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
}
