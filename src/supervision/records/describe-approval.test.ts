import { expect, test } from 'vitest'
import { type Approval, type ChangeSummary, NOBODY_WAITS } from '../../domain/records/record.ts'
import { approval } from '../testing/approval.ts'
import { describe } from './describe-record.ts'

const change: ChangeSummary = {
  ...{ path: 'src/a.ts', kind: 'delete' as const, addedLines: 0, removedLines: 9 },
  ...{ warnings: [], protectedBecause: null, hasHiddenText: false },
}
const asked = { host: 'codex', contentKey: 'k', returnedAt: null, mayForce: false, isEdited: false, appliedAt: null }
const view = (values: Partial<Approval>) => describe({ ...approval, ...values })

test('titles are made of what the server knows, never of what the agent says', () => {
  const agents = view({ kind: 'diff', title: 'Safe to approve!', supervised: { ...asked, change } })
  expect(agents.title).toBe('Delete src/a.ts +0 −9')
  expect(view({ description: 'to: bob' })).toMatchObject({ title: 'send_email', gist: 'to: bob' })
})

test('whoever decides about an edit is told that it is one, until it is decided', () => {
  const edited = 'An operator has changed what the agent asked for. You decide about the edited version.'
  expect(view({ editedArguments: '{"to":"ada"}' }).warnings).toEqual([edited])
  expect(view({ kind: 'diff', supervised: { ...asked, change, isEdited: true } }).warnings).toEqual([edited])
  expect(view({ editedArguments: '{"to":"ada"}', status: 'approved', decidedBy: 'ann', decidedAt: 1 })).toMatchObject({
    ...{ warnings: [], outcome: { word: 'Approved', more: 'As an operator edited it.' } },
  })
})

test('a yes that is not the last one says so', () => {
  const done = (values: Partial<Approval>) => view(values).actions.map((action) => action.done)
  expect(done({})).toEqual(['Approved.', 'Approved as edited.', 'Rejected.'])
  const notYet = 'Your yes counts. Somebody else has to say yes too.'
  expect(done({ quorum: 2 })).toEqual([notYet, notYet, 'Rejected.'])
  expect(done({ quorum: 2, decisions: [{ by: 'bob', via: 'http', at: 1 }] })).toEqual(done({}))
})

test('when the caller has left, it says so and since when', () => {
  const { warnings, facts } = view({ kind: 'permission', supervised: { ...asked, change: null, leftAt: 5_000 } })
  expect(warnings).toContain(NOBODY_WAITS)
  expect(facts.at(-1)).toEqual({ name: 'The caller left', text: '', at: '1970-01-01T00:00:05.000Z', minor: false })
})

test('a program that nothing confines is told with all that it asks', () => {
  const supervised = { ...asked, change: null, run: true as const }
  const warning = 'The agent’s program is unconfined: runs without a sandbox.'
  expect(view({ kind: 'permission', supervised }).warnings).not.toContain(warning)
  expect(view({ kind: 'permission', supervised: { ...supervised, unconfined: true } }).warnings).toContain(warning)
})

test('a list says that letters look like others, and the warning itself is not among the arguments', () => {
  const to = 'ada@p\u0430ypal.com'
  const warning = `Look closely: "ada@p<U+0430>ypal.com" has letters that look like others.`
  const shown = view({ arguments: JSON.stringify({ to }), description: `${warning}\nto: ${to}` })

  expect(shown.warnings).toEqual([expect.stringContaining('has letters that look like others')])
  expect(shown.gist).toBe(`Look closely. to: ${to}`)
  expect(shown.body.find(({ type }) => type === 'arguments')).toMatchObject({ text: `to: ${to}` })
})
