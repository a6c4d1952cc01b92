// Which processes exist. A process is known by its number and its start: the system gives the number of a dead process to a new one.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface ProcessMark {
  pid: number
  /** Tells this process apart from all others that ever had its number. */
  started: string
}

interface Stat {
  pid: number
  parent: number
  group: number
  started: string
  isDead: boolean
}

/** The mark of a running process. Null: there is none, or this system cannot tell. */
export function markOf(pid: number): ProcessMark | null {
  if (process.platform === 'linux') {
    const stat = statOf(pid)
    return stat === null || stat.isDead ? null : { pid, started: `${bootId()} ${stat.started}` }
  }
  if (process.platform === 'win32') return null
  try {
    // Exit code 1: there is no such process.
    const [state = '', ...started] = execFileSync('/bin/ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { LC_ALL: 'C' },
    })
      .trim()
      .split(/\s+/)
    return started.length === 0 || state.startsWith('Z') ? null : { pid, started: started.join(' ') }
  } catch {
    return null
  }
}

export const isSameProcess = ({ pid, started }: ProcessMark): boolean => markOf(pid)?.started === started

/**
 * The groups of the living descendants of a process, without its own. They are all of its making: no process can join a group of another
 * session, and a child of ours begins a session. Linux only; elsewhere none are found.
 */
export function groupsBelow(pid: number): number[] {
  if (process.platform !== 'linux') return []
  const children = Map.groupBy(living(), ({ parent }) => parent)
  const groups = new Set<number>()
  const open = [pid]
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const child of children.get(parent) ?? []) {
      groups.add(child.group)
      open.push(child.pid)
    }
  }
  groups.delete(pid)
  return [...groups]
}

/**
 * What every process that we start can be known by, wherever it goes: a variable that descendants inherit, and that names us. Null: this
 * system cannot tell.
 */
export function ownSign(): string | null {
  const own = process.platform === 'linux' ? markOf(process.pid) : null
  // The same number may be another process in a container.
  return own === null ? null : `${readlinkSync('/proc/self/ns/pid')} ${own.pid} ${own.started}`
}

/** The groups of the living processes whose variable fits, as far as we may look at them. Our own is never one of them. */
export function groupsSigned(variable: string, fits: (sign: string) => boolean): number[] {
  if (process.platform !== 'linux') return []
  const signed = living().filter(({ pid }) => {
    const sign = variableOf(pid, variable)
    return sign !== null && fits(sign)
  })
  const groups = new Set(signed.map(({ group }) => group))
  groups.delete(statOf(process.pid)?.group ?? 0)
  return [...groups]
}

/** Whether a sign names a process of this system that has ended. */
export function isSignOfDead(sign: string): boolean {
  const [namespace, pid, ...started] = sign.split(' ')
  if (namespace !== readlinkSync('/proc/self/ns/pid')) return false
  return !isSameProcess({ pid: Number(pid), started: started.join(' ') })
}

function variableOf(pid: number, name: string): string | null {
  try {
    const start = `${name}=`
    const found = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .find((one) => one.startsWith(start))
    return found?.slice(start.length) ?? null
  } catch {
    return null
  }
}

/** Whether a process of this group lives. Linux only. A dead process that nobody has reaped yet does not count. */
export const hasLiving = (group: number): boolean => living().some((one) => one.group === group)

const living = (): Stat[] =>
  readdirSync('/proc').flatMap((name) => {
    const one = /^\d+$/.test(name) ? statOf(Number(name)) : null
    return one === null || one.isDead ? [] : [one]
  })

function statOf(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of a program, in brackets, may itself have brackets and blanks.
    const [state, parent, group, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const isDead = state === 'Z' || state === 'X'
    return { pid, parent: Number(parent), group: Number(group), started: rest[16] ?? '', isDead }
  } catch {
    return null
  }
}

/** The start of a process is counted from the start of the machine. */
const bootId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}
