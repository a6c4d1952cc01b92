import { describe, expect, test } from 'vitest'
import { createPolicySummary } from './auto-approved.ts'

const work = (at: number, rule = 'tool:Read', more: { command?: string; filePath?: string } = {}) => ({
  at,
  toolName: 'Read',
  filePath: null,
  command: null,
  rule,
  ...more,
})

describe('the summary of work that passed', () => {
  test('is due at the interval after the first piece of work, and then starts over', () => {
    const summary = createPolicySummary(() => ({ logAutoApproved: false, summaryIntervalSeconds: 60 }))
    expect([summary.dueAt(), summary.due(1e9)]).toEqual([null, null])
    summary.add(work(10_000))
    summary.add(work(20_000, 'command:npm test'))
    summary.add(work(30_000, 'command:npm test'))
    expect([summary.dueAt(), summary.due(69_999)]).toEqual([70_000, null])
    expect(summary.due(70_000)).toEqual([
      'The policy let 3 requests through without asking, from 00:00:10 to 00:00:30 UTC.',
      '2 × command:npm test',
      '1 × tool:Read',
    ])
    expect([summary.dueAt(), summary.due(1e9)]).toEqual([null, null])
  })

  test('names each piece of work if the policy says so, with hidden characters shown', () => {
    const summary = createPolicySummary(() => ({ logAutoApproved: true, summaryIntervalSeconds: 1 }))
    summary.add(work(0, 'tool:Read', { filePath: 'a\u202eb\nc' }))
    expect(summary.due(1_000)).toEqual([
      'The policy let 1 request through without asking, at 00:00:00 UTC.',
      '1 × tool:Read',
      '00:00:00 Read a<U+202E>b\\nc',
    ])
  })

  test('is bounded and says what it leaves out', () => {
    const summary = createPolicySummary(() => ({ logAutoApproved: true, summaryIntervalSeconds: 1 }))
    for (let i = 0; i < 1_000; i += 1) summary.add(work(0, `tool:${i}`, { command: 'x'.repeat(500) }))
    const lines = summary.due(1_000) ?? []
    expect(lines).toHaveLength(1 + 21 + 21)
    expect([lines[21], lines[42]]).toEqual(['980 × other rules', '980 more are not shown.'])
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(140)
  })

  test('never comes with the interval 0, and follows a changed policy', () => {
    let seconds = 0
    const summary = createPolicySummary(() => ({ logAutoApproved: false, summaryIntervalSeconds: seconds }))
    summary.add(work(0))
    expect([summary.dueAt(), summary.due(1e9)]).toEqual([null, null])
    seconds = 5
    expect(summary.dueAt()).toBe(5_000)
  })

  test('gives what is left at the end of a session', () => {
    const summary = createPolicySummary(() => null)
    expect(summary.rest()).toBe(null)
    summary.add(work(0))
    expect(summary.rest()).toHaveLength(2)
    expect(summary.rest()).toBe(null)
  })
})
