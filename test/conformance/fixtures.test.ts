// One scenario of the conformance suite in each era. `npm run test:conformance` runs all of them with the suite itself.

import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../src/domain/clock.ts'
import { openMcpDoor } from '../../src/protocols/mcp/testing/open-mcp-door.ts'
import { createConformanceFixtures } from './fixtures.ts'

describe.each(['legacy', 'modern'] as const)('the fixtures, for a %s client', (era) => {
  test('are there beside the other tools', async () => {
    const extension = createConformanceFixtures(createSystemClock(), Buffer.alloc(32, 'k'))
    const { connect } = await openMcpDoor({ door: { extension } })
    const { client } = await connect(era)

    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'test_simple_text']))
    expect(await client.callTool({ name: 'test_simple_text', arguments: {} })).toMatchObject({
      content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
    })
    expect(await client.getPrompt({ name: 'test_simple_prompt' })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'This is a simple prompt for testing.' } }],
    })
    expect(await client.readResource({ uri: 'test://template/123/data' })).toMatchObject({
      contents: [{ text: '{"id":"123","templateTest":true,"data":"Data for ID: 123"}' }],
    })
  })
})
