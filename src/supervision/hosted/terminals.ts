// Commands that the program of a hosted agent has us run (`writes: client`), each after a person or a policy has allowed it.

import type {
  CreateTerminalRequest,
  TerminalExitStatus,
  TerminalOutputResponse,
  WaitForTerminalExitResponse,
} from '@agentclientprotocol/sdk'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { ProcessGroup, ProcessGroups } from '../../tools/process/process-groups.ts'

export interface Terminals {
  start(request: CreateTerminalRequest): Promise<string>
  output(id: string): Promise<TerminalOutputResponse>
  exit(id: string): Promise<WaitForTerminalExitResponse>
  kill(id: string): Promise<object>
  release(id: string): Promise<object>
  /** What it has written so far, for people. */
  text(id: string): string
  close(): Promise<void>
}

interface TerminalsDeps {
  processes: ProcessGroups
  ids: Ids
  /** The command line that runs this one as the settings say. */
  inPlace(command: readonly [string, ...string[]]): readonly [string, ...string[]]
  env: Readonly<Record<string, string>>
  /** Throws unless it is a folder of the workspace. */
  folder(cwd: string | null): string
}

const MOST_OUTPUT = 1_000_000
const MOST_TERMINALS = 32

interface Terminal {
  group: ProcessGroup
  output: string
  limit: number
  truncated: boolean
  status: TerminalExitStatus | null
}

export function createTerminals({ processes, ids, inPlace, env, folder }: TerminalsDeps): Terminals {
  const open = new Map<string, Terminal>()

  function find(id: string): Terminal {
    const terminal = open.get(id)
    if (terminal === undefined) throw new ServerError('invalid_request', `There is no terminal ${JSON.stringify(id)}.`)
    return terminal
  }

  /** The newest output is kept: the protocol cuts from the beginning. */
  function add(terminal: Terminal, text: string): void {
    const all = terminal.output + text
    terminal.truncated ||= all.length > terminal.limit
    terminal.output = all.slice(Math.max(0, all.length - terminal.limit)).toWellFormed()
  }

  return {
    async start({ command, args = [], env: more = [], cwd = null, outputByteLimit }) {
      if (open.size >= MOST_TERMINALS) {
        throw new ServerError('limit', `${MOST_TERMINALS} terminals are open. Release one first.`)
      }
      const [program, ...rest] = inPlace([command, ...args])
      const own = Object.fromEntries(more.map(({ name, value }) => [name, value]))
      const group = processes.start({
        command: program,
        args: rest,
        env: { ...env, ...own },
        directory: folder(cwd),
        patience: { inputClosedMs: 0 },
      })
      group.stdin.end()
      const limit = Math.min(MOST_OUTPUT, Math.max(0, outputByteLimit ?? MOST_OUTPUT))
      const terminal: Terminal = { group, output: '', limit, truncated: false, status: null }
      for (const stream of [group.stdout, group.stderr]) {
        const decoder = new TextDecoder()
        stream.on('data', (chunk: Buffer) => add(terminal, decoder.decode(chunk, { stream: true })))
      }
      void group.gone.then((end) => {
        terminal.status =
          end.kind === 'exit' ? { exitCode: end.code } : { signal: end.kind === 'signal' ? end.signal : end.code }
      })
      const id = ids.uuid()
      open.set(id, terminal)
      return id
    },
    async output(id) {
      const { output, truncated, status } = find(id)
      return { output, truncated, exitStatus: status }
    },
    async exit(id) {
      const terminal = find(id)
      await terminal.group.gone
      return { ...terminal.status }
    },
    async kill(id) {
      await find(id).group.end()
      return {}
    },
    async release(id) {
      const { group } = find(id)
      open.delete(id)
      await group.end()
      return {}
    },
    text: (id) => open.get(id)?.output ?? '',
    async close() {
      const all = [...open.values()]
      open.clear()
      await Promise.all(all.map(({ group }) => group.end()))
    },
  }
}
