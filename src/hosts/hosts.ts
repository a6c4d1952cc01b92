// The hosts that Quarterdeck knows. To add one: a file beside this one, and a line here.

import { basename } from 'node:path'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { custom } from './custom.ts'
import { gemini } from './gemini.ts'
import type { Host, Launcher } from './host.ts'

export const hosts = { claude, codex, copilot, gemini } satisfies Record<string, Host>

export type HostName = keyof typeof hosts

export const hostNames = Object.keys(hosts) as HostName[]

export const isHostName = (name: string): name is HostName => Object.hasOwn(hosts, name)

/** A host as something to start. */
export interface NamedLauncher extends Launcher {
  name: HostName | 'custom'
}

/** How to start a program, by the name of its file. */
export function launcherFor(program: string): NamedLauncher {
  const name = basename(program).replace(/\.(?:exe|cmd|js)$/i, '')
  return isHostName(name) ? { ...hosts[name], name } : { ...custom, name: 'custom' }
}
