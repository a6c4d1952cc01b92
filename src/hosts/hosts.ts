// The hosts that Quarterdeck knows. To add one: a file beside this one, and a line here.

import { isRecord } from '../domain/is-record.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { gemini } from './gemini.ts'
import { type AcpWords, type Host, onlyDiff } from './host.ts'

export const hosts = { claude, codex, copilot, gemini } satisfies Record<string, Host>

export type HostName = keyof typeof hosts

export const hostNames = Object.keys(hosts) as HostName[]

export const isHostName = (name: string): name is HostName => Object.hasOwn(hosts, name)

/** `claude` in a hook and `claude-code` in a handshake are the same program. One that nobody knows is what it calls itself. */
export const programOf = (host: string): string =>
  hostNames.find((name) => name === host || hosts[name].call.client.test(host)) ?? host

/** Of a program that we do not know. It has to ask by itself, and its calls are known by what the protocol says of them. */
const customAcp: AcpWords = {
  command: '',
  args: [],
  install: '',
  credentials: [],
  authMethod: null,
  env: {},
  askingMode: '',
  bold: { modes: [], options: {} },
  commands: null,
  writesThroughClient: false,
  toolOf(call) {
    const { kind, rawInput } = call
    const input = isRecord(rawInput) ? rawInput : {}
    if (kind === 'execute' && typeof input.command === 'string') return { tool: 'exec', input }
    const diff = onlyDiff(call)
    if (kind === 'edit' && diff !== null)
      return { tool: 'writefile', input: { file_path: diff.path, content: diff.next } }
    return null
  },
}

export const acpOf = (name: string): AcpWords => (isHostName(name) ? hosts[name].acp : customAcp)
