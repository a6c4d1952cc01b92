import { describe, expect, test } from 'vitest'
import type { ChangeSummary, PersonRecord } from '../../domain/records/record.ts'
import { sampleAlert, sampleApproval, sampleInstruction, samplePrompt } from '../testing/sample-waits.ts'
import { testLink } from '../testing/test-post.ts'
import { digestOf, notificationOf, sessionNotification, summaryOf } from './notification.ts'

const change: ChangeSummary = {
  path: 'secret.ts',
  kind: 'modify',
  addedLines: 12,
  removedLines: 3,
  warnings: [],
  protectedBecause: null,
  hasHiddenText: false,
}
const asked = { host: 'claude-code', contentKey: 'key', returnedAt: null }
const supervised = { ...asked, change, mayForce: false, isEdited: false, appliedAt: null }

const wordsOf = (wait: PersonRecord, reader = 'ada'): string => {
  const { title, body, isNews } = notificationOf(wait, { reader, link: testLink })
  return `${title}. ${body}${isNews ? '' : ' (silent)'}`
}

describe('what a phone shows', () => {
  test.each<[string, PersonRecord, string]>([
    ['a call', sampleApproval(), 'claude-code asks to call a tool. Tool send_mail, risk high.'],
    [
      'a question',
      sampleApproval({ kind: 'question', risk: 'low' }),
      'claude-code has a question from one of its tools. Tool send_mail, risk low.',
    ],
    [
      'a permission',
      sampleApproval({ kind: 'permission', supervised: { ...supervised, change: null } }),
      'claude-code asks to use a tool of its host. Tool send_mail, risk high.',
    ],
    [
      'a change',
      sampleApproval({ kind: 'diff', supervised }),
      'claude-code asks to change a file. Change of a file: +12 −3 lines, risk high.',
    ],
    [
      'a policy',
      sampleApproval({ kind: 'policy', supervised: { ...supervised, change: null } }),
      'claude-code has a policy that nobody has accepted. New policy of a workspace, risk high.',
    ],
    ['a prompt', samplePrompt(), 'claude-code asks whether to go on. May it go on?'],
    [
      'an error',
      samplePrompt({ promptType: 'error_recovery' }),
      'claude-code has run into an error and asks what to do. It has run into an error.',
    ],
    ['a wait', sampleInstruction(), 'claude-code waits for an instruction. It stands by until you tell it what to do.'],
    ['silence', sampleAlert(), 'claude-code has gone silent. It gives no sign of life.'],
    [
      'a nudge',
      sampleAlert({ status: 'nudged', nudgeCount: 1 }),
      'claude-code has gone silent. It gives no sign of life. Nudged once. (silent)',
    ],
    [
      'an escalation',
      sampleAlert({ status: 'escalated', nudgeCount: 3 }),
      'claude-code is still silent after all nudges. It gives no sign of life. Nudged 3 times.',
    ],
    [
      'an approval',
      sampleApproval({ status: 'consumed', decidedBy: 'ben' }),
      'claude-code asks to call a tool. Approved by ben. (silent)',
    ],
    [
      'a rejection',
      sampleApproval({ status: 'rejected', decidedBy: 'ben' }),
      'claude-code asks to call a tool. Rejected by ben. (silent)',
    ],
    [
      'a timeout',
      sampleApproval({ status: 'expired', decidedBy: 'timeout' }),
      'claude-code asks to call a tool. Expired. Nobody answered in time, so it counts as refused. It was not a person’s no. (silent)',
    ],
    [
      'an answer by time',
      samplePrompt({ status: 'decided', decision: 'continue', decidedBy: 'timeout' }),
      'claude-code asks whether to go on. Continued. Nobody answered in time, so it goes on by itself. (silent)',
    ],
    [
      'an answer',
      sampleInstruction({ status: 'resumed', decidedBy: 'ben' }),
      'claude-code waits for an instruction. Resumed by ben. (silent)',
    ],
    [
      'the end of a question',
      samplePrompt({ status: 'interrupted' }),
      'claude-code asks whether to go on. Interrupted. The agent or its run ended before anybody answered. Nothing was decided. (silent)',
    ],
    [
      'the end of silence',
      sampleAlert({ status: 'self_recovered' }),
      'claude-code has gone silent. Recovered by itself. The agent reports again. (silent)',
    ],
  ])('%s', (_what, wait, words) => {
    expect(wordsOf(wait)).toBe(words)
  })

  test('whose agent it is, for somebody else', () => {
    expect(wordsOf(samplePrompt(), 'ben')).toBe('claude-code of ada asks whether to go on. May it go on?')
    expect(wordsOf(sampleApproval(), 'ben')).toBe('claude-code asks to call a tool. Tool send_mail, risk high.')
  })

  test('hidden characters, and no more of a long name than a line', () => {
    const wait = sampleApproval({ agent: `evil\u202e${'\u200b'.repeat(40_000)}`, tool: '字'.repeat(40_000) })
    const { title, body } = notificationOf(wait, { reader: 'ada', link: testLink })

    expect(title).toMatch(/^evil<U\+202E>/)
    expect([title, body].join().length).toBeLessThan(300)
  })
})

test('a digest lists what came, and says how much more there is', () => {
  const notifications = Array.from({ length: 12 }, (_, i) =>
    notificationOf(sampleApproval({ agent: `agent${i}`, risk: i === 7 ? 'critical' : 'low' }), {
      reader: 'ada',
      link: testLink,
    }),
  )
  const digest = digestOf(notifications, { n: 5, link: testLink })
  const lines = digest.body.split('\n')

  expect({ ...digest, body: null }).toEqual({
    ...{ key: 'digest-5', title: '12 messages', body: null, risk: 'critical', isNews: true, link: testLink(null) },
  })
  expect([lines[0], lines.length, lines.at(-1)]).toEqual([
    ...['agent0 asks to call a tool: Tool send_mail, risk low.', 11, 'and 2 more'],
  ])
  const long = digestOf(
    notifications.map((one) => ({ ...one, title: '字'.repeat(90) })),
    { n: 5, link: testLink },
  )
  expect(Buffer.byteLength(long.body)).toBeLessThan(1_600)
})

test('a summary counts, and a session is told by its state', () => {
  expect(summaryOf(44, { n: 3, link: testLink })).toMatchObject({
    key: 'summary-3',
    body: expect.stringContaining('44 changes'),
  })
  const item = {
    kind: 'session',
    n: 1,
    at: 0,
    id: 's',
    sessionId: 's',
    owner: 'ada',
    agent: 'codex',
    status: 'interrupted',
  } as const
  expect(sessionNotification(item, testLink)).toMatchObject({
    key: 's',
    title: 'codex was interrupted',
    body: 'A session of ada.',
  })
})
