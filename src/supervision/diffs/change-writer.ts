// Writes approved changes. A kill at any moment leaves the old file or the new one, never a part, and the hashes of the record say which.

import { constants, realpathSync } from 'node:fs'
import { type FileHandle, link, open, rename, rm, unlink } from 'node:fs/promises'
import { hasCode, ServerError } from '../../domain/errors.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { createTurns } from '../sessions/turns.ts'
import { type ConfinedPath, confine, violation } from '../workspace/confine.ts'
import { type OpenFolder, openFolder } from '../workspace/open-folder.ts'
import { readFileIn, readWorkspaceFile, sha256OfBytes, type WorkspaceFile } from '../workspace/read-workspace-file.ts'
import { changeDigest, type FileChange } from './propose-change.ts'

export interface ApprovedChange extends FileChange {
  workspaceRoot: string
}

export interface AppliedChange {
  files_written: { path: string; bytes: number }[]
  /** Sentences for the agent, the operator and the audit trail. */
  warnings: string[]
}

export interface ChangeWriter {
  /** The file still has what was approved as its "before". False too where the path leads to no ordinary file any more. */
  isUnchanged(change: ApprovedChange): Promise<boolean>
  /**
   * Writes a change if the file still has the content that was approved as its "before". With `force` it is written over whatever is
   * there, and a warning says so.
   *
   * `beforeRename` is called when everything is ready: there the caller records durably that the approval is used. If it throws, nothing
   * is written. Errors: `path_violation`, `patch_conflict`, `storage_full`, `storage_failed`. An error after `beforeRename` has
   * `details.consumed: true`; the file is then as it was, except if the disk failed in the last step.
   */
  apply(change: ApprovedChange, options: { force?: boolean; beforeRename: () => Promise<void> }): Promise<AppliedChange>
  /**
   * For a change whose approval is recorded as used, but not as applied: the process died in between. Writes it now if the file still
   * has its old content. `conflict`: the file has other content, and stays as it is.
   */
  finish(change: ApprovedChange): Promise<'applied' | 'conflict'>
  /** Removes what a kill left of an apply. For changes that are approved, but not used. */
  clean(change: ApprovedChange): Promise<void>
}

/** Writes of one workspace happen one after the other. Make one writer for each process. */
export function createChangeWriter(): ChangeWriter {
  const turns = createTurns()
  const inTurn = <T>(change: ApprovedChange, work: (place: ConfinedPath) => Promise<T>): Promise<T> =>
    turns(rootOf(change.workspaceRoot), async () => {
      const place = await confine(change.workspaceRoot, change.path)
      if (place.path !== change.path) throw violation(change.path, `it now leads to ${place.path}`)
      return await work(place)
    })
  return {
    async isUnchanged({ workspaceRoot, path, beforeHash }) {
      try {
        const place = await confine(workspaceRoot, path)
        return place.path === path && hashOf(await readWorkspaceFile(place)) === beforeHash
      } catch (error) {
        if (hasCode(error, 'path_violation', 'patch_conflict', 'invalid_diff')) return false
        throw error
      }
    },
    apply: (change, { force = false, beforeRename }) =>
      inTurn(change, (place) =>
        withFolder(place, change, (folder) => write(folder, place, change, force, beforeRename)),
      ),
    finish: (change) =>
      inTurn(change, (place) => withFolder(place, change, (folder) => finishIn(folder, place, change))).catch(
        unlessGone(change),
      ),
    clean: (change) =>
      inTurn(change, async ({ root, folders }) => {
        await using folder = await openFolder(root, folders, { create: false })
        if (folder !== null) await removeTemporary(folder, change)
      }),
  }
}

/** Not with a promise: writes must queue in the order in which they were asked for. */
function rootOf(workspaceRoot: string): string {
  try {
    return realpathSync(workspaceRoot)
  } catch {
    // `confine` says what is wrong with it.
    return workspaceRoot
  }
}

async function withFolder<T>(
  place: ConfinedPath,
  change: FileChange,
  work: (folder: OpenFolder) => Promise<T>,
): Promise<T> {
  const bytes = change.after
  if (bytes !== null && sha256OfBytes(bytes) !== change.afterHash) {
    throw new ServerError('invalid_diff', `The stored text of ${change.path} is not the text that was approved.`)
  }
  try {
    await using folder = await openFolder(place.root, place.folders, { create: change.kind === 'create' })
    if (folder === null) throw new FolderGone(change.path)
    try {
      return await work(folder)
    } catch (error) {
      await folder.undo()
      throw error
    }
  } catch (error) {
    throw asServerError(error, change.path)
  }
}

/** The name is the change's own, so that what a kill left can be found. */
const temporaryName = (change: FileChange): string => `.quarterdeck-${changeDigest(change).slice(0, 24)}.tmp`

const removeTemporary = (folder: OpenFolder, change: FileChange): Promise<void> =>
  rm(folder.at(temporaryName(change)), { force: true })

