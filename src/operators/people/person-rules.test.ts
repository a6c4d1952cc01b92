import { describe, expect, test } from 'vitest'
import type { NotifySettings } from '../../domain/channel-settings.ts'
import type { FeedItem } from '../../domain/feed.ts'
import { testOperator } from '../../domain/testing/test-operator.ts'
import { createPersonRules } from './person-rules.ts'

const MINUTE_MS = 60_000
const at = Date.parse('2026-01-15T12:00:00Z')

const approval = {
  ...{ n: 1, at, kind: 'wait', type: 'approval', id: 'a', sessionId: 's', risk: 'high' },
  ...{ owner: 'ada', agent: 'claude-code', status: 'pending' },
} as FeedItem
const of = (values: object): FeedItem => ({ ...approval, ...values }) as FeedItem

function rulesOf(name: string, notify: Partial<NotifySettings> = {}) {
  const operators = ['ada', 'ben', 'cleo', 'dan'].map((one) => {
    const operator = testOperator({ name: one, group: one === 'cleo' || one === 'dan' ? 'night' : null })
    return { ...operator, notify: { ...operator.notify, ...notify } }
  })
  const person = operators.find((one) => one.name === name)
  if (person === undefined) throw new Error(`nobody is called ${name}`)
  const escalation = [
    { afterMs: 0, to: ['dan'] },
    { afterMs: 15 * MINUTE_MS, to: ['night'] },
  ]
  return createPersonRules({ person, operators, escalation, isOurAgent: (agent) => agent === 'clerk' })
}

describe('who is asked', () => {
  test.each([
    ['the owner of an agent elsewhere', 'ada', {}, 0],
    ['nobody else', 'ben', {}, null],
    ['the group that the escalation names, later', 'cleo', {}, 15],
    ['one whom it names for at once', 'dan', {}, 0],
    ['every operator by an agent of ours', 'ben', { agent: 'clerk' }, 0],
    ['every operator when the owner is none any more', 'ben', { owner: 'zoe' }, 0],
    ['the owner about the end of a session', 'ada', { kind: 'session', status: 'terminated' }, 0],
    ['nobody else about it', 'cleo', { kind: 'session', status: 'terminated' }, null],
    [
      'nobody about a conversation with an agent of ours',
      'ada',
      { kind: 'session', status: 'active', agent: 'clerk' },
      null,
    ],
    ['nobody about runs', 'ada', { kind: 'run', status: 'running' }, null],
  ])('%s', (_who, name, values, minutes) => {
    const rules = rulesOf(name, { kinds: ['approval', 'session'] })
    const item = of(values)

    expect(rules.concerns(item) ? (rules.notBefore(item, at) - at) / MINUTE_MS : null).toBe(minutes)
  })

  test.each([
    ['approval', 'approval'],
    ['prompt', 'prompt'],
    ['instruction', 'wait'],
    ['alert', 'stall'],
  ] as const)('a person who wants to hear of nothing else is told about %s as %s', (type, kind) => {
    expect(rulesOf('ada', { kinds: [kind] }).concerns(of({ type }))).toBe(true)
    expect(rulesOf('ada', { kinds: ['session'] }).concerns(of({ type }))).toBe(false)
  })
})

describe('when they are told', () => {
  const quietHours = { from: 12 * 60, to: 14 * 60, timeZone: 'UTC' }

  test.each([
    ['at once', {}, {}, '12:00'],
    ['after the quiet hours', { quietHours }, {}, '14:00'],
    ['in quiet hours, if it is critical', { quietHours }, { risk: 'critical' }, '12:00'],
    ['in quiet hours, if it only changes what is shown', { quietHours }, { status: 'rejected' }, '12:00'],
    [
      'after the quiet hours about a silent agent that nobody woke',
      { quietHours },
      { type: 'alert', risk: null, status: 'escalated' },
      '14:00',
    ],
    ['with the next digest', { digestMs: 45 * MINUTE_MS }, {}, '12:45'],
    ['before the digest, if it is critical', { digestMs: 45 * MINUTE_MS }, { risk: 'critical' }, '12:00'],
    [
      'after the quiet hours in which the digest falls',
      { quietHours, digestMs: 60 * MINUTE_MS },
      { at: at - 5 * MINUTE_MS },
      '14:00',
    ],
    ['with a digest after the quiet hours', { quietHours, digestMs: 180 * MINUTE_MS }, {}, '15:00'],
  ])('%s', (_when, notify, values, time) => {
    // A digest is sent at whole multiples of its time. This is one of 45, of 60 and of 180 minutes, plus a minute.
    const item = of({ at: at + 1, ...values })
    const told = rulesOf('ada', notify).notBefore(item, at)

    expect(new Date(told).toISOString().slice(11, 16)).toBe(time)
  })

  test('about what has happened while nobody could be told, when the quiet hours end', () => {
    const rules = rulesOf('ada', { quietHours })

    expect(rules.notBefore(of({ at: at - 180 * MINUTE_MS }), at)).toBe(at + 120 * MINUTE_MS)
    expect(rules.notBefore(null, at)).toBe(at + 120 * MINUTE_MS)
    expect(rules.notBefore(null, at + 120 * MINUTE_MS)).toBe(at + 120 * MINUTE_MS)
  })

  test('of an escalation in the quiet hours of the one who stands in, after them', () => {
    const hours = { ...quietHours, from: 12 * 60 + 10 }

    expect(rulesOf('cleo', { quietHours: hours }).notBefore(approval, at)).toBe(at + 120 * MINUTE_MS)
    expect(rulesOf('cleo', { quietHours: hours }).notBefore(of({ risk: 'critical' }), at)).toBe(at + 15 * MINUTE_MS)
  })
})
