import type { AgentCapabilities } from '@ag-ui/core'
import type { AgentDefinition } from '../../domain/agent/agent.ts'
import type { Engine } from '../../engine/engine.ts'

type Tools = Awaited<ReturnType<Engine['agents']['tools']>>

/** What an agent can do, as AG-UI describes it. Claims only what works today. `tools` are listed if they are known. */
export function capabilitiesOf(agent: AgentDefinition, version: string, tools?: Tools): AgentCapabilities {
  // The program of a hosted agent has its own tools and counts its own steps.
  const isHosted = agent.host !== null
  return {
    identity: { name: agent.name, type: 'quarterdeck', description: agent.description, version },
    transport: { streaming: true, websocket: false, httpBinary: true, pushNotifications: false, resumable: true },
    tools: { supported: true, ...(tools === undefined ? {} : { items: itemsOf(tools) }), clientProvided: !isHosted },
    output: { structuredOutput: agent.responseFormat !== null },
    state: { snapshots: true, deltas: true, memory: false, persistentState: true },
    multiAgent: { supported: agent.tools.some(({ type }) => type === 'agent') },
    // What a model thinks is streamed as it comes. Whether it thinks aloud depends on the model.
    reasoning: { supported: true, streaming: true, encrypted: false },
    multimodal: { input: { image: true, audio: false, video: false, pdf: true, file: true } },
    execution: {
      codeExecution: false,
      ...(isHosted ? {} : { maxIterations: agent.limits.steps }),
      maxExecutionTime: agent.limits.durationMs,
    },
    humanInTheLoop: { supported: true, approvals: true, interrupts: true },
  }
}

/** Client tools are left out: they belong to the page, not to the agent. */
const itemsOf = (tools: Tools) =>
  tools.flatMap(({ name, description, parameters, location }) =>
    location === 'client' ? [] : [{ name, description, parameters }],
  )
