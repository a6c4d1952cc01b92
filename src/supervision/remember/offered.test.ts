import { expect, test } from 'vitest'
import type { Approval } from '../../domain/records/record.ts'
import { describe as inWords } from '../records/describe-record.ts'
import { approval as own } from '../testing/approval.ts'
import { askElsewhere, npmTest } from '../testing/ask-elsewhere.ts'
import { newSession, openSupervision } from '../testing/open-supervision.ts'

const own15 = ['session', '15m', 'always']
const labelled = [
  { label: 'This command: npm test -- --watch', match: npmTest[0] },
  { label: 'Commands that begin with npm test', match: npmTest[1] },
]

test('a view offers what the decision may remember', async () => {
  const { sessions, takeStep, ids } = openSupervision()
  const asked = await askElsewhere(takeStep, await sessions.create(newSession('/srv/shop')), ids.uuid())
  const scopes = ['session', '15m', 'workspace']
  const remember = (approval: Approval) => inWords(approval).remember
  expect(remember(asked)).toEqual({ yes: true, scopes, matches: labelled })
  expect(remember({ ...asked, kind: 'diff' })).toEqual({ yes: true, scopes, matches: labelled })
  // A no to what is critical may be remembered, a yes may not.
  expect(remember({ ...asked, risk: 'critical' })).toEqual({ yes: false, scopes, matches: labelled })
  expect(remember(own)).toEqual({ yes: true, scopes: own15, matches: [] })
  expect(remember({ ...own, risk: 'critical' })).toEqual({ yes: false, scopes: own15, matches: [] })

  const nothing: Approval[] = [
    { ...asked, matches: [] },
    { ...asked, kind: 'policy' },
    { ...asked, quorum: 2 },
    { ...asked, status: 'approved' },
    { ...asked, editedArguments: '{}' },
    { ...asked, supervised: { ...asked.supervised, isEdited: true } },
    { ...own, kind: 'question' },
    { ...own, quorum: 2 },
    { ...own, status: 'rejected' },
  ]
  expect(nothing.map(remember)).toEqual(nothing.map(() => null))
})
