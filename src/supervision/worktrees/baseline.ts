// What the agent began with: path → the workspace's file, as it was when it came into the worktree.

import { join } from 'node:path'
import { decodeManifest, encodeManifest } from '../checkpoints/manifest.ts'
import { createPrivateFiles } from '../checkpoints/private-files.ts'
import type { WorkspaceEntry } from '../checkpoints/read-entry.ts'
import { type Disk, systemDisk } from '../checkpoints/workspace-folder.ts'

export type Baseline = Map<string, WorkspaceEntry>

export const baselineFile = (folder: string, disk: Disk) => createManifestFile(join(folder, 'baseline'), disk)

/** The next baseline. It is there only while files are brought in or taken out. */
export const nextBaselineFile = (folder: string, disk: Disk) => createManifestFile(join(folder, 'next'), disk)

function createManifestFile(path: string, disk: Disk) {
  const files = createPrivateFiles(systemDisk)
  return {
    /** Null: there is none. */
    read: (): Baseline | null => (files.exists(path) ? decodeManifest(files.readAll(path)).files : null),
    /** Whole or not at all, also after a power cut. */
    write(entries: Baseline): void {
      const facts = { checkpointId: '', label: null, workspaceRoot: '', createdAt: 0 }
      const bytes = encodeManifest({ ...facts, files: entries, kept: new Set(), skipped: [], ignoreFiles: [] })
      const next = `${path}.new`
      disk.rmSync(next, { force: true })
      files.write(next, bytes, true)
      disk.renameSync(next, path)
      files.syncFolder(join(path, '..'))
    },
    remove: (): void => disk.rmSync(path, { force: true }),
  }
}
