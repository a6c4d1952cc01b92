import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas'
import { describe, expect, test } from 'vitest'
import type { FunctionToolSettings } from '../../domain/agent/tool-settings.ts'
import { testAgent, testTool } from '../../engine/testing/open-engine.ts'
import { capabilitiesOf } from './capabilities.ts'

const look: FunctionToolSettings = {
  type: 'function',
  name: 'look',
  description: null,
  parameters: null,
  returns: null,
  file: '/tools.ts',
  export: 'look',
  effect: 'read',
  risk: 'low',
  timeoutMs: 1_000,
  retries: 0,
  approval: null,
  predictState: [],
}

describe('the capabilities of an agent', () => {
  test('have the shape of AG-UI and claim what works', () => {
    const capabilities = capabilitiesOf({ ...testAgent, responseFormat: { type: 'object' }, tools: [look] }, '1.2.3')

    expect(AgentCapabilitiesSchema.parse(capabilities)).toEqual(capabilities)
    expect(capabilities).toEqual({
      identity: { name: 'tester', type: 'quarterdeck', description: 'An agent for tests.', version: '1.2.3' },
      transport: { streaming: true, websocket: false, httpBinary: true, pushNotifications: false, resumable: true },
      tools: { supported: true, clientProvided: true },
      output: { structuredOutput: true },
      state: { snapshots: true, deltas: true, memory: false, persistentState: true },
      multiAgent: { supported: false },
      reasoning: { supported: true, streaming: true, encrypted: false },
      multimodal: { input: { image: true, audio: false, video: false, pdf: true, file: true } },
      execution: { codeExecution: false, maxIterations: 25, maxExecutionTime: 900_000 },
      humanInTheLoop: { supported: true, approvals: true, interrupts: true },
    })
  })

  test('list the tools that the agent brings, not those that the page has to run', () => {
    const call = async () => ({ content: '', isError: false })
    const own = testTool({ name: 'look', description: 'Looks out.', parameters: { type: 'object' }, call })
    const page = { ...testTool({ name: 'show', call }), location: 'client' as const }

    const capabilities = capabilitiesOf(testAgent, '1.2.3', [own, page])

    expect(AgentCapabilitiesSchema.parse(capabilities)).toEqual(capabilities)
    const items = [{ name: 'look', description: 'Looks out.', parameters: { type: 'object' } }]
    expect(capabilities.tools).toEqual({ supported: true, items, clientProvided: true })
  })
})
