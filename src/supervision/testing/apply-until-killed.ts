// A process that applies a change and kills itself before the n-th thing that it does to the disk. Arguments: the change as JSON, the
// file in which it records that the approval is used, and n. Prints nothing; exits with 0 if it came to the end.

import { writeFileSync } from 'node:fs'
import disk from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const [change = '', record = '', stepToDie = ''] = process.argv.slice(2)
let left = Number(stepToDie)

function step(): void {
  left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}

/** Counts each call of a function. `open` counts if it creates a file. */
function countCalls(owner: object, names: readonly string[]): void {
  for (const name of names) {
    const original: unknown = Reflect.get(owner, name)
    if (typeof original !== 'function') throw new Error(`There is no ${name}.`)
    Reflect.set(owner, name, function counted(this: unknown, ...args: unknown[]): unknown {
      if (name !== 'open' || args.length === 3) step()
      return Reflect.apply(original, this, args)
    })
  }
}

const file = await disk.open(import.meta.filename)
countCalls(Object.getPrototypeOf(file), ['writeFile', 'chmod', 'sync'])
await file.close()
countCalls(disk, ['open', 'mkdir', 'rm', 'link', 'rename', 'unlink'])
syncBuiltinESMExports()

const { createChangeWriter } = await import('../diffs/change-writer.ts')
const { after, ...facts } = JSON.parse(change)
await createChangeWriter().apply(
  { ...facts, after: after === null ? null : Buffer.from(after, 'base64') },
  {
    beforeRename: async () => {
      step()
      writeFileSync(record, 'used')
      step()
    },
  },
)
