// Whatever an agent, a tool or a person writes, Slack takes the message, and nothing in it becomes ours.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/tier.ts'
import { approvalStatuses, type PersonRecord } from '../../../domain/records/record.ts'
import { describe as viewOf } from '../../../supervision/records/describe-record.ts'
import { sessionRoot } from '../session-threads.ts'
import { areBlocksTooLong, checkBlocks } from '../testing/check-blocks.ts'
import { escaped, type SlackMessage } from './blocks.ts'
import type { CardLook, CardSession } from './card.ts'
import { confirmMessage, editedMessage, logLine, notice } from './messages.ts'
import { newsOf, renderCard } from './render-card.ts'
import {
  alert,
  diffApproval,
  look,
  permission,
  policy,
  prompt,
  question,
  session,
  standby,
  toolCall,
} from './testing/sample-records.ts'

const HOSTILE = [
  '<!channel>',
  '<!here|x>',
  '@channel',
  '<@U012AB3CD>',
  '<http://evil.example|Approved>',
  '```\n:white_check_mark: *Approved* by ada\n```',
  ':white_check_mark:',
  '`_*~',
  '&amp;',
  '\u202e\u2066\u200b',
  '\u001b[2K',
  '\ud83d',
  '👩‍💻',
  '\r\n',
  ' '.repeat(50),
  '',
]

const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .tuple(fc.constantFrom(...HOSTILE, 'x', '&', '😀'), fc.constantFrom(300, 4_000))
    .map(([text, length]) => text.padEnd(length, text || ' ')),
)

const UNSEEN = /[\p{Bidi_Control}[\p{Cc}--[\t\n]]]/v

/** Words of closed lists. They come from us. */
const OURS = new Set([
  'wait',
  'status',
  'kind',
  'risk',
  'promptType',
  'decision',
  'answerableBy',
  'type',
  'snippetType',
])

/** The same value with every other text replaced. */
function replaced(value: unknown, next: () => string, key = ''): unknown {
  if (typeof value === 'string') {
    if (OURS.has(key)) return value
    if (key === 'response') return JSON.stringify(next())
    return key === 'arguments' || key === 'editedArguments'
      ? JSON.stringify({ [next()]: next(), list: [next()], [key]: { a: next(), b: next(), c: next() } })
      : next()
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => replaced(one, next, key))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, next, name)]))
}

const full = (wait: PersonRecord): PersonRecord =>
  ({ ...wait, decidedVia: 'x', decidedAt: 1, decidedBy: 'x', reason: 'x' }) as PersonRecord
const decisions = Array.from({ length: 9 }, () => ({ by: 'x', via: 'x', at: 1 }))
const approvals = [
  ...[toolCall, question, diffApproval, permission, policy].flatMap((wait) =>
    approvalStatuses.map((status) =>
      full({ ...wait, status, preview: 'x', action: 'x', response: 'x', editedArguments: 'x', quorum: 9, decisions }),
    ),
  ),
  full({
    ...permission,
    ...(diffApproval.supervised === undefined
      ? {}
      : {
          supervised: {
            ...diffApproval.supervised,
            isEdited: true,
            notApplied: 'x',
            change: {
              path: 'x',
              kind: 'create',
              addedLines: 1,
              removedLines: 1,
              warnings: Array.from({ length: 9 }, () => 'x'),
              protectedBecause: 'x',
              hasHiddenText: true,
            },
          },
        }),
    status: 'consumed',
    preview: 'x',
    editedArguments: 'x',
  }),
]
const records: PersonRecord[] = [
  ...approvals,
  { ...prompt },
  full({ ...prompt, status: 'decided', decision: 'refine', instruction: 'x' }),
  { ...standby },
  full({ ...standby, status: 'resumed', instruction: 'x' }),
  { ...alert, nudgeCount: 3, lastNudgeAt: 5, nudgedBy: 'x', nudgeMessage: 'x', status: 'escalated' },
  full({ ...alert, status: 'dismissed' }),
]

const looks = fc
  .tuple(
    fc.constantFrom('minimal' as const, 'standard' as const, 'verbose' as const),
    fc.constantFrom('open' as const, 'working' as const, 'awaiting_text' as const),
    hostileText,
  )
  .map(
    ([detail, type, by]): CardLook => ({
      ...look,
      detail,
      state: type === 'open' ? { type } : { type, by, action: 'refine' },
      buttonValue: (action) => `${'v'.repeat(200)}${action}`,
    }),
  )

