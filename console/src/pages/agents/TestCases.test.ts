import type { TestCaseEvent, TestsDone } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { begin, NO_RESULTS, resultWords, stop, take } from './TestCases.tsx'

const result = (name: string, outcome: TestCaseEvent['outcome']): TestCaseEvent => ({
  ...{ type: 'case', name, outcome, findings: [], duration_ms: 0 },
  ...{ tokens: { input: 0, output: 0 }, answer: '', calls: [] },
})
const done: TestsDone = { type: 'done', total: 4, passed: 2, failed: 1, errors: 1, stopped: 0, duration_ms: 9 }
const outcomes = (results: typeof NO_RESULTS) =>
  Object.values(results.cases).map(({ name, outcome }) => [name, outcome])

test('a case has its last result, and what still ran when the stream broke is stopped', () => {
  let results = take(take(NO_RESULTS, result('a', 'running')), result('a', 'passed'))
  results = take(results, result('b', 'running'))
  expect(outcomes(stop(results))).toEqual([
    ['a', 'passed'],
    ['b', 'stopped'],
  ])
})

test('a case that runs again loses its old result', () => {
  const results = take(take(take(NO_RESULTS, result('a', 'passed')), result('b', 'failed')), done)
  expect(outcomes(begin(results, ['b']))).toEqual([['a', 'passed']])
  expect(begin(results, null)).toEqual(NO_RESULTS)
})

test('the end is said in words', () => {
  expect(resultWords(done)).toBe('2 passed, 1 failed, 1 could not run')
  expect(resultWords({ ...done, passed: 0, failed: 0, errors: 0 })).toBe('No case ran')
})
