import { expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { copyExample, freePort } from './copied-example.ts'

// More of it, and the same in Fastify and Hono, is in test/e2e/frameworks.test.ts.
test('express serves its own routes and the agent, whose tool runs after a yes', async () => {
  const { launch, quarterdeck } = await copyExample('express', ['express', 'zod'])
  const [token] = /qd_[\w-]+/.exec(await quarterdeck('tokens', 'create', '--role', 'operator')) ?? []
  const port = await freePort()
  await launch('node', ['server.ts'], 'The agent is at', { PORT: String(port), QUARTERDECK_OPERATOR_TOKEN: '' })
  const url = `http://127.0.0.1:${port}/agent`
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('The agent is at /agent/')
  expect(await quarterdeck('chat', url, '-m', 'count 3')).toContain('1, 2, 3.')

  const client = createClient({ url, token })
  const { run_id } = await client.send('talk', 'book_room {"room": "Blue", "day": "2030-01-02"}')
  await expect.poll(async () => (await client.approvals()).length).toBe(1)
  for (const asked of await client.approvals()) await client.approve(asked)
  await expect.poll(async () => (await client.run(run_id)).answer).toMatch(/Blue is booked for \w+ on 2030-01-02/)
})