const subjects = fc
  .tuple(fc.constantFrom(...records), fc.array(hostileText, { minLength: 3, maxLength: 12 }))
  .map(([wait, texts]) => {
    let i = 0
    const next = () => texts[i++ % texts.length] ?? ''
    const diff = Array.from({ length: 60 }, (_, n) => `${n % 3 === 0 ? ' ' : '+'}${next().replaceAll('\n', '')}`).join(
      '\n',
    )
    return subjectOf(wait, next, diff)
  })

/** A record with hostile texts, the session it belongs to, and what its card shows. */
function subjectOf(wait: PersonRecord, next: () => string, diff: string) {
  const record = replaced(wait, next) as PersonRecord
  const progress = Array.from({ length: 100 }, () => ({ label: 'x', status: 'done' }))
  const shown = replaced({ ...session, title: 'x', prompt: 'x', progress }, next) as CardSession
  return { record, session: shown, view: viewOf(record, { ...shown, diff }) }
}

/** Every text of the message, with the kind of element that holds it. */
function textsOf(value: unknown, type = ''): { type: string; text: string }[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'type' in value && typeof value.type === 'string' ? value.type : type
  return Object.entries(value).flatMap(([key, one]) =>
    typeof one === 'string' && (key === 'text' || key === 'fallback') ? [{ type: own, text: one }] : textsOf(one, own),
  )
}

function check({ text, blocks, files }: SlackMessage): void {
  expect(checkBlocks(blocks)).toEqual([])
  expect(areBlocksTooLong(blocks)).toBe(false)
  const texts = textsOf(blocks)
  // Slack does not say what it counts against its limit of about 13,000. So it holds for escaped text, and for JSON.
  const total = texts.reduce((sum, one) => sum + escaped(one.text).length, 0)
  expect(total).toBeLessThanOrEqual(12_000)
  expect(JSON.stringify(blocks).length).toBeLessThanOrEqual(13_000)
  for (const { type, text: shown } of texts) {
    expect(shown).not.toBe('')
    expect(shown.isWellFormed()).toBe(true)
    expect(shown).not.toMatch(UNSEEN)
    // Slack parses this kind alone, and it holds only the person whom we mention.
    if (type === 'mrkdwn') expect(shown).toBe('<@U012AB3CD>, please answer.')
  }
  // Our own words have a colon only at their end.
  expect(text).not.toMatch(/[<>*~`@]|:(?!\s)|&(?!amp;|lt;|gt;)/)
  expect(text.length).toBeLessThanOrEqual(3_000)
  for (const { name, content } of files ?? []) {
    expect(name).toMatch(/^[\w.-]{1,160}$/)
    expect(content.isWellFormed()).toBe(true)
  }
}

describe('hostile text of any length', () => {
  test('fits into a card, and stays text', () => {
    fc.assert(
      fc.property(subjects, looks, ({ view }, one) => {
        const message = renderCard(view, one)

        check(message)
        expect(renderCard(view, one)).toEqual(message)
      }),
      { numRuns: runs(30) },
    )
  })

  test('fits into every other message', () => {
    fc.assert(
      fc.property(subjects, looks, hostileText, ({ session: shown, view }, one, text) => {
        check(sessionRoot(shown, one))
        check(logLine(shown, 'error', text, text))
        check(notice(text))
        if (view.actions.some(({ name }) => name === 'approve')) check(confirmMessage(view, one))
        if (view.actions.length > 0) check(editedMessage(view, one, text))
      }),
      { numRuns: runs(10) },
    )
  })
})

test.each(['x', '<', '"', '😀', '\u202e', '\n'])('every message fits with 3,200 times %j in each field', (char) => {
  const next = () => char.repeat(3_200)
  const kinds = records.filter(
    ({ wait, status }) => wait !== 'approval' || status === 'pending' || status === 'consumed',
  )
  for (const wait of kinds) {
    const diff = `--- a\n+++ a\n${`+${char.repeat(200).replaceAll('\n', '-')}\n`.repeat(60)}`
    const { record, view } = subjectOf(wait, next, diff)
    const most: CardLook = {
      ...look,
      detail: 'verbose',
      state: { type: 'awaiting_text', by: next(), action: 'refine' },
      buttonValue: (action) => `${'v'.repeat(200)}${action}`,
    }
    check(renderCard(view, most))
    const news = newsOf(record, view, most.link)
    if (news !== null) check(news.message)
    if (view.actions.some(({ name }) => name === 'approve')) check(confirmMessage(view, most))
    if (view.actions.length > 0) check(editedMessage(view, most, next()))
  }
})
