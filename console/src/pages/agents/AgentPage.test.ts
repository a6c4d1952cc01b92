import { expect, test } from 'vitest'
import { capabilityWords } from './AgentPage.tsx'

test('capabilities are said in words, and unknown ones are left out', () => {
  const capabilities = {
    transport: { streaming: true, websocket: false },
    humanInTheLoop: { supported: true, approvals: true },
    execution: { maxIterations: 10, maxExecutionTime: 300_000 },
    telepathy: { supported: true },
    state: null,
  }
  expect(capabilityWords(capabilities)).toEqual([
    'Streams its answers',
    'Asks for approval',
    'At most 10 steps',
    'At most 5 min a run',
  ])
})
