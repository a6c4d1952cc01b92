import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas'
import { describe, expect, test } from 'vitest'
import { testAgent } from '../../engine/testing/open-engine.ts'
import { capabilitiesOf } from './capabilities.ts'

describe('the capabilities of an agent', () => {
  test('have the shape of AG-UI and claim what works', () => {
    const capabilities = capabilitiesOf(
      { ...testAgent, responseFormat: { type: 'object' }, tools: [{ type: 'function', name: 'look' }] },
      '1.2.3',
    )

    expect(AgentCapabilitiesSchema.parse(capabilities)).toEqual(capabilities)
    expect(capabilities).toEqual({
      identity: { name: 'tester', type: 'quarterdeck', description: 'An agent for tests.', version: '1.2.3' },
      transport: { streaming: true, websocket: false, httpBinary: true, pushNotifications: false, resumable: true },
      tools: { supported: true, clientProvided: false },
      output: { structuredOutput: true },
      state: { snapshots: true, deltas: false, memory: false, persistentState: true },
      multiAgent: { supported: false },
      multimodal: { input: { image: false, audio: false, video: false, pdf: false, file: false } },
      execution: { codeExecution: false, maxIterations: 25, maxExecutionTime: 900_000 },
      humanInTheLoop: { supported: false, approvals: false, interrupts: false },
    })
  })

  test('speak of reasoning where it is asked for', () => {
    const model = { ...testAgent.model, reasoning: { effort: 'low' as const } }

    expect(capabilitiesOf({ ...testAgent, model }, '1.2.3').reasoning).toEqual({ supported: true, streaming: true })
  })
})
