import { expect, test } from 'vitest'
import type { Approval, PersonRecord } from '../../domain/records/record.ts'
import { approval } from '../testing/approval.ts'
import { byUrgency } from './urgency.ts'

const asks = (id: string, values: Partial<Approval>): PersonRecord => ({ ...approval, id, ...values })
const other = (wait: 'prompt' | 'standby' | 'alert', id: string, values: object): PersonRecord =>
  ({ ...approval, wait, id, status: 'pending', ...values }) as unknown as PersonRecord

test('risk comes first, then the time that is left, then how long the agent has stood still', () => {
  const inOrder = [
    asks('k', { risk: 'critical', expiresAt: 900, createdAt: 9 }),
    asks('j', { risk: 'critical', expiresAt: null, createdAt: 1 }),
    other('prompt', 'i', { expiresAt: 100, createdAt: 9 }),
    asks('h', { risk: 'high', expiresAt: 200, createdAt: 8 }),
    other('standby', 'g', { expiresAt: 300, createdAt: 7 }),
    // What an alert tells of began before the alert.
    other('alert', 'f', { expiresAt: null, createdAt: 9, lastActivityAt: 2 }),
    asks('d', { risk: 'high', expiresAt: null, createdAt: 5 }),
    asks('e', { risk: 'high', expiresAt: null, createdAt: 5 }),
    asks('b', { risk: 'low', expiresAt: 1, createdAt: 1 }),
    asks('c', { risk: 'low', expiresAt: 1, createdAt: 2 }),
    asks('a', { risk: 'low', expiresAt: null, createdAt: 0 }),
  ]

  expect(inOrder.toReversed().sort(byUrgency)).toEqual(inOrder)
})
