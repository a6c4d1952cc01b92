import type { AgentCapabilities } from '@ag-ui/core'
import type { AgentDefinition } from '../../domain/agent.ts'

/** What an agent of this server can do, in AG-UI's shape. Only what works today says so. */
export function capabilitiesOf(agent: AgentDefinition, version: string): AgentCapabilities {
  return {
    identity: { name: agent.name, type: 'quarterdeck', description: agent.description, version },
    transport: { streaming: true, websocket: false, httpBinary: true, pushNotifications: false, resumable: true },
    tools: { supported: true, clientProvided: true },
    output: { structuredOutput: agent.responseFormat !== null },
    state: { snapshots: true, deltas: true, memory: false, persistentState: true },
    multiAgent: { supported: agent.tools.some(({ type }) => type === 'agent') },
    // Without the setting it depends on the model, which we do not claim to know.
    ...(agent.model.reasoning === undefined ? {} : { reasoning: { supported: true, streaming: true } }),
    multimodal: { input: { image: true, audio: false, video: false, pdf: true, file: true } },
    execution: {
      codeExecution: false,
      maxIterations: agent.limits.steps,
      maxExecutionTime: agent.limits.durationMs,
    },
    humanInTheLoop: { supported: true, approvals: true, interrupts: true },
  }
}
