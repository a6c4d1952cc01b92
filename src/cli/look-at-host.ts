// What would keep the program of a hosted agent from working, for `doctor` and `validate`.

import { accessSync, constants, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type HostAgent, UNCONFINED } from '../domain/agent/agent.ts'
import { isRecord } from '../domain/is-record.ts'
import { acpOf } from '../hosts/hosts.ts'
import { findProgram } from '../supervision/commands/find-program.ts'
import { findSandbox, IS_HIDDEN, isTemporary } from '../supervision/spawn/sandbox.ts'
import type { Io } from './terminal/io.ts'

export interface HostFinding {
  /** The key of the agent file that it is about. */
  path: readonly string[]
  status: 'ok' | 'warn' | 'fail'
  /** Without it the server does not start. */
  isNeeded: boolean
  detail: string
  /** What to do about it; empty: nothing. */
  mend: string
}

/** Starts nothing but bubblewrap, with nothing in it. */
export async function lookAtHost({ name, host }: HostAgent, { env }: Pick<Io, 'env'>): Promise<HostFinding[]> {
  const words = acpOf(host.name)
  const workspaces = host.workspace === null ? [] : [host.workspace]
  const search = { searchPath: env.PATH ?? '', workspaces }
  const finding = (key: string, status: HostFinding['status'], detail: string, mend = ''): HostFinding => ({
    path: ['host', key],
    status,
    isNeeded: key !== 'name' && key !== 'command',
    detail: `${name}: ${detail}`,
    mend,
  })
  const { program, problem } = findProgram(host.command ?? words.command, search)
  const key = host.command === null ? 'name' : 'command'
  const found =
    program === null
      ? finding(
          key,
          'fail',
          problem.replace(/\.$/, ''),
          words.install === '' ? '' : `Install it with: ${words.install}`,
        )
      : isTemporary(program) && !host.unconfined
        ? finding(key, 'fail', `${program} ${IS_HIDDEN}`)
        : finding(key, 'ok', `${host.name} is ${program}${versionOf(program)}`)
  const places = workspaces.map((folder) =>
    isWritable(folder)
      ? finding('workspace', 'ok', `works in ${folder}`)
      : finding('workspace', 'fail', `${folder} cannot be written`, 'Give this user the right to write there.'),
  )
  const unset = host.env.filter((one) => !env[one])
  const hasKey = words.credentials.length === 0 || words.credentials.some((one) => env[one])
  return [
    found,
    ...places,
    await sandboxFinding(finding, host.unconfined, findProgram('bwrap', search).program),
    ...unset.map((one) => finding('env', 'warn', `${one} is not set, so the program does not get it`, `Set ${one}.`)),
    ...(hasKey
      ? []
      : [
          finding(
            'env',
            'warn',
            `none of ${words.credentials.join(', ')} is set, so ${host.name} may not reach its model: it sees no login of this user`,
            'Set one of them, or name another variable under env.',
          ),
        ]),
  ]
}

type MakeFinding = (key: string, status: HostFinding['status'], detail: string, mend?: string) => HostFinding

async function sandboxFinding(finding: MakeFinding, unconfined: boolean, bwrap: string | null): Promise<HostFinding> {
  const sandbox = await findSandbox(bwrap)
  if (sandbox.found !== null) return finding('unconfined', 'ok', 'runs under bubblewrap')
  const mend = 'Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap).'
  if (unconfined) return finding('unconfined', 'warn', `${UNCONFINED}: ${sandbox.why}`, mend)
  return finding('unconfined', 'fail', `it is not started without a sandbox: ${sandbox.why}`, mend)
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** ` 0.99.1`, as the package says that the program belongs to. Empty: it belongs to none. */
function versionOf(program: string): string {
  for (let folder = dirname(realpathSync(program)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const stated: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      if (isRecord(stated) && typeof stated.version === 'string') return ` ${stated.version}`
    } catch {
      // This folder is no package.
    }
  }
  return ''
}
