import { expect, test } from 'vitest'
import { type Approval, type ClientCall, recordMayBecome, type WaitAnswer } from '../../domain/records/record.ts'
import { NOW, newApproval, newClientCall, newRun } from '../contract/samples.contract.ts'
import { applyAnswers, interruptWait } from './wait-change.ts'

const run = newRun('s')
const records: (Approval | ClientCall)[] = [
  newApproval(run),
  newApproval(run, { kind: 'question' }),
  newClientCall(run),
]
const outcomes: WaitAnswer['outcome'][] = [
  { type: 'approved', reason: null, editedArguments: null, editedDigest: null },
  { type: 'rejected', reason: null },
  { type: 'responded', response: '1', reason: null },
  { type: 'answered' },
  { type: 'expired' },
  { type: 'interrupted' },
]

test('every answer that is applied follows an arrow of the table, and so does the end of a run', () => {
  const reached = records.map((record) => {
    const answers = outcomes.map((outcome) => ({ waitId: record.id, at: NOW, by: 'ann', outcome }))
    const statuses = answers.flatMap((answer) =>
      applyAnswers([answer], new Map([[record.id, record]]), () => null).flatMap(({ applied, wait }) =>
        applied && wait !== null ? [wait.status] : [],
      ),
    )
    statuses.push(interruptWait(record, NOW).status)
    for (const status of statuses) expect(recordMayBecome(record, status)).toBe(true)
    return [...new Set(statuses)]
  })

  expect(reached).toEqual([
    ['approved', 'rejected', 'answered', 'expired', 'interrupted'],
    ['rejected', 'answered', 'expired', 'interrupted'],
    ['answered', 'expired', 'interrupted'],
  ])
})
