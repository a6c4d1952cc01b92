import { expect, test } from 'vitest'
import { agentIn, callOf, openSupervision } from '../testing/open-supervision.ts'

test('a feed that is closed wakes nobody any more, and the rest of the server goes on', async () => {
  const service = openSupervision()
  const asked = service.tools.approve_tool(callOf(agentIn('/srv/here')), {
    tool_name: 'Bash',
    input: { command: 'git push' },
  })
  await service.nextWaiting()

  service.feed.close()
  for (let turns = 0; turns < 20; turns += 1) await new Promise<void>((resolve) => void setImmediate(resolve))

  await service.passTime(50_000)
  expect((await asked).answer).toMatchObject({ behavior: 'deny' })
})
