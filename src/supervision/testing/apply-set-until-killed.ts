// A process that applies a set and kills itself before the n-th file. Arguments: the workspace, the set as `packSet` makes it (a file) with
// its digest, the file in which it records that the approval is used, and n. Exits with 0 if it came to the end.

import { readFileSync, writeFileSync } from 'node:fs'
import { createChangeWriter } from '../diffs/change-writer.ts'
import { applyChangeSet } from '../worktrees/apply-change-set.ts'
import { unpackSet } from '../worktrees/change-set.ts'

const [workspaceRoot = '', packed = '', digest = '', record = '', toDie = ''] = process.argv.slice(2)
const writer = createChangeWriter()
let left = Number(toDie)

function step(): void {
  if (left === 0) process.kill(process.pid, 'SIGKILL')
  left -= 1
}

const stored: { diff: string; after: string } = JSON.parse(readFileSync(packed, 'utf8'))
const { changes } = unpackSet({ diff: stored.diff, after: Buffer.from(stored.after, 'base64') }, digest)
await applyChangeSet(
  { workspaceRoot, changes },
  {
    writer: {
      isUnchanged: writer.isUnchanged,
      async apply(change, options) {
        step()
        return await writer.apply(change, options)
      },
    },
    beforeFirst: async () => {
      step()
      writeFileSync(record, 'used')
    },
  },
)
step()
