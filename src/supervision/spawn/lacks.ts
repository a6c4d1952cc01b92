// What keeps a host from being started on this machine, and the command that fixes it.

import type { HostSettings } from '../../domain/agent/agent.ts'
import { acpOf } from '../../hosts/hosts.ts'
import { findProgram, type ProgramSearch } from '../commands/find-program.ts'
import type { Sandbox } from './sandbox.ts'

interface Lack {
  problem: string
  /** Null: no command fixes it. */
  command: string | null
}

/** Null: it can be started. */
export type Lacks = (host: HostSettings) => Promise<Lack | null>

interface LacksDeps {
  search: ProgramSearch
  /** Null: there is none on this machine. */
  sandbox: () => Promise<Sandbox | null>
}

export function createLacks({ search, sandbox }: LacksDeps): Lacks {
  return async (host) => {
    const { command, install } = acpOf(host.name)
    const { problem } = findProgram(host.command ?? command, search)
    if (problem !== null) {
      return { problem: `The agent cannot be started: ${problem}`, command: host.command === null ? install : null }
    }
    return (await sandbox()) === null ? { problem: NO_SANDBOX, command: BUBBLEWRAP } : null
  }
}

const NO_SANDBOX =
  'The agent cannot be started: there is no sandbox here, so it could write anywhere. It needs bubblewrap.'
/** On Debian and Ubuntu. */
const BUBBLEWRAP = 'apt install bubblewrap'
