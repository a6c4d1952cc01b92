// CPU and memory of a process and its children, from /proc. Linux only, like taskset and the disk shim.

import { readdirSync, readFileSync } from 'node:fs'

/** /proc counts in USER_HZ, which is 100 on every Linux that Node runs on. */
const MS_PER_TICK = 10

/** User and system time of all threads, including children, running or ended. */
export function cpuMs(pid: number): number {
  let ticks = 0
  for (const each of processTree(pid)) {
    const stat = read(`/proc/${each}/stat`)
    // The second field is the program's name in parentheses and may contain spaces. Fields 14 to 17 are utime, stime, cutime, cstime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    for (const field of fields.slice(11, 15)) ticks += Number(field)
  }
  return ticks * MS_PER_TICK
}

/** CPU time of all programs on all cores since the machine started, including time stolen by the hypervisor. */
export function machineBusyMs(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (
    read('/proc/stat').split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softirq + steal) * MS_PER_TICK
}

/** Resident memory in MB (1,000,000 bytes). */
export function rssMb(pid: number): number {
  let kib = 0
  for (const each of processTree(pid))
    kib += Number(/^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${each}/status`))?.[1] ?? 0)
  return (kib * 1024) / 1_000_000
}

/** True when the shared library of this name is mapped into the process. */
export function hasLibrary(pid: number, name: string): boolean {
  return read(`/proc/${pid}/maps`).includes(name)
}

/** The process and all its descendants. */
export function processTree(pid: number): number[] {
  const children = readTasks(pid).flatMap((task) => read(`/proc/${pid}/task/${task}/children`).trim().split(/\s+/))
  return [pid, ...children.filter((child) => child !== '').flatMap((child) => processTree(Number(child)))]
}

function readTasks(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** The content of a file; empty when the process has just ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
