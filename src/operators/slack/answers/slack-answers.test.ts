// Each kind of record, and everything that people do with its card.

import { describe, expect, test } from 'vitest'
import { isRecord } from '../../../domain/is-record.ts'
import { isWaiting, type PersonRecord } from '../../../domain/records/record.ts'
import { OTHER_ROOM } from './testing/open-answers.ts'
import { openRecord, type RecordKind } from './testing/open-records.ts'

interface Row {
  kind: RecordKind
  /** The button that says yes, and what it makes of the record. */
  yes: string
  /** A yes that is asked for twice. */
  isDangerous?: true
  approved: object
  no: string
  refused: object
  /** A reply, and what it makes of the record. */
  text: string
  written: object
  /** Only the owner and admins may answer. */
  isOwned: boolean
  late: string
}

const byAnn = { decidedBy: 'ann', decidedVia: 'slack' }
const rows: readonly Row[] = [
  {
    kind: 'diff',
    yes: 'approve',
    approved: { status: 'approved', ...byAnn },
    no: 'reject',
    refused: { status: 'rejected', reason: null, ...byAnn },
    text: 'Reject: not &lt;now&gt;, see README.md',
    written: { status: 'rejected', reason: 'not &lt;now&gt;, see README.md', ...byAnn },
    isOwned: true,
    late: 'Expired',
  },
  {
    kind: 'permission',
    yes: 'approve',
    isDangerous: true,
    // The agent takes it a moment later.
    approved: { status: expect.stringMatching(/^(approved|consumed)$/), ...byAnn },
    no: 'reject',
    refused: { status: 'rejected', ...byAnn },
    text: 'no, too risky',
    written: { status: 'rejected', reason: 'too risky', ...byAnn },
    isOwned: true,
    late: 'Expired',
  },
  {
    kind: 'policy',
    yes: 'approve',
    isDangerous: true,
    approved: { status: 'approved', ...byAnn },
    no: 'reject',
    refused: { status: 'rejected', ...byAnn },
    text: 'REJECT',
    written: { status: 'rejected', reason: null, ...byAnn },
    isOwned: true,
    late: 'Expired',
  },
  {
    kind: 'tool_call',
    yes: 'approve',
    isDangerous: true,
    approved: { decidedBy: 'ann' },
    no: 'reject',
    refused: { status: 'rejected', decidedBy: 'ann' },
    text: 'reject Wrong folder.',
    written: { status: 'rejected', reason: 'Wrong folder.', decidedBy: 'ann' },
    isOwned: false,
    late: 'Expired',
  },
  {
    kind: 'question',
    yes: 'answer:1',
    approved: { status: 'answered', response: '{"size":"L"}', decidedBy: 'ann' },
    no: 'reject',
    refused: { status: 'rejected', decidedBy: 'ann' },
    text: 'answer s',
    written: { status: 'answered', response: '{"size":"S"}', decidedBy: 'ann' },
    isOwned: false,
    late: 'Expired',
  },
  {
    kind: 'prompt',
    yes: 'continue',
    approved: { status: 'decided', decision: 'continue', ...byAnn },
    no: 'stop',
    refused: { status: 'decided', decision: 'stop', ...byAnn },
    text: 'refine Only the tests.',
    written: { status: 'decided', decision: 'refine', instruction: 'Only the tests.', ...byAnn },
    isOwned: true,
    late: 'Nobody answered in time',
  },
  {
    kind: 'standby',
    yes: 'resume',
    approved: { status: 'resumed', instruction: null, ...byAnn },
    no: 'stop',
    refused: { status: 'resumed', instruction: 'stop', ...byAnn },
    text: 'Write the docs, then stop.',
    written: { status: 'resumed', instruction: 'Write the docs, then stop.', ...byAnn },
    isOwned: true,
    late: 'Timed out',
  },
  {
    kind: 'alert',
    yes: 'dismiss',
    approved: { status: 'dismissed', ...byAnn },
    no: 'stop',
    refused: { status: 'dismissed', ...byAnn },
    text: 'nudge Are you there?',
    written: { status: 'nudged', nudgeCount: 1, nudgeMessage: 'Are you there?' },
    isOwned: true,
    late: 'Recovered by itself',
  },
]

