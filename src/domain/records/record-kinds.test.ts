import { describe, expect, test } from 'vitest'
import { allKinds, openRecordStatuses, personKinds, recordKinds, statusesOf, wireStatusesOf } from './record-kinds.ts'

describe.each(allKinds)('%s', (kind) => {
  const { open, unanswered, next } = recordKinds[kind]
  const arrows: Readonly<Record<string, readonly string[]>> = next
  const [first, ...later] = statusesOf(kind)

  test('begins as pending, and every other status can be reached from there', () => {
    const reached = new Set<string>([String(first)])
    for (const status of reached) for (const after of arrows[status] ?? []) reached.add(after)

    expect(first).toBe('pending')
    expect([...reached].sort()).toEqual([first, ...later].sort())
  })

  test('can go unanswered from every status in which it is open', () => {
    for (const status of open) expect(arrows[status]).toContain(unanswered)
    expect(arrows[unanswered]).toEqual([])
  })

  test('has no status that is closed here and open in another kind, so the status alone says what waits', () => {
    expect(statusesOf(kind).filter((status) => openRecordStatuses.includes(status))).toEqual(open)
  })
})

test('the routes of a kind are its plural', () => {
  for (const { kind, path } of personKinds.map((one) => recordKinds[one].wire)) expect(path).toBe(`${kind}s`)
})

test('a status has one word on the wire, and two statuses never have the same', () => {
  expect(Object.fromEntries(personKinds.map((kind) => [recordKinds[kind].wire.path, wireStatusesOf(kind)]))).toEqual({
    approvals: ['pending', 'approved', 'rejected', 'answered', 'expired', 'interrupted', 'consumed'],
    prompts: ['pending', 'decided', 'interrupted'],
    waits: ['waiting', 'resumed', 'timeout', 'interrupted'],
    alerts: ['pending', 'nudged', 'self_recovered', 'escalated', 'dismissed'],
  })
})
