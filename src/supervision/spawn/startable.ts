// What somebody may start here: which programs, what each lacks, and in which folders. Folders are those of the settings: nobody lists
// the disk through it.

import { ServerError } from '../../domain/errors.ts'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import { type HostName, hostNames, hosts, launcherFor } from '../../hosts/hosts.ts'
import { findProgram, type ProgramSearch } from '../commands/find-program.ts'
import type { SpawnerDeps } from './create-spawner.ts'

interface StartableDeps extends Pick<SpawnerDeps, 'host' | 'extraArgs'> {
  settings: Pick<SupervisionSettings, 'hostCli' | 'workspaces' | 'defaultWorkspaceRoot'>
  search: ProgramSearch
}

export type Startable = ReturnType<typeof readStartable>

export function readStartable({ host, extraArgs, settings, search }: StartableDeps) {
  const { hostCli, workspaces, defaultWorkspaceRoot } = settings
  const set = hostCli === null ? null : launcherFor(hostCli).name
  const trial = { prompt: '', mcpUrl: '', agentToken: '', extraArgs, file: (name: string) => name }

  /** What fixes it: a command on the machine of the server, or a line of quarterdeck.yaml. No problem: it can be started. */
  const lacking = (problem: string | null, command: string | null = null, setting: string | null = null) => ({
    ...{ problem, command, setting },
  })

  /** Of a host that `connect` knows. */
  function lackOf(name: HostName) {
    const { title, install, launch } = hosts[name]
    const never = refusalOf(() => launch(trial))
    if (never !== null) return lacking(never, `quarterdeck connect ${name}`)
    if (name === set) {
      const problem = refusalOf(host)
      return lacking(problem, problem !== null && hostCli === name ? install : null)
    }
    if (findProgram(name, search).program === null) return lacking(`${title} is not installed on the server.`, install)
    const other = set === null ? 'no program' : set === 'custom' ? 'another program' : hosts[set].title
    return lacking(`The server is set up to start ${other}.`, null, `host_cli: ${name}`)
  }

  const known = hostNames.map((name) => ({ name, title: hosts[name].title, ...lackOf(name) }))
  const own = () => ({
    name: 'custom',
    title: hostCli ?? '',
    ...lacking(refusalOf(() => host().launcher.launch(trial))),
  })
  return {
    hosts: [...known, ...(set === 'custom' ? [own()] : [])].sort(
      (a, b) => Number(a.problem !== null) - Number(b.problem !== null),
    ),
    workspaces: workspaces.map(({ path, id, label }) => ({ path, id, label })),
    /** Every folder below it is allowed too. Null, and no workspaces: every folder. */
    root: defaultWorkspaceRoot,
  }
}

/** What the server itself would say. */
function refusalOf(work: () => unknown): string | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof ServerError) return error.message
    throw error
  }
}
