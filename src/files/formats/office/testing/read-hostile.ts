// A process that reads the hostile files named on its command line and reports the cost: memory can only be
// measured for a whole process.

import { readFileSync } from 'node:fs'
import { cpuUsage, platform, resourceUsage } from 'node:process'
import { ServerError } from '../../../../domain/errors.ts'
import { readDocx } from '../docx/read-docx.ts'
import { readPptx } from '../pptx/read-pptx.ts'
import { readXlsx } from '../xlsx/read-xlsx.ts'

const read = { docx: readDocx, xlsx: readXlsx, pptx: readPptx }

interface HostileResult {
  name: string
  /** The code of the error, `crash` for any other error, or `read`. */
  code: string
  message: string
  /** Processor time, because the clock of a busy machine says little. */
  milliseconds: number
}

export interface HostileReport {
  results: HostileResult[]
  /** The peak memory of the process, in MB. */
  peak: number
}

const jobs: { name: string; kind: 'docx' | 'xlsx' | 'pptx'; path: string }[] = JSON.parse(process.argv[2] ?? '[]')
const results: HostileResult[] = []
for (const { name, kind, path } of jobs) {
  const before = cpuUsage()
  let code = 'read'
  let message = ''
  try {
    await read[kind](path)
  } catch (error) {
    code = error instanceof ServerError ? error.code : 'crash'
    message = error instanceof Error ? error.message : String(error)
  }
  const { user, system } = cpuUsage(before)
  results.push({ name, code, message, milliseconds: (user + system) / 1000 })
}
const report: HostileReport = { results, peak: peakMemory() }
process.stdout.write(JSON.stringify(report))

/** On Linux `maxRSS` is inherited from the process that started this one. */
function peakMemory(): number {
  if (platform !== 'linux') return resourceUsage().maxRSS / 1024
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
}
