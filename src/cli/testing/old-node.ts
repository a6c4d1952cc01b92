import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A Node before 24 on this machine, as most newcomers have, or null. */
export function findOldNode(): string | null {
  const candidates = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  return (
    candidates.find((node) => {
      if (!existsSync(node)) return false
      const major = Number(/^v(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout)?.[1])
      return major >= 18 && major < 24
    }) ?? null
  )
}
