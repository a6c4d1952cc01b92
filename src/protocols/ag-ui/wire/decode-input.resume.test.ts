import { expect, test } from 'vitest'
import type { Approval } from '../../../domain/records/record.ts'
import { decisionOf, decodeResume } from './decode-input.ts'

const decide = (
  payload: unknown,
  status: 'resolved' | 'cancelled' = 'resolved',
  asked: Pick<Approval, 'question'> = {},
) => {
  const [answer] = decodeResume([{ interruptId: 'i', status, payload }])
  if (answer === undefined) throw new Error('no answer')
  return { waitId: answer.waitId, ...decisionOf(answer, asked) }
}

test.each([
  [true, { decision: 'approve' }],
  [{ approved: true }, { decision: 'approve' }],
  [
    { approved: true, editedArgs: { to: 'eve' } },
    { decision: 'approve', arguments: { to: 'eve' } },
  ],
  [false, { decision: 'reject' }],
  [{ result: 'It is 4.' }, { decision: 'respond', result: 'It is 4.' }],
  [
    { approved: true, result: { sum: 4 } },
    { decision: 'respond', result: { sum: 4 } },
  ],
  [{ approved: false, result: 'It is 4.' }, { decision: 'reject' }],
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

const sizes = { type: 'object', properties: { size: { type: 'string' } } }
const yesOrNo = { type: 'object', properties: { approved: { type: 'boolean' } } }

test.each([
  ['the answer', { size: 'L' }, sizes, { decision: 'respond', result: { size: 'L' } }],
  ['the answer, also a plain one', 'L', { type: 'string' }, { decision: 'respond', result: 'L' }],
  ['the no of a client that knows only yes and no', { approved: false }, sizes, { decision: 'reject' }],
  ['the answer of a form', { approved: false }, yesOrNo, { decision: 'respond', result: { approved: false } }],
])('the payload for a question is %s', (_what, payload, schema, decision) => {
  const question = { index: 0, effect: 'once' as const, message: 'Which?', schema }
  expect(decide(payload, 'resolved', { question })).toEqual({ waitId: 'i', ...decision })
  expect(decide(payload, 'cancelled', { question })).toEqual({ waitId: 'i', decision: 'reject' })
  expect(() => decide(null, 'resolved', { question })).toThrow('not a valid RunAgentInput')
})
