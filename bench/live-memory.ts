import { existsSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export interface LiveMemory {
  /** The main thread's heap and what it keeps alive outside the heap (buffers). */
  aliveMb: number
  rssMb: number
}

/** The environment variable that names the file `memory-probe.ts` writes to. */
export const PROBE_FILE = 'QUARTERDECK_BENCH_MEMORY'

/** Asks a process with the probe to collect garbage and report what is alive. */
export async function liveMemory(pid: number, file: string): Promise<LiveMemory> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  for (let tries = 0; tries < 200; tries += 1) {
    await delay(25)
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  }
  throw new Error('The server did not report how much memory is alive. Was bench/memory-probe.ts loaded?')
}
