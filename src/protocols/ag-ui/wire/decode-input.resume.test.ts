import { expect, test } from 'vitest'
import { decodeResume } from './decode-input.ts'

const decide = (payload: unknown, status: 'resolved' | 'cancelled' = 'resolved') =>
  decodeResume([{ interruptId: 'i', status, payload }])[0]

test.each([
  [true, { decision: 'approve' }],
  [{ approved: true }, { decision: 'approve' }],
  [
    { approved: true, editedArgs: { to: 'eve' } },
    { decision: 'approve', arguments: { to: 'eve' } },
  ],
  [false, { decision: 'reject' }],
  [
    { approved: false, reason: 'No.' },
    { decision: 'reject', reason: 'No.' },
  ],
])('%j is a decision', (payload, decision) => {
  expect(decide(payload)).toEqual({ waitId: 'i', ...decision })
})

test('a cancelled interrupt is a rejection, whatever its payload says', () => {
  expect(decide({ approved: true }, 'cancelled')).toEqual({ waitId: 'i', decision: 'reject' })
})

test('what is null counts as left out', () => {
  expect(decide({ approved: true, reason: null, editedArgs: null })).toEqual({ waitId: 'i', decision: 'approve' })
})

test('a reason and the number of answers are bounded', () => {
  expect(() => decide({ approved: false, reason: 'x'.repeat(2_001) })).toThrow('not a valid RunAgentInput')
  const many = Array.from({ length: 201 }, () => ({ interruptId: 'i', status: 'cancelled' as const }))
  expect(() => decodeResume(many)).toThrow('not a valid RunAgentInput')
  expect(decodeResume(many.slice(1))).toHaveLength(200)
})

test.each([[undefined], ['yes'], [1], [{}], [{ approved: 'true' }], [{ approved: true, editedArgs: 'x' }]])(
  '%j is not a clear answer',
  (payload) => {
    expect(() => decide(payload)).toThrow('not a valid RunAgentInput')
  },
)
