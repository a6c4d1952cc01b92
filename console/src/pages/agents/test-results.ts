// The results of a run of test cases, as they come in.

import type { TestCaseEvent, TestsDone } from 'quarterdeck/client'

export interface TestResults {
  cases: Readonly<Record<string, TestCaseEvent>>
  done: TestsDone | null
}

export const NO_RESULTS: TestResults = { cases: {}, done: null }

/** Cases that run again lose their old result. The others keep theirs. */
export function begin({ cases }: TestResults, again: readonly string[] | null): TestResults {
  if (again === null) return NO_RESULTS
  return { cases: Object.fromEntries(Object.entries(cases).filter(([name]) => !again.includes(name))), done: null }
}

export function take(results: TestResults, event: TestCaseEvent | TestsDone): TestResults {
  if (event.type === 'done') return { ...results, done: event }
  return { ...results, cases: { ...results.cases, [event.name]: event } }
}

/** The stream has ended before its time: what still ran has no result. */
export const stop = ({ cases }: TestResults): TestResults => ({
  cases: Object.fromEntries(
    Object.entries(cases).map(([name, one]) => [
      name,
      one.outcome === 'running' ? { ...one, outcome: 'stopped' as const } : one,
    ]),
  ),
  done: null,
})

/** `3 passed, 1 failed`. */
export function resultWords({ passed, failed, errors, stopped }: TestsDone): string {
  const parts = [
    [passed, 'passed'],
    [failed, 'failed'],
    [errors, 'could not run'],
    [stopped, 'stopped'],
  ] as const
  const words = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  return words.length === 0 ? 'No case ran' : words.join(', ')
}
