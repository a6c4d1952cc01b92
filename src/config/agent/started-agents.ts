// The agents behind `ctl start`: one for each host that we know. No file describes them and no list shows them; each session says in
// which folder its agent works.

import { basename } from 'node:path'
import type { HostAgent } from '../../domain/agent/agent.ts'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import { hostNames, hosts, isHostName } from '../../hosts/hosts.ts'
import { diskFiles } from '../source/config-files.ts'
import type { AgentDefaults } from '../source/load-context.ts'
import { agentYaml } from './agent-yaml.ts'
import { defineAgent } from './define-agent.ts'

/** `host_cli` comes first, if it is set: it is the one that is started where nobody says which. */
export function startedAgents(
  { hostCli, hostCliArgs }: Pick<SupervisionSettings, 'hostCli' | 'hostCliArgs'>,
  defaults: AgentDefaults,
): HostAgent[] {
  const usual = hostCli === null ? [] : [startedAgent(meantBy(hostCli), hostCliArgs, defaults)]
  const others = hostNames.filter((name) => name !== usual[0]?.host.name)
  return [...usual, ...others.map((name) => startedAgent({ name, command: null }, [], defaults))]
}

interface Meant {
  name: string
  command: string | null
}

/** The name of a host, the path of its program, or any program that speaks the Agent Client Protocol. */
function meantBy(hostCli: string): Meant {
  if (isHostName(hostCli)) return { name: hostCli, command: null }
  const file = basename(hostCli).replace(/\.(?:exe|cmd|js)$/i, '')
  return { name: hostNames.find((one) => hosts[one].acp.command === file) ?? 'custom', command: hostCli }
}

function startedAgent({ name, command }: Meant, args: readonly string[], defaults: AgentDefaults): HostAgent {
  const host = { ...(isHostName(name) ? { name } : {}), ...(command === null ? {} : { command }) }
  const agent = defineAgent(agentYaml.parse({ name, host: { ...host, args, workspace: '/' } }), {
    directory: '/',
    env: {},
    files: diskFiles,
    defaults,
    written: () => undefined,
    warn: () => {},
    report: (path, message) => {
      throw new Error(`${path.join('.')}: ${message}`)
    },
  })
  if (agent.host === null) throw new Error('A started agent works in a host.')
  // No name of a file has a colon.
  return { ...agent, name: `host:${name}`, host: { ...agent.host, workspace: null } }
}
