import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * The path of a program of this machine that some tests need. Without it they are skipped, and the run says so. Where
 * `QUARTERDECK_REQUIRE_DEPLOY=1`, as in CI, a missing program of Debian throws instead.
 */
export function findProgram(name: string, howToGetIt: string, isInDebian = true): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].filter((folder) => folder !== '')
  const path = folders.map((folder) => join(folder, name)).find(canBeStarted)
  if (path !== undefined) return path
  const message = `${name} was not found: ${howToGetIt}.`
  if (isInDebian && process.env.QUARTERDECK_REQUIRE_DEPLOY === '1') throw new Error(message)
  process.stderr.write(`Tests with ${name} are skipped. ${message}\n`)
  return null
}

function canBeStarted(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
