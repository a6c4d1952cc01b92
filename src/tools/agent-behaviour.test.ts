import { expect, test } from 'vitest'
import { testAgent } from '../engine/testing/open-engine.ts'
import { agentMakeup } from './agent-behaviour.ts'

test('the tools that an agent is given in code are part of what it is made of', async () => {
  const makeup = (given?: { name: string; binding: string }[]) =>
    agentMakeup(testAgent.name, [{ ...testAgent, ...(given === undefined ? {} : { given }) }], async () => null)
  const none = await makeup()
  expect(await makeup([])).toEqual(none)
  expect(await makeup([{ name: 'add', binding: 'v1' }])).not.toEqual(none)
  expect(await makeup([{ name: 'add', binding: 'v1' }])).not.toEqual(await makeup([{ name: 'add', binding: 'v2' }]))
})
