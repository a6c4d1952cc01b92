import { createManualClock } from '../http/testing/server-fixture.ts'
import { createLocalShared } from './local-shared.ts'
import { describeShared } from './shared.contract.ts'

describeShared('local', async () => {
  const clock = createManualClock()
  const shared = createLocalShared(clock)
  return { here: shared, there: shared, now: clock.now, pass: async (ms) => clock.advance(ms) }
})
