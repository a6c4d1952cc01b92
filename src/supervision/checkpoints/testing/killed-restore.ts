// A process that restores a checkpoint and is killed at one of its renames.

import * as fs from 'node:fs'
import { type RestoreRequest, restoreWorkspace } from '../restore-workspace.ts'
import { createSnapshotStore } from '../snapshot-store.ts'
import { type Disk, systemDisk } from '../workspace-folder.ts'

process.once(
  'message',
  ({ folder, request, renames }: { folder: string; request: RestoreRequest; renames: number }) => {
    let left = renames
    const disk: Disk = {
      ...systemDisk,
      renameSync(from, to) {
        left -= 1
        if (left === 0) process.kill(process.pid, 'SIGKILL')
        fs.renameSync(from, to)
      },
    }
    restoreWorkspace(request, { store: createSnapshotStore(folder, disk), mono: () => 0, disk })
    process.disconnect()
  },
)
