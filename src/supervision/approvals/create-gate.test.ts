import { expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createIds } from '../../domain/ids.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { Approval } from '../../domain/records/record.ts'
import { noStepUp } from '../../domain/supervision/step-up.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import { createRealPath } from '../policy/real-path.ts'
import { createAssessWork } from '../risk/assess-work.ts'
import { everybody } from '../sessions/may-command.ts'
import { approval } from '../testing/approval.ts'
import { createCallRules } from './call-rules.ts'
import { createGate } from './create-gate.ts'

const ids = createIds(() => 1_000)
const old: Approval = { ...approval, id: ids.uuid(), status: 'interrupted' }
const next: Approval = { ...approval, id: ids.uuid(), createdAt: 5 }

/** `reads` are what the store lists, one after the other. */
function decideOld(...reads: Approval[][]) {
  const { sessions, grants, supervised } = openTestStore()
  const deps = {
    store: {
      sessions,
      grants,
      supervised,
      waits: { get: async () => old, list: async () => reads.shift() ?? [], expired: async () => [] },
    },
    log: { commit: async () => ({ ok: true as const, firstSeq: 0 }), synced: async () => {} },
    ids,
    rules: createCallRules({
      grants: { list: async () => [] },
      realPath: createRealPath,
      clock: createSystemClock(),
      assess: createAssessWork({ serverPaths: [], home: '/home/ann' }),
    }),
    agents: [],
    logger: silentLogger,
  }
  return createGate({ ...deps, operators: everybody, stepUp: noStepUp }).decide({
    by: { user: 'olga', role: 'operator' },
    sessionId: 's1',
    decisions: [{ waitId: old.id, decision: 'approve' }],
    at: 6,
  })
}

test('a decision never reaches a question that replaces its own while it is being taken', async () => {
  await expect(decideOld([old], [next, old])).rejects.toMatchObject({
    code: 'approval_changed',
    details: { approval_id: next.id, replaces: old.id },
  })
})

test('a decision about a question that was asked again and answered is late, and names the later question', async () => {
  const consumed: Approval = { ...next, status: 'consumed' }
  expect(await decideOld([consumed, old], [consumed, old])).toEqual([
    {
      approval: consumed,
      answer: { waitId: next.id, at: 6, by: 'olga', outcome: { type: 'rejected', reason: null } },
      grant: null,
      audit: null,
    },
  ])
})
