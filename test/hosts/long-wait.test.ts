import { describe, expect, test } from 'vitest'
import { hosts, programOf } from './hosts.ts'
import { openYard } from './run-host.ts'
import { once } from './scripted-model.ts'

/** How long the person takes. Longer than any limit that a host has by itself. */
const WAIT_SECONDS = Number(process.env.HOSTS_WAIT_SECONDS ?? 420)
const timeout = (WAIT_SECONDS + 180) * 1_000

describe.concurrent(`${WAIT_SECONDS} seconds until a person answers`, () => {
  for (const host of hosts) {
    test.runIf(programOf(host) !== null)(`${host.name} ${host.version} waits, then acts`, { timeout }, async () => {
      await using yard = await openYard(host)

      const running = await yard.start(once(host.shell('echo proposed > out.txt')))
      const { approval_id } = await yard.supervisor.question()
      await new Promise((resolve) => setTimeout(resolve, WAIT_SECONDS * 1_000))
      await yard.supervisor.decide({ decision: 'approve' })
      await running.ended

      expect(yard.read('out.txt')).toBe('proposed\n')
      // The host has asked once.
      expect(await yard.supervisor.approvals()).toMatchObject([{ approval_id, status: 'consumed' }])
    })
  }
})
