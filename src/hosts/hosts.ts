// The hosts that Quarterdeck knows. To add one: a file beside this one, and a line here.

import { basename } from 'node:path'
import { ServerError } from '../domain/errors.ts'
import { isRecord } from '../domain/is-record.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { gemini } from './gemini.ts'
import { type AcpWords, type Host, type Launcher, mcpFile, onlyDiff } from './host.ts'

export const hosts = { claude, codex, copilot, gemini } satisfies Record<string, Host>

export type HostName = keyof typeof hosts

export const hostNames = Object.keys(hosts) as HostName[]

export const isHostName = (name: string): name is HostName => Object.hasOwn(hosts, name)

/** `claude` in a hook and `claude-code` in a handshake are the same program. One that nobody knows is what it calls itself. */
export const programOf = (host: string): string =>
  hostNames.find((name) => name === host || hosts[name].call.client.test(host)) ?? host

/** A host as something to start. */
export interface NamedLauncher extends Launcher {
  name: HostName | 'custom'
}

/** How to start a program, by the name of its file. */
export function launcherFor(program: string): NamedLauncher {
  const name = basename(program).replace(/\.(?:exe|cmd|js)$/i, '')
  return isHostName(name) ? { ...hosts[name], name } : { ...custom, name: 'custom' }
}

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
  endsAtNo: false,
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

const MCP_CONFIG = '{mcp_config}'
const PROMPT_FILE = '{prompt_file}'

/** A host that we do not know. The settings say where it reads the file with our server; without that it would never connect. */
const custom: Launcher = {
  ownFolders: ['.cache'],
  launch(request) {
    const { prompt, extraArgs, file } = request
    if (!extraArgs.some((one) => one.includes(MCP_CONFIG))) {
      throw new ServerError(
        'config_invalid',
        `Quarterdeck does not know how host_cli reads the address of an MCP server. Add an argument with ${MCP_CONFIG} to host_cli_args, in the place of the path of a JSON file. If the host takes no such file, it cannot be started from here: start it by hand, with quarterdeck connect.`,
      )
    }
    const takesFile = extraArgs.some((one) => one.includes(PROMPT_FILE))
    const args = extraArgs.map((one) =>
      one.replaceAll(MCP_CONFIG, () => file('mcp.json')).replaceAll(PROMPT_FILE, () => file('prompt.txt')),
    )
    return {
      args,
      files: { 'mcp.json': mcpFile(request), ...(takesFile ? { 'prompt.txt': prompt } : {}) },
      stdin: takesFile ? '' : prompt,
    }
  },
}
