import { expect, test } from 'vitest'
import { agentIn, callOf, openDesk } from '../testing/open-desk.ts'

test('a feed that is closed wakes nobody any more, and the rest of the server goes on', async () => {
  const desk = openDesk()
  const asked = desk.tools.approve_tool(callOf(agentIn('/srv/here')), { tool_name: 'Bash', input: { command: 'ls' } })
  await desk.nextWaiting()

  desk.feed.close()
  for (let turns = 0; turns < 20; turns += 1) await new Promise<void>((resolve) => void setImmediate(resolve))

  await desk.passTime(50_000)
  expect((await asked).answer).toMatchObject({ behavior: 'deny' })
})
