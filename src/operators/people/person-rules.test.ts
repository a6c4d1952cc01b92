import { describe, expect, test } from 'vitest'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { NotifySettings } from '../../domain/settings/channel-settings.ts'
import { testOperator } from '../../domain/testing/test-operator.ts'
import { deliveryOf } from '../testing/sample-waits.ts'
import { createPersonRules, createQuietUntil } from './person-rules.ts'

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
    ['with the next quarter of an hour, if it is low', {}, { risk: 'low' }, '12:15'],
    ['after the quiet hours, if it is low', { quietHours }, { risk: 'low' }, '14:00'],
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

const night = { from: 22 * 60, to: 7 * 60 }
const berlin = { ...night, timeZone: 'Europe/Berlin' }
const noon = { from: 12 * 60, to: 13 * 60, timeZone: 'Asia/Kolkata' }

test.each([
  // Winter in Berlin is UTC+1.
  ['in the evening', berlin, '2026-01-15T21:30:00Z', '2026-01-16T06:00:00Z'],
  ['after midnight', berlin, '2026-01-16T03:00:20Z', '2026-01-16T06:00:00Z'],
  ['in its first minute', berlin, '2026-01-15T21:00:00Z', '2026-01-16T06:00:00Z'],
  ['before it', berlin, '2026-01-15T20:59:59Z', null],
  ['at its end', berlin, '2026-01-16T06:00:00Z', null],
  // Summer in Berlin is UTC+2.
  ['in summer', berlin, '2026-07-15T21:30:00Z', '2026-07-16T05:00:00Z'],
  // On 29 March 2026 the clocks go from 02:00 to 03:00, on 25 October from 03:00 to 02:00.
  ['when the night is shorter', berlin, '2026-03-28T22:00:00Z', '2026-03-29T05:00:00Z'],
  ['when the night is longer', berlin, '2026-10-24T21:00:00Z', '2026-10-25T06:00:00Z'],
  ['in the hour that comes twice', { ...berlin, to: 150 }, '2026-10-24T23:30:00Z', '2026-10-25T00:30:00Z'],
  ['when its end does not exist', { ...berlin, to: 150 }, '2026-03-29T00:30:00Z', '2026-03-29T01:00:00Z'],
  ['within a day, half an hour beside UTC', noon, '2026-01-15T07:15:00Z', '2026-01-15T07:30:00Z'],
  ['outside of it', noon, '2026-01-15T07:30:00Z', null],
  ['never, if it ends when it begins', { ...berlin, to: 22 * 60 }, '2026-01-15T21:00:00Z', null],
])('%s', (_when, quiet, at, until) => {
  const found = createQuietUntil(quiet)(Date.parse(at))

  expect(found === null ? null : new Date(found).toISOString()).toBe(until?.replace('Z', '.000Z') ?? null)
})
