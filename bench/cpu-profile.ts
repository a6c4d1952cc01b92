// Reads V8's .cpuprofile files: the time of a process by function.

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

interface SelfTime {
  /** `file:function`, with the file relative to `root`. V8's own entries are in parentheses. */
  where: string
  ms: number
}

/** Sum of the self time over all profiles in the folder (one per thread), largest first. Idle time is left out. */
export function selfTimes(folder: string, root: string): SelfTime[] {
  const total = new Map<string, number>()
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.cpuprofile'))) {
    const profile: CpuProfile = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    const names = new Map(profile.nodes.map((node) => [node.id, whereOf(node.callFrame, root)]))
    for (const [index, id] of profile.samples.entries()) {
      const where = names.get(id) ?? '(unknown)'
      total.set(where, (total.get(where) ?? 0) + (profile.timeDeltas[index] ?? 0) / 1000)
    }
  }
  total.delete('(idle)')
  return [...total].map(([where, ms]) => ({ where, ms })).sort((a, b) => b.ms - a.ms)
}

function whereOf(frame: { functionName: string; url: string; lineNumber: number }, root: string): string {
  if (frame.functionName.startsWith('(')) return frame.functionName
  const file = frame.url.startsWith('file:') ? relative(root, fileURLToPath(frame.url)) : frame.url || 'native'
  return `${file}:${frame.functionName || `anonymous at line ${frame.lineNumber + 1}`}`
}
