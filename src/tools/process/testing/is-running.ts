import { readFileSync } from 'node:fs'

/** A zombie does not run: it only waits to be counted. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    if (process.platform !== 'linux') return true
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
  } catch {
    return false
  }
}
