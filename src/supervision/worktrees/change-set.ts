// All that a hosted agent has changed in its worktree: one set, one digest, one approval.

import { ServerError } from '../../domain/errors.ts'
import type { Proposal } from '../../domain/supervision/supervision.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import { changeDigest, editedChange, type ProposedChange } from '../diffs/propose-change.ts'
import { sha256OfBytes } from '../workspace/read-workspace-file.ts'

/** One file of a set. */
export interface SetChange extends ProposedChange {
  /** What the worktree had when the set was made: SHA-256 in hex, or `deleted`. A person's edit does not change it. */
  agentHash: string
}

/** Something in the worktree that cannot become a change. It is never written to the workspace. */
export interface LeftFile {
  /** As it is on the disk. Pass it through `visibleText` before you show it. */
  path: string
  /** A sentence for people. */
  why: string
}

export interface ChangeSet {
  /** What the approval is bound to: every file, from exactly these bytes to exactly those. */
  digest: string
  /** Sorted by path. */
  changes: SetChange[]
  /** Sorted by path. */
  left: LeftFile[]
}

export function changeSetOf(changes: readonly SetChange[], left: readonly LeftFile[]): ChangeSet {
  const sorted = changes.toSorted(byPath)
  const digests = sorted.map((change) => [change.path, changeDigest(change)])
  return { digest: sha256(canonicalJson(['change_set', digests])), changes: sorted, left: left.toSorted(byPath) }
}

const byPath = (a: { path: string }, b: { path: string }): number => (a.path < b.path ? -1 : 1)

/** What a person does to a set before the yes. */
export interface SetEdits {
  /** Paths of files that stay in the worktree and are not written. */
  leave: readonly string[]
  /** By path: a patch of the file as it is on disk, or its whole new text. */
  edits: Readonly<Record<string, string>>
}

export interface EditedSet {
  set: ChangeSet
  /** For the agent: from its text to the person's. */
  differences: { path: string; difference: string }[]
}

/**
 * The set as a person wants it, with a digest of its own. Throws `invalid_request` for a path that is not in the set or if nothing
 * remains, and as `proposeChange` does for an edit.
 */
export async function editedSet(
  { changes, left }: ChangeSet,
  { leave, edits }: SetEdits,
  at: { workspaceRoot: string; serverPaths: readonly string[] },
): Promise<EditedSet> {
  const texts = new Map(Object.entries(edits))
  const paths = new Set(changes.map(({ path }) => path))
  const unknown = [...leave, ...texts.keys()].find((path) => !paths.has(path))
  if (unknown !== undefined) {
    throw new ServerError('invalid_request', `"${visibleText(unknown)}" is not a file of this change.`)
  }
  const kept = changes.filter(({ path }) => !leave.includes(path))
  if (kept.length === 0) {
    throw new ServerError('invalid_request', 'This leaves out every file. Reject the change instead.')
  }
  const differences: EditedSet['differences'] = []
  const next: SetChange[] = []
  for (const stored of kept) {
    const diff = texts.get(stored.path)
    if (diff === undefined) {
      next.push(stored)
      continue
    }
    const { change, difference } = await editedChange(stored, { diff, ...at })
    differences.push({ path: stored.path, difference })
    next.push({ ...change, agentHash: stored.agentHash })
  }
  return { set: changeSetOf(next, left), differences }
}

/** The set as the store keeps it: one text for people and one row of bytes. */
export type PackedSet = Pick<Proposal, 'diff'> & { after: Uint8Array }

interface PackedHead {
  format: typeof FORMAT
  changes: (Omit<SetChange, 'diff' | 'after'> & { diffChars: number; bytes: number | null })[]
  left: LeftFile[]
}

const FORMAT = 'quarterdeck-changes-1'
const LINE_BREAK = 0x0a

export function packSet({ changes, left }: ChangeSet): PackedSet {
  const head: PackedHead = {
    format: FORMAT,
    changes: changes.map(({ diff, after, ...facts }) => ({
      ...facts,
      diffChars: diff.length,
      bytes: after?.length ?? null,
    })),
    left,
  }
  const bytes = changes.flatMap(({ after }) => (after === null ? [] : [after]))
  return {
    diff: changes.map(({ diff }) => diff).join(''),
    after: Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...bytes]),
  }
}

/** Throws `invalid_diff` if the row is gone, or holds anything but the set with this digest. */
export function unpackSet(stored: Pick<Proposal, 'diff' | 'after'> | null, digest: string): ChangeSet {
  if (stored === null || stored.after === null) {
    throw new ServerError('invalid_diff', 'The text of this approval is gone. Ask for a new one.')
  }
  const set = readPacked(stored.diff, stored.after)
  const isWhole = set?.changes.every(
    ({ after, afterHash }) => (after === null ? 'deleted' : sha256OfBytes(after)) === afterHash,
  )
  if (set === null || isWhole !== true || set.digest !== digest) {
    throw new ServerError('invalid_diff', 'The stored change is not the one that was approved. Ask for a new approval.')
  }
  return set
}

/** Null: this is no packed set. */
function readPacked(diff: string, bytes: Uint8Array): ChangeSet | null {
  const start = bytes.indexOf(LINE_BREAK) + 1
  try {
    // What the digest covers is checked by the caller; the rest was written by `packSet`.
    const head: PackedHead = JSON.parse(Buffer.from(bytes.subarray(0, start)).toString('utf8'))
    if (head.format !== FORMAT) return null
    let [at, chars] = [start, 0]
    const changes = head.changes.map(({ diffChars, bytes: length, ...facts }): SetChange => {
      const after = length === null ? null : bytes.subarray(at, at + length)
      at += length ?? 0
      chars += diffChars
      return { ...facts, diff: diff.slice(chars - diffChars, chars), after }
    })
    return at === bytes.length && chars === diff.length ? changeSetOf(changes, head.left) : null
  } catch {
    return null
  }
}
