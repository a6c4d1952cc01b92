// A hosted agent that never stops calling tools.

import { expect, test } from 'vitest'
import { openHostedApp } from './hosted-app.ts'

test('10,000 calls are the limit of a run, and the session can be talked to afterwards', async () => {
  await using house = await openHostedApp()
  const id = await house.send('calls', 'calls 10100\nsay after')
  const run = await house.ended(id, 500_000)
  expect(run).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded' } })
  expect((await house.say('calls', 'say still here')).status).toBe('completed')
}, 600_000)
