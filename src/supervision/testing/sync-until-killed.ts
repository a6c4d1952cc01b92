// A process that brings a worktree up to date and kills itself before the n-th thing that it does to the disk. Arguments: the request as JSON
// and n. Exits with 0 if it came to the end.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [request = '', toDie = ''] = process.argv.slice(2)
let left = Number(toDie)

for (const name of ['mkdirSync', 'renameSync', 'rmdirSync', 'unlinkSync', 'fchmodSync'] as const) {
  const original: unknown = Reflect.get(fs, name)
  if (typeof original !== 'function') throw new Error(`There is no ${name}.`)
  Reflect.set(fs, name, (...args: unknown[]): unknown => {
    if (left === 0) process.kill(process.pid, 'SIGKILL')
    left -= 1
    return Reflect.apply(original, fs, args)
  })
}
syncBuiltinESMExports()

const { syncWorktree } = await import('../worktrees/sync-worktree.ts')
syncWorktree(JSON.parse(request), () => 0)
