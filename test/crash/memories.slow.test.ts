// An agent that remembers a fact in each run, and a server that is killed again and again in between.

import { expect, onTestFinished, test } from 'vitest'
import { databaseFaults } from './support/database.ts'
import { openYard, type TestServer } from './support/start-server.ts'

const TURNS = 24

const send = (server: TestServer, session: string, message: string) =>
  fetch(`${server.url}/sessions/${session}/messages`, {
    ...{ method: 'POST', headers: { 'Content-Type': 'application/json', 'Idempotency-Key': session } },
    body: JSON.stringify({ message }),
  })

async function texts(server: TestServer): Promise<string[]> {
  const { memories } = (await (await fetch(`${server.url}/memories`)).json()) as { memories: { text: string }[] }
  return memories.map(({ text }) => text).sort()
}

test('kill -9 around a call of remember keeps each fact once', { timeout: 240_000 }, async () => {
  const facts = Array.from({ length: TURNS }, (_, i) => `The user has seen harbour ${String(i).padStart(2, '0')}.`)
  const yard = await openYard(onTestFinished, {
    model: { provider: 'scripted', name: 'script', script: 'script.json' },
    answers: [
      ...facts.map((fact, i) => ({
        when: `Turn ${i}!`,
        parts: [{ delay_ms: 30 }, { tool_call: { name: 'remember', arguments: { fact } } }],
      })),
      { parts: [{ delay_ms: 30 }, { text: 'Noted.' }] },
    ],
    agent: { memory: true },
  })
  let server = await yard.start()
  for (let turn = 0; turn < TURNS; turn += 1) {
    expect((await send(server, `s${turn}`, `Turn ${turn}!`)).status).toBe(202)
    if (turn % 3 !== 2) continue
    // The call may not have begun, be under way, or be done.
    await new Promise((resolve) => setTimeout(resolve, (turn * 23) % 140))
    await server.kill()
    server = await yard.start()
  }
  await expect.poll(() => texts(server), { timeout: 60_000, interval: 250 }).toEqual(facts)
  await server.kill()
  expect(await databaseFaults(yard)).toEqual([])
})
