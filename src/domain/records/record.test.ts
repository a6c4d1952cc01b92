import { expect, test } from 'vitest'
import { diff } from '../../store/contract/supervised-samples.contract.ts'
import { actionNamesOf, isWaiting, recordMayBecome } from './record.ts'

test('a person can edit a change, unless it deletes the file', () => {
  const change = {
    path: 'a',
    addedLines: 0,
    removedLines: 1,
    warnings: [],
    protectedBecause: null,
    hasHiddenText: false,
  }
  const about = (kind: 'modify' | 'delete') => {
    const record = diff('s')
    return { ...record, supervised: { ...record.supervised, change: { ...change, kind } } }
  }

  expect(actionNamesOf(about('modify'))).toEqual(['approve', 'edit', 'reject'])
  expect(actionNamesOf(about('delete'))).toEqual(['approve', 'reject'])
})

test('an approval for an agent elsewhere is approved or rejected, and nobody answers in its place', () => {
  const record = diff('s')

  expect(isWaiting(record)).toBe(true)
  expect(
    (['approved', 'rejected', 'answered', 'consumed'] as const).filter((one) => recordMayBecome(record, one)),
  ).toEqual(['approved', 'rejected'])
})
