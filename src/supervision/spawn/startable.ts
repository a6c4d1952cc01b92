// What somebody may start here: which hosts, what each lacks, and in which folders. Folders are those of the settings: nobody lists the
// disk through it.

import type { HostAgent } from '../../domain/agent/agent.ts'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import { hosts, isHostName } from '../../hosts/hosts.ts'
import type { Lacks } from './lacks.ts'

interface StartableDeps {
  /** See `startedAgents`. */
  agents: readonly HostAgent[]
  lacks: Lacks
  settings: Pick<SupervisionSettings, 'workspaces' | 'defaultWorkspaceRoot'>
}

export type Startable = Awaited<ReturnType<typeof readStartable>>

/** The usual one first, and those that can be started before the others. */
export async function readStartable({ agents, lacks, settings }: StartableDeps) {
  const { workspaces, defaultWorkspaceRoot } = settings
  const found = await Promise.all(
    agents.map(async ({ host }) => {
      const lack = await lacks(host)
      const title = isHostName(host.name) ? hosts[host.name].title : (host.command ?? host.name)
      return { name: host.name, title, problem: lack?.problem ?? null, command: lack?.command ?? null }
    }),
  )
  return {
    hosts: found.sort((a, b) => Number(a.problem !== null) - Number(b.problem !== null)),
    workspaces: workspaces.map(({ path, id, label }) => ({ path, id, label })),
    /** Every folder below it is allowed too. Null, and no workspaces: every folder. */
    root: defaultWorkspaceRoot,
  }
}
