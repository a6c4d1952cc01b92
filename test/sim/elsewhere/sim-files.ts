// The files of the workspaces of one trial, and a writer of changes with the promises of the real one.

import { ServerError } from '../../../src/domain/errors.ts'
import type { AppliedChange, ApprovedChange, ChangeWriter } from '../../../src/supervision/diffs/change-writer.ts'
import { type ChangeRequest, changeDigest, type ProposedChange } from '../../../src/supervision/diffs/propose-change.ts'
import { createTurns } from '../../../src/supervision/sessions/turns.ts'
import { sha256OfBytes } from '../../../src/supervision/workspace/read-workspace-file.ts'
import type { SimProcess } from '../process.ts'
import type { Random } from '../random.ts'

/** What is in the workspaces, and everything that the server wrote there. */
export interface SimFiles {
  contents: Map<string, string>
  writes: { path: string; text: string; digest: string; life: number }[]
}

const textOf = (bytes: Uint8Array | null): string => new TextDecoder().decode(bytes ?? new Uint8Array())
export const placeOf = ({ workspaceRoot, path }: Pick<ApprovedChange, 'workspaceRoot' | 'path'>) =>
  `${workspaceRoot}/${path}`

export const hashOf = (text: string | undefined): string =>
  text === undefined ? 'new_file' : sha256OfBytes(new TextEncoder().encode(text))

/** The whole new text of a file, as a change. */
export function proposeIn({ contents }: SimFiles, { workspaceRoot, filePath, diff }: ChangeRequest): ProposedChange {
  const before = contents.get(placeOf({ workspaceRoot, path: filePath }))
  const after = new TextEncoder().encode(diff)
  return {
    path: filePath,
    kind: before === undefined ? 'create' : 'modify',
    beforeHash: hashOf(before),
    afterHash: sha256OfBytes(after),
    after,
    diff: `--- ${filePath}\n+++ ${filePath}\n+${diff}`,
    addedLines: 1,
    removedLines: 0,
    warnings: [],
    risk: 'low',
    protectedBecause: null,
    hasHiddenText: false,
    isBinary: false,
  }
}

/** A writer with the promises of the real one. The process can die between any two of its steps. */
export function createSimWriter(files: SimFiles, process: SimProcess, random: Random): ChangeWriter {
  const turns = createTurns()
  const step = () => process.pause(random.float() * 20)
  const current = (change: ApprovedChange) => hashOf(files.contents.get(placeOf(change)))

  function put(change: ApprovedChange): AppliedChange {
    const text = textOf(change.after)
    files.contents.set(placeOf(change), text)
    files.writes.push({ path: placeOf(change), text, digest: changeDigest(change), life: process.number })
    return { files_written: [{ path: change.path, bytes: change.after?.length ?? 0 }], warnings: [] }
  }

  return {
    async isUnchanged(change) {
      await step()
      return current(change) === change.beforeHash
    },
    apply: (change, { force = false, beforeRename }) =>
      turns(change.workspaceRoot, async () => {
        await step()
        const check = () => {
          if (!force && current(change) !== change.beforeHash) {
            throw new ServerError('patch_conflict', `${change.path} has changed.`)
          }
        }
        check()
        await beforeRename()
        await step()
        check()
        const applied = put(change)
        await step()
        return applied
      }),
    finish: (change) =>
      turns(change.workspaceRoot, async () => {
        await step()
        if (current(change) === change.afterHash) return 'applied'
        if (current(change) !== change.beforeHash) return 'conflict'
        put(change)
        await step()
        return 'applied'
      }),
    clean: step,
  }
}
