import { describe, expect, test } from 'vitest'
import { testTool } from '../../../engine/testing/open-engine.ts'
import { openDoors, refusalOf } from '../../testing/open-doors.ts'

const {
  call: _call,
  location: _server,
  ...rules
} = testTool({
  name: 'pick',
  call: async () => ({ content: '', isError: false }),
})

describe('GET /tools', () => {
  test('shows what the agent can call and where it runs', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    await using doors = await openDoors({
      tools: [
        testTool({
          name: 'weather',
          description: 'The weather in a city.',
          parameters,
          returns: { type: 'string' },
          effect: 'idempotent',
          risk: 'critical',
          timeoutMs: 1_500,
          call: async () => ({ content: '', isError: false }),
        }),
        { ...rules, location: 'client' },
        { ...rules, location: 'agent', name: 'tutor', agent: 'tutor', handoff: false },
      ],
    })

    const pick = {
      name: 'pick',
      description: 'A tool for tests.',
      execution_location: 'client',
      parameters: { type: 'object' },
      returns: null,
      timeout_seconds: 60,
      effect: 'read',
      risk: 'low',
    }
    expect(await (await doors.get('/tools')).json()).toEqual({
      agent: 'tester',
      tools: [
        {
          name: 'weather',
          description: 'The weather in a city.',
          execution_location: 'server',
          parameters,
          returns: { type: 'string' },
          timeout_seconds: 1.5,
          effect: 'idempotent',
          risk: 'critical',
        },
        pick,
        { ...pick, name: 'tutor', execution_location: 'server' },
      ],
    })
  })

  test('is empty for an agent without tools', async () => {
    await using doors = await openDoors()

    expect(await (await doors.get('/tools?agent=tester')).json()).toEqual({ agent: 'tester', tools: [] })
  })

  test('knows no agent of another name', async () => {
    await using doors = await openDoors()

    expect(await refusalOf(await doors.get('/tools?agent=nobody'))).toEqual({ status: 404, code: 'agent_not_found' })
  })
})
