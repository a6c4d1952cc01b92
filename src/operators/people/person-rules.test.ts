import { describe, expect, test } from 'vitest'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { NotifySettings } from '../../domain/settings/channel-settings.ts'
import { testOperator } from '../../domain/testing/test-operator.ts'
import { deliveryOf } from '../testing/sample-waits.ts'
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
  return createPersonRules({ person, operators, escalation })
}

describe('who is asked', () => {
  const elsewhere = { supervision: {} } as SessionRecord
  const here = {} as SessionRecord
  const ended = { kind: 'session', status: 'terminated' }

  test.each([
    ['the owner of an agent elsewhere', 'ada', {}, elsewhere, 'at once'],
    ['nobody else', 'ben', {}, elsewhere, 'never'],
    ['the group that the escalation names, later', 'cleo', {}, elsewhere, 'after 15 min'],
    ['one whom it names for at once', 'dan', {}, elsewhere, 'after 0 min'],
    ['at once those who see it already, when it changes', 'cleo', { status: 'rejected' }, elsewhere, 'at once'],
    ['every operator by an agent of ours', 'ben', {}, here, 'at once'],
    ['every operator when the owner is none any more', 'ben', { owner: 'zoe' }, elsewhere, 'at once'],
    ['the owner about the end of a session', 'ada', ended, elsewhere, 'at once'],
    ['nobody else about it', 'cleo', ended, elsewhere, 'never'],
    ['nobody about a conversation with an agent of ours', 'ada', ended, here, 'never'],
  ])('%s', (_who, name, values, session, when) => {
    const from = rulesOf(name).asksFrom(of(values), session)

    expect(from === null ? 'never' : from === 0 ? 'at once' : `after ${(from - at) / MINUTE_MS} min`).toBe(when)
  })

  test.each([
    ['approval', 'approval'],
    ['prompt', 'prompt'],
    ['standby', 'wait'],
    ['alert', 'stall'],
  ] as const)('a person who wants to hear of nothing else is told about %s as %s', (type, kind) => {
    expect(rulesOf('ada', { kinds: [kind] }).concerns(of({ type }))).toBe(true)
    expect(rulesOf('ada', { kinds: ['session'] }).concerns(of({ type }))).toBe(false)
  })

  test('nobody is told about runs, and about sessions only who asks for it', () => {
    expect(rulesOf('ada').concerns(of({ kind: 'run', status: 'running' }))).toBe(false)
    expect(rulesOf('ada').concerns(of(ended))).toBe(false)
    expect(rulesOf('ada', { kinds: ['session'] }).concerns(of(ended))).toBe(true)
  })
})

describe('when they are told', () => {
  const quietHours = { from: 12 * 60, to: 14 * 60, timeZone: 'UTC' }
  const escalated = { type: 'alert', risk: null, status: 'escalated' }

  test.each([
    ['at once', {}, {}, '12:00'],
    ['after the quiet hours', { quietHours }, {}, '14:00'],
    ['in quiet hours, if it is critical', { quietHours }, { risk: 'critical' }, '12:00'],
    ['in quiet hours, if it only changes what is shown', { quietHours }, { status: 'rejected' }, '12:00'],
    ['after the quiet hours about a silent agent that nobody woke', { quietHours }, escalated, '14:00'],
    ['with the next digest', { digestMs: 45 * MINUTE_MS }, {}, '12:45'],
    ['before the digest, if it is critical', { digestMs: 45 * MINUTE_MS }, { risk: 'critical' }, '12:00'],
    ['after the quiet hours in which the digest falls', { quietHours, digestMs: 60 * MINUTE_MS }, {}, '14:00'],
    ['with a digest after the quiet hours', { quietHours, digestMs: 180 * MINUTE_MS }, {}, '15:00'],
    ['at once with a digest that is over', { digestMs: 45 * MINUTE_MS }, { at: at - 10 * MINUTE_MS }, '12:00'],
  ])('%s', (_when, notify, values, time) => {
    // A digest is sent at whole multiples of its time: 12:00 is one of 45, of 60 and of 180 minutes.
    const item = of({ at: at + 1, ...values })
    const told = rulesOf('ada', notify).notBefore(deliveryOf(item), at)

    expect(new Date(told).toISOString().slice(11, 16)).toBe(time)
  })

  test('about what has happened while nobody could be told, when the quiet hours end', () => {
    const rules = rulesOf('ada', { quietHours })

    expect(rules.notBefore(deliveryOf(of({ at: at - 180 * MINUTE_MS })), at)).toBe(at + 120 * MINUTE_MS)
    expect(rules.notBefore(deliveryOf(null), at)).toBe(at + 120 * MINUTE_MS)
    expect(rules.notBefore(deliveryOf(null), at + 120 * MINUTE_MS)).toBe(at + 120 * MINUTE_MS)
  })
})
