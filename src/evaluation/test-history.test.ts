import { expect, test } from 'vitest'
import { silentLogger } from '../domain/logger.ts'
import { createManualClock } from '../http/testing/server-fixture.ts'
import { createNotes } from '../log/notes.ts'
import { createSessionLog } from '../log/session-log.ts'
import { createLocalWake } from '../log/wake.ts'
import { openTestStore } from '../store/sqlite/testing/open-test-store.ts'
import type { CaseResult } from './case-result.ts'
import { createTestHistory } from './test-history.ts'

const result = (name: string, outcome: CaseResult['outcome'], found = ''): CaseResult => ({
  ...{ agent: 'clerk', name, outcome, durationMs: 5, tokens: { input: 1, output: 1 }, answer: '', calls: [] },
  findings: found === '' ? [] : [{ check: 'contains', expected: 'Paris', found }],
})

test('says since when a case fails, keeps ten results, and forgets cases that are gone', async () => {
  const clock = createManualClock()
  const store = openTestStore()
  const log = createSessionLog({ store, clock, wake: createLocalWake({ clock, pollMs: null }) })
  const history = createTestHistory({
    notes: createNotes({ log, outbox: store.outbox, clock }),
    clock,
    logger: silentLogger,
  })
  const run = async (...results: CaseResult[]) => {
    clock.advance(1_000)
    await history.add('clerk', ['capital', '__proto__'], results)
    return clock.now()
  }
  expect(await history.of('clerk')).toEqual(new Map())
  await run(result('capital', 'passed'), result('__proto__', 'passed'), result('gone', 'passed'))
  const since = await run(result('capital', 'failed', 'x'.repeat(600)))
  const last = await run(result('capital', 'error', 'London'))
  // Somebody stopped it, which says nothing about it.
  await run(result('capital', 'stopped'))

  const known = await history.of('clerk')
  expect([...known.keys()]).toEqual(['capital', '__proto__'])
  expect(known.get('capital')).toEqual({
    results: [
      { at: last, outcome: 'error', durationMs: 5 },
      { at: since, outcome: 'failed', durationMs: 5 },
      { at: expect.any(Number), outcome: 'passed', durationMs: 5 },
    ],
    failingSince: since,
    findings: [{ check: 'contains', expected: 'Paris', found: 'London' }],
  })
  for (let i = 0; i < 12; i += 1) await run(result('capital', 'failed', 'x'.repeat(600)))
  const long = (await history.of('clerk')).get('capital')
  expect([long?.results.length, long?.failingSince, long?.findings[0]?.found.length]).toEqual([10, since, 501])
  await run(result('capital', 'passed'))
  expect((await history.of('clerk')).get('capital')).toMatchObject({ failingSince: null, findings: [] })
  expect(await history.of('other')).toEqual(new Map())
  await log.close()
  await store.close()
})
