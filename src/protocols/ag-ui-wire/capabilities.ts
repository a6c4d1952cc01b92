import type { AgentCapabilities } from '@ag-ui/core'
import type { AgentDefinition } from '../../domain/agent.ts'

/** What an agent of this server can do, in AG-UI's shape. Only what works today says so. */
export function capabilitiesOf(agent: AgentDefinition, version: string): AgentCapabilities {
  return {
    identity: { name: agent.name, type: 'quarterdeck', description: agent.description, version },
    transport: { streaming: true, websocket: false, httpBinary: true, pushNotifications: false, resumable: true },
    tools: { supported: agent.tools.length > 0, clientProvided: false },
    output: { structuredOutput: agent.responseFormat !== null },
    state: { snapshots: true, deltas: false, memory: false, persistentState: true },
    multiAgent: { supported: false },
    // Without the setting it depends on the model, which we do not claim to know.
    ...(agent.model.reasoning === undefined ? {} : { reasoning: { supported: true, streaming: true } }),
    multimodal: { input: { image: false, audio: false, video: false, pdf: false, file: false } },
    execution: {
      codeExecution: false,
      maxIterations: agent.limits.steps,
      maxExecutionTime: agent.limits.durationMs,
    },
    humanInTheLoop: { supported: false, approvals: false, interrupts: false },
  }
}
