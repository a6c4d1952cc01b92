import { expect, test } from 'vitest'
import { startAgentFiles } from './agent-files-app.ts'
import { startModelServer } from './model-server.ts'

test('the model sees all of fifty exchanges, each with a tool call', { timeout: 120_000 }, async () => {
  await using model = await startModelServer()
  await using app = await startAgentFiles({
    'agent.yaml': `
name: crow
model: { provider: openai, name: watch, base_url: "${model.baseUrl}", api_key: none }
instructions: Look out.
context: { mode: window }
tools:
  - { type: function, name: look, file: tools.js, parameters: {}, effect: read }
`,
    'tools.js': `let times = 0
export const look = { description: 'Looks out.', run: () => { times += 1; return 'ship ' + times } }`,
  })
  let session: string | null = null
  for (let exchange = 0; exchange < 50; exchange += 1) {
    const answer = await fetch(`${app.url}/chat`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ message: 'look', session_id: session }),
    })
    session = ((await answer.json()) as { session_id: string }).session_id
  }

  const ships = Array.from({ length: 50 }, (_, i) => `ship ${i + 1}`)
  const told = ships.flatMap((ship, i) => [
    { role: 'user', content: 'look' },
    { role: 'assistant', content: 'Let me see.' },
    { role: 'tool', content: ship },
    ...(i === 49 ? [] : [{ role: 'assistant', content: `I see ${ship}.` }]),
  ])
  expect(model.told.at(-1)).toEqual(told)
})
