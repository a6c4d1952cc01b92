// Loaded into a server before its program: once the file ARM_FILE exists, the process kills itself before the n-th thing (DIE_AT) that it
// does to the disk for a change of an agent elsewhere. The database writes past this, so its commits are between the steps.
//   NODE_OPTIONS or --import file:///…/die-while-writing.ts

import { existsSync } from 'node:fs'
import disk from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const armFile = process.env.ARM_FILE ?? ''
let left = Number(process.env.DIE_AT)
let isWriting = false

/** The temporary file of a change is the first thing that is touched. */
function step(path: unknown): void {
  isWriting ||= typeof path === 'string' && path.includes('.quarterdeck-') && existsSync(armFile)
  if (!isWriting) return
  left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}

function count(owner: object, names: readonly string[]): void {
  for (const name of names) {
    const original: unknown = Reflect.get(owner, name)
    if (typeof original !== 'function') throw new Error(`There is no ${name}.`)
    Reflect.set(owner, name, function counted(this: unknown, ...args: unknown[]): unknown {
      // Opening counts if it creates.
      if (name !== 'open' || args.length === 3) step(args[0])
      return Reflect.apply(original, this, args)
    })
  }
}

const file = await disk.open(import.meta.filename)
count(Object.getPrototypeOf(file), ['writeFile', 'chmod', 'sync'])
await file.close()
count(disk, ['open', 'rm', 'link', 'rename', 'unlink'])
syncBuiltinESMExports()