async function write(
  folder: OpenFolder,
  place: ConfinedPath,
  change: FileChange,
  force: boolean,
  beforeRename: () => Promise<void>,
): Promise<AppliedChange> {
  const now = async (): Promise<WorkspaceFile | null> => {
    const file = await readFileIn(folder, place)
    if (!force && hashOf(file) !== change.beforeHash) throw changedMeanwhile(change.path)
    return file
  }
  const file = await now()
  const warnings: string[] = []
  let isConsumed = false
  try {
    await removeTemporary(folder, change)
    if (change.after !== null) warnings.push(...(await writeTemporary(folder, change, change.after, file)))
    await now()
    await folder.check()
    await beforeRename()
    isConsumed = true
    // Recording took time. Whoever wrote meanwhile must not lose it: the window that is left is the one rename.
    const replaced = await now()
    await folder.check()
    if (hashOf(replaced) !== change.beforeHash)
      warnings.push('The file had changed after the approval and was replaced.')
    await moveIntoPlace(folder, place, change, force)
  } catch (error) {
    await removeTemporary(folder, change).catch(() => {})
    throw isConsumed ? asConsumed(asServerError(error, change.path)) : error
  }
  return appliedAs(change, warnings)
}

export const appliedAs = ({ path, after }: FileChange, warnings: string[]): AppliedChange => ({
  files_written: [{ path, bytes: after?.length ?? 0 }],
  warnings,
})

async function finishIn(folder: OpenFolder, place: ConfinedPath, change: FileChange): Promise<'applied' | 'conflict'> {
  await removeTemporary(folder, change)
  const file = await readFileIn(folder, place)
  const isThere = change.after === null ? file === null : file?.hash === change.afterHash
  if (isThere) {
    await folder.sync()
    return 'applied'
  }
  if (hashOf(file) !== change.beforeHash) return 'conflict'
  await write(folder, place, change, false, async () => {})
  return 'applied'
}

/** A path that no longer leads to an ordinary file is a conflict. A folder that is gone took the file with it. */
const unlessGone =
  (change: ApprovedChange) =>
  (error: unknown): 'applied' | 'conflict' => {
    if (error instanceof FolderGone) return change.after === null ? 'applied' : 'conflict'
    if (error instanceof ServerError && ['path_violation', 'patch_conflict'].includes(error.code)) return 'conflict'
    throw error
  }

const hashOf = (file: WorkspaceFile | null): string => file?.hash ?? 'new_file'

/** Returns warnings. */
async function writeTemporary(
  folder: OpenFolder,
  change: FileChange,
  bytes: Uint8Array,
  old: WorkspaceFile | null,
): Promise<string[]> {
  const noFollow = process.platform === 'win32' ? 0 : constants.O_NOFOLLOW
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow
  await using file = await open(folder.at(temporaryName(change)), flags, old === null ? 0o666 : 0o600)
  const warnings = old === null ? [] : await keepOwner(file, old)
  await file.writeFile(bytes)
  if (old !== null) await file.chmod(old.mode)
  await file.sync()
  return warnings
}

async function keepOwner(file: FileHandle, { uid, gid }: WorkspaceFile): Promise<string[]> {
  const stat = await file.stat()
  if (stat.uid === uid && stat.gid === gid) return []
  try {
    await file.chown(uid, gid)
    return []
  } catch {
    return ['The file belonged to another user or group. It now belongs to the user of the server.']
  }
}

async function moveIntoPlace(
  folder: OpenFolder,
  place: ConfinedPath,
  change: FileChange,
  force: boolean,
): Promise<void> {
  const target = folder.at(place.name)
  if (change.after === null) {
    // With `force`, the file may be gone already.
    if (force) await rm(target, { force: true })
    else await unlink(target)
  } else if (change.kind === 'create' && !force) await linkIntoPlace(folder, target, change)
  else await rename(folder.at(temporaryName(change)), target)
  await folder.sync()
}

/** Unlike a rename, a link never replaces a file that somebody creates at this moment. */
async function linkIntoPlace(folder: OpenFolder, target: string, change: FileChange): Promise<void> {
  const temporary = folder.at(temporaryName(change))
  try {
    await link(temporary, target)
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'EEXIST') throw changedMeanwhile(change.path)
    // Some disks have no hard links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error
    await rename(temporary, target)
    return
  }
  await unlink(temporary)
}

const CHANGED = 'was changed after the approval. Read it again and ask with a new diff.'

const changedMeanwhile = (path: string): ServerError => new ServerError('patch_conflict', `${path} ${CHANGED}`)

/** The folder of a file that existed is gone. */
class FolderGone extends ServerError {
  constructor(path: string) {
    super('patch_conflict', `${path} ${CHANGED}`)
  }
}

const asConsumed = (error: ServerError): ServerError =>
  new ServerError(error.code, error.message, { details: { ...error.details, consumed: true }, cause: error })

/** Errors of the file system that a person can do something about. Anything else is a bug and stays as it is. */
function asServerError(error: unknown, path: string): ServerError {
  if (error instanceof ServerError) return error
  const code = systemErrorCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ServerError(
      'storage_full',
      `There is no space left to write ${path}. Free some space, then try again.`,
      {
        cause: error,
      },
    )
  }
  if (code === 'EISDIR' || code === 'ELOOP' || code === 'ENOTDIR') return violation(path, 'it was replaced meanwhile')
  if (code !== '') {
    const message = `${path} cannot be written (${code}). Check the permissions of the workspace.`
    return new ServerError('storage_failed', message, { cause: error })
  }
  throw error
}
