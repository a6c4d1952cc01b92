import { expect, test } from 'vitest'
import { testAgent } from '../engine/testing/open-engine.ts'
import { createAgentTool } from './create-agent-tool.ts'

test('an approval of an agent tool is bound to the tools that the agent is given in code', async () => {
  const bindingWith = async (given?: { name: string; binding: string }[]) => {
    const settings = {
      type: 'agent' as const,
      name: 'ask',
      description: null,
      agent: testAgent.name,
      handoff: false,
      effect: 'once' as const,
      risk: 'high' as const,
      timeoutMs: 1_000,
      retries: 0,
      approval: null,
      predictState: [],
    }
    const agent = { ...testAgent, ...(given === undefined ? {} : { given }) }
    return (await createAgentTool(settings, [agent], async () => null)).binding
  }
  const none = await bindingWith()
  const first = await bindingWith([{ name: 'add', binding: 'v1' }])
  expect(await bindingWith([])).toBe(none)
  expect(first).not.toBe(none)
  expect(await bindingWith([{ name: 'add', binding: 'v2' }])).not.toBe(first)
})