describe.each(rows)('a card of the kind $kind', (row) => {
  const { kind, yes, no, isDangerous = false } = row

  test('takes a yes: "working" at once, then who decided, and no buttons', async () => {
    const { slack, id, ts } = await openRecord(kind)
    await slack.press('ann', ts, yes)
    if (isDangerous) {
      expect(slack.told('ann').at(-1)).toContain('Approve it?')
      expect(await slack.find(id)).toMatchObject({ status: 'pending' })
      await slack.pressOwn('ann', 'confirm:approve')
      // The question is gone with its buttons.
      expect(slack.told('ann')).toEqual(['Approved.'])
    } else expect(slack.told('ann')).toEqual([])

    expect(await slack.find(id)).toMatchObject(row.approved)
    const versions = slack.versions(ts)
    expect(versions.some((one) => one.includes('by ann … working on it'))).toBe(true)
    expect(versions.at(-1)).not.toMatch(/^\[/m)
    expect(versions.at(-1)).toContain('by ann')
  })

  test('takes a text in its thread, and says so', async () => {
    const { slack, id, thread } = await openRecord(kind)
    await slack.reply('ann', thread, row.text)

    expect(await slack.find(id)).toMatchObject(row.written)
    expect(slack.told('ann')).toHaveLength(1)
  })

  test('tells whoever comes late who decided, and changes nothing', async () => {
    const { slack, id, ts, thread, decideElsewhere } = await openRecord(kind)
    await decideElsewhere((await slack.find(id)) as PersonRecord)
    const before = await slack.find(id)
    await slack.press('root', ts, yes)

    expect(slack.told('root').at(-1)).toMatch(/It was decided already. Your answer changes nothing.\n.*by ann/)
    await slack.reply('root', thread, kind === 'alert' ? 'dismiss' : kind === 'question' ? 'answer S' : yes)
    expect(slack.told('root').at(-1)).toMatch(/It was decided already. Your answer changes nothing.\n.*by ann/)
    expect(await slack.find(id)).toEqual(before)
    expect(slack.versions(ts).at(-1)).toContain('by ann')
    // Ann herself is told something else.
    await slack.press('ann', ts, no)
    expect(slack.told('ann').at(-1)).toMatch(/^You have answered this already/)
  })

  test('tells whoever comes after its time that it is over', async () => {
    const { slack, id, ts, expire } = await openRecord(kind)
    await expire((await slack.find(id)) as PersonRecord)
    await slack.press('ann', ts, yes)
    if (isDangerous && kind === 'tool_call') await slack.pressOwn('ann', 'confirm:approve')

    expect(slack.told('ann').at(-1)).toContain(row.late)
    expect(isWaiting((await slack.find(id)) as PersonRecord)).toBe(false)
    expect((await slack.find(id))?.decidedBy).not.toBe('ann')
  })

  test('takes a no at once, and a double click or a press that Slack tells twice counts once', async () => {
    const { slack, id, ts } = await openRecord(kind)
    await Promise.all([slack.press('ann', ts, no), slack.press('ann', ts, no)])
    const [first] = slack.payloads
    await slack.hand('interactive', first ?? {})

    expect(await slack.find(id)).toMatchObject(row.refused)
    expect(slack.told('ann')).toEqual([
      expect.stringMatching(/^You have answered this already. That answer counts, once.\n/),
    ])
    expect(slack.versions(ts).at(-1)).not.toMatch(/^\[/m)
  })

  test('gives nobody else anything, and puts them on record', async () => {
    const { slack, id, ts, thread } = await openRecord(kind)
    const before = await slack.find(id)
    await slack.press('mal', ts, no)
    await slack.reply('mal', thread, row.text)
    await slack.press('ann', ts, no, { team: 'T0EVIL' })
    await slack.reply('ann', thread, row.text, { team: 'T0EVIL' })
    const [, , press] = slack.payloads
    const elsewhere = { ...press, channel: { id: OTHER_ROOM, name: 'two' }, user: { id: 'U0ANN', team_id: 'T0ACME' } }
    const actions = Array.isArray(press?.actions) && isRecord(press.actions[0]) ? press.actions[0] : {}
    const ours = { team: { id: 'T0ACME' } }
    await slack.hand('interactive', { ...elsewhere, ...ours, actions: [{ ...actions, action_ts: '1.1' }] })
    const forged = { ...actions, value: `${String(actions.value).slice(0, -3)}abc`, action_ts: '1.2' }
    await slack.hand('interactive', { ...press, user: { id: 'U0EVE', team_id: 'T0ACME' }, ...ours, actions: [forged] })

    expect(await slack.find(id)).toEqual(before)
    expect(slack.told('mal')).toEqual([])
    expect(slack.told('ann')).toEqual([])
    expect(slack.told('eve')).toEqual([expect.stringContaining('This button is not valid here. Nothing was decided')])
    expect(slack.versions(ts)).toHaveLength(1)
    expect(await slack.refused()).toMatchObject([
      { by: 'slack:U0MAL', what: 'button', tried: no, record: id, why: 'no_operator', room: 'C0OPS' },
      { by: 'slack:U0MAL', what: 'reply', why: 'no_operator' },
      { by: 'slack:U0ANN', what: 'button', tried: no, record: id, why: 'other_team', team: 'T0EVIL T0EVIL' },
      { by: 'slack:U0ANN', what: 'reply', why: 'other_team' },
      { by: 'slack:U0ANN', what: 'button', tried: no, record: id, why: 'forged', room: OTHER_ROOM },
      { by: 'slack:U0EVE', what: 'button', tried: 'unknown', why: 'forged' },
    ])
  })

  test('is answered by its owner and by admins', async () => {
    const { slack, id, ts, thread } = await openRecord(kind)
    await slack.press('eve', ts, no)
    if (row.isOwned) {
      expect(slack.told('eve').at(-1)).toContain('only ann or an admin may decide')
      await slack.press('eve', ts, yes)
      await slack.reply('eve', thread, no)
      expect(slack.told('eve')).toHaveLength(3)
      expect(new Set(slack.told('eve')).size).toBe(1)
      expect(isWaiting((await slack.find(id)) as PersonRecord)).toBe(true)
      expect(await slack.refused()).toMatchObject(
        [no, yes, no].map(() => ({ by: 'eve', credential: 'U0EVE', what: 'answer', why: 'forbidden', record: id })),
      )
      await slack.press('root', ts, no)
    }
    expect(await slack.find(id)).toMatchObject({ ...row.refused, decidedBy: row.isOwned ? 'root' : 'eve' })
  })
})
