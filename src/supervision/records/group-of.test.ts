import { expect, test } from 'vitest'
import type { Approval, SupervisedApproval } from '../../domain/records/record.ts'
import { approval as own } from '../testing/approval.ts'
import { askElsewhere } from '../testing/ask-elsewhere.ts'
import { newSession, openSupervision } from '../testing/open-supervision.ts'
import { groupOf } from './record-scenes.ts'

test('only pending work of low risk that is alike is one group', async () => {
  const { sessions, takeStep, ids } = openSupervision()
  const asked = await askElsewhere(takeStep, await sessions.create(newSession('/srv/shop')), ids.uuid())
  const key = groupOf(asked, '/srv/shop')
  expect(key).toMatch(/^[0-9a-f]{16}$/)
  const of = (values: Partial<SupervisedApproval>): Approval => ({ ...asked, id: 'other', ...values })
  const change = (protectedBecause: string | null) => ({
    ...{ path: 'a.ts', kind: 'modify' as const, addedLines: 1, removedLines: 1, warnings: [], hasHiddenText: false },
    protectedBecause,
  })
  const narrower = { type: 'command', command: 'npm test', folder: '' } as const

  expect(groupOf(of({ sessionId: 's2' }), '/srv/shop')).toBe(key)
  expect(groupOf(of({ matches: [narrower, ...(asked.matches ?? []).slice(1)] }), '/srv/shop')).toBe(key)

  const others = [
    groupOf(asked, '/srv/other'),
    groupOf(of({ owner: 'eve' }), '/srv/shop'),
    groupOf(of({ tool: 'Shell' }), '/srv/shop'),
    groupOf(of({ matches: [narrower] }), '/srv/shop'),
    groupOf(of({ supervised: { ...asked.supervised, host: 'codex' } }), '/srv/shop'),
    groupOf(of({ kind: 'diff', supervised: { ...asked.supervised, change: change(null) } }), '/srv/shop'),
    groupOf(of({ matches: [] }), '/srv/shop'),
    groupOf(of({ matches: [], supervised: { ...asked.supervised, contentKey: 'x' } }), '/srv/shop'),
  ]
  expect(others).not.toContain(null)
  expect(new Set([key, ...others]).size).toBe(others.length + 1)

  const alone: Approval[] = [
    of({ risk: 'high' }),
    of({ risk: 'critical' }),
    of({ quorum: 2 }),
    of({ status: 'approved' }),
    of({ kind: 'policy' }),
    of({ editedArguments: '{}' }),
    of({ supervised: { ...asked.supervised, change: change('It is protected.') } }),
    { ...own, risk: 'low' },
  ]
  expect(alone.map((one) => groupOf(one, '/srv/shop'))).toEqual(alone.map(() => null))
  expect(groupOf(asked, null)).toBe(null)
})
