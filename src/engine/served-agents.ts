import type { AgentDefinition } from '../domain/agent.ts'
import { ServerError } from '../domain/errors.ts'
import type { Agents } from './ports/agents.ts'
import type { AgentParts } from './run/run-scope.ts'

export function createServedAgents(all: ReadonlyMap<string, AgentParts>): Agents {
  const list = [...all.values()].map(({ definition }) => definition).filter((one) => !one.internal)
  const fallback = list.find((one) => one.default) ?? list[0]

  function get(name: string | null): AgentDefinition {
    const found = name === null ? fallback : list.find((one) => one.name === name)
    if (found !== undefined) return found
    const names = list.map((one) => one.name).join(', ')
    throw new ServerError('agent_not_found', `There is no agent ${JSON.stringify(name)}. Agents: ${names}.`, {
      details: { agent: name },
    })
  }

  return {
    list,
    get,
    async tools(name, signal) {
      const parts = all.get(get(name).name)
      return parts === undefined ? [] : [...(await parts.toolbox.tools(signal)).values()]
    },
  }
}
