// What has become of one file of a workspace since a checkpoint, for people.

import { hasCode, ServerError } from '../../domain/errors.ts'
import { secretText } from '../../domain/text/secret-file.ts'
import { decodeFile } from '../diffs/file-text.ts'
import { withHeaders } from '../diffs/propose-change.ts'
import { shownDiff } from '../diffs/show-change.ts'
import { unifiedDiff } from '../diffs/unified-diff.ts'
import { confine, refuseMoved } from '../workspace/confine.ts'
import { readWorkspaceFile } from '../workspace/read-workspace-file.ts'
import { refuseSecret } from '../workspace/secret-path.ts'
import type { WorkspaceEntry } from './read-entry.ts'

export interface FileDiff {
  path: string
  /** `same`: the bytes are. Its mode may differ. */
  change: 'modified' | 'deleted' | 'added' | 'same'
  /** A unified diff, and the same with marks for hidden characters. Null: `whyNot` says why. */
  diff: string | null
  shownDiff: string | null
  addedLines: number
  removedLines: number
  /** A sentence; null if there is a diff. */
  whyNot: string | null
}

/** What a checkpoint knows of a file. `bytes` is null if it has only the hash, or if there are too many. */
export interface KeptFile {
  entry: WorkspaceEntry | null
  bytes: Uint8Array | null
}

/** Of each side. Comparing larger texts would hold up the server. */
export const MAX_DIFF_BYTES = 1024 * 1024

/** Throws `path_violation`, and `file_not_found` if neither the checkpoint nor the workspace has the file. */
export async function diffOfFile(root: string, path: string, kept: KeptFile): Promise<FileDiff> {
  const present = await presentFile(root, path, kept.entry !== null)
  if (kept.entry === null && present === null) {
    throw new ServerError('file_not_found', 'Neither the checkpoint nor the workspace has this file.')
  }
  const change = kept.entry === null ? 'added' : present === null ? 'deleted' : 'modified'
  const none = { path, change, diff: null, shownDiff: null, addedLines: 0, removedLines: 0 } as const
  const before = kept.entry === null ? '' : textOfKept(kept, path)
  const now = present === null ? '' : present
  const whyNot = [before, now].find((side) => typeof side !== 'string')
  if (typeof whyNot === 'object') return { ...none, whyNot: whyNot.whyNot }
  return compare(path, change, String(before), String(now))
}

/** A reason in the place of a text. */
interface NotShown {
  whyNot: string
}

const KINDS = { added: 'create', deleted: 'delete', modified: 'modify' } as const

function compare(path: string, change: 'modified' | 'deleted' | 'added', before: string, now: string): FileDiff {
  const { hunks, addedLines, removedLines } = unifiedDiff(before, now)
  if (hunks === '' && change === 'modified') {
    return { path, change: 'same', diff: '', shownDiff: '', addedLines, removedLines, whyNot: null }
  }
  const diff = withHeaders(path, KINDS[change], hunks)
  return { path, change, diff, shownDiff: shownDiff({ path, diff }).text, addedLines, removedLines, whyNot: null }
}

function textOfKept({ entry, bytes }: KeptFile, path: string): string | NotShown {
  if (entry?.type === 'link') return { whyNot: 'At the checkpoint it was a link.' }
  if (bytes !== null) return textOf(bytes, path)
  return { whyNot: (entry?.bytes ?? 0) > MAX_DIFF_BYTES ? TOO_LARGE : 'The checkpoint has its hash, not its contents.' }
}

/** Null: there is no such file now. */
async function presentFile(root: string, path: string, isKnown: boolean): Promise<string | NotShown | null> {
  try {
    refuseSecret(path, path)
    const place = await confine(root, path)
    refuseMoved(root, place.root)
    refuseSecret(place.path, path)
    const file = await readWorkspaceFile(place)
    return file === null ? null : textOf(file.bytes, path)
  } catch (error) {
    if (!(error instanceof ServerError)) throw error
    if (error.code === 'forbidden') return { whyNot: error.message }
    if (error.code === 'invalid_diff') return { whyNot: TOO_LARGE }
    // A link or a folder has taken its place.
    if (error.code === 'path_violation' && isKnown) return { whyNot: error.message }
    throw error
  }
}

const TOO_LARGE = 'It is larger than 1 MB, so it is not compared here.'

function textOf(bytes: Uint8Array, path: string): string | NotShown {
  if (bytes.length > MAX_DIFF_BYTES) return { whyNot: TOO_LARGE }
  try {
    const { text } = decodeFile(bytes, path)
    const secret = secretText(text)
    return secret === null ? text : { whyNot: `It is not shown here. ${secret}` }
  } catch (error) {
    if (hasCode(error, 'invalid_diff')) return { whyNot: 'It is not text.' }
    throw error
  }
}
