// Slack in a whole server: people press buttons and write in a Slack that is real up to its socket, and agents hear of it over MCP. What can
// happen to each card beyond that is in `src/operators/slack/answers/slack-answers.test.ts`.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textOf } from '../../src/operators/slack/testing/open-slack.ts'
import { buttonsOf } from '../../src/operators/slack/testing/people.ts'
import type { ShownMessage } from '../../src/operators/slack/testing/slack-workspace.ts'
import { ANN, BUSY_MS, EVE, MAL, OPS, openSlackHouse, recordOf, type SlackHouse, until } from './slack-house.ts'

type Kind = 'tool_call' | 'question' | 'diff' | 'permission' | 'policy' | 'prompt' | 'standby' | 'alert'

interface Row {
  kind: Kind
  /** The records over HTTP. */
  path: '/approvals' | '/prompts' | '/waits' | '/alerts'
  /** The first button of the card, what it makes of the record, and what the agent hears. */
  first: string
  taken: object
  heard?: object
  /** A yes that is asked for twice. */
  isDangerous?: true
  /** A reply in the thread. */
  text: string
  written: object
  heardText?: object
  /** Somebody decides over HTTP. */
  decision: { path?: string; body: object }
  decided: object
}

const byAnn = { decided_by: 'ann', decided_channel: 'slack' }
const rejected = { body: { decision: 'reject' } }
const rows: readonly Row[] = [
  {
    kind: 'tool_call',
    path: '/approvals',
    first: 'approve',
    isDangerous: true,
    taken: { status: 'consumed', decided_by: 'ann' },
    text: 'reject Wrong folder.',
    written: { status: 'rejected', reason: 'Wrong folder.', decided_by: 'ann' },
    decision: rejected,
    decided: { status: 'rejected' },
  },
  {
    kind: 'question',
    path: '/approvals',
    first: 'answer:0',
    taken: { status: 'answered', decided_by: 'ann' },
    text: 'answer l',
    written: { status: 'answered', decided_by: 'ann' },
    decision: rejected,
    decided: { status: 'rejected' },
  },
  {
    kind: 'diff',
    path: '/approvals',
    first: 'approve',
    taken: { status: 'approved', ...byAnn },
    heard: { status: 'approved' },
    text: 'no, not today',
    written: { status: 'rejected', reason: 'not today', ...byAnn },
    heardText: { status: 'rejected', reason: 'not today' },
    decision: rejected,
    decided: { status: 'rejected' },
  },
  {
    kind: 'permission',
    path: '/approvals',
    first: 'approve',
    isDangerous: true,
    taken: { status: 'consumed', ...byAnn },
    heard: { behavior: 'allow', updatedInput: { command: 'deploy' } },
    text: 'reject: too risky',
    written: { status: 'rejected', reason: 'too risky', ...byAnn },
    heardText: { behavior: 'deny', message: expect.stringContaining('too risky') },
    decision: rejected,
    decided: { status: 'rejected' },
  },
  {
    kind: 'policy',
    path: '/approvals',
    first: 'approve',
    isDangerous: true,
    taken: { status: 'approved', ...byAnn },
    heard: { auto_approved: true },
    text: 'REJECT',
    written: { status: 'rejected', ...byAnn },
    heardText: { auto_approved: false },
    decision: rejected,
    decided: { status: 'rejected' },
  },
  {
    kind: 'prompt',
    path: '/prompts',
    first: 'continue',
    taken: { status: 'decided', decision: 'continue', ...byAnn },
    heard: { decision: 'continue' },
    text: 'refine Only the tests.',
    written: { status: 'decided', decision: 'refine', instruction: 'Only the tests.', ...byAnn },
    heardText: { decision: 'refine', instruction: 'Only the tests.' },
    decision: { body: { decision: 'stop' } },
    decided: { status: 'decided', decision: 'stop' },
  },
  {
    kind: 'standby',
    path: '/waits',
    first: 'resume',
    taken: { status: 'resumed', ...byAnn },
    heard: { status: 'resumed' },
    text: 'Write the docs, then stop.',
    written: { status: 'resumed', instruction: 'Write the docs, then stop.', ...byAnn },
    heardText: { status: 'resumed', instruction: 'Write the docs, then stop.' },
    decision: { body: { instruction: 'Go on.' } },
    decided: { status: 'resumed', instruction: 'Go on.' },
  },
  {
    kind: 'alert',
    path: '/alerts',
    first: 'nudge',
    taken: { status: 'self_recovered' },
    heard: { nudge: expect.stringContaining('Are you still working?') },
    text: 'nudge Are you there?',
    written: { status: 'self_recovered' },
    heardText: { nudge: 'Are you there?' },
    decision: { path: '/dismiss', body: {} },
    decided: { status: 'dismissed' },
  },
]

const isOwn = (kind: Kind) => kind === 'tool_call' || kind === 'question'
const roomOf = (kind: Kind) => (isOwn(kind) ? OPS : `C0${kind.toUpperCase()}`)

/** Asks, and gives what the agent hears in the end. */
function ask(house: SlackHouse, kind: Kind, name: string): () => Promise<unknown> {
  const room = roomOf(kind)
  const policy = { '.quarterdeck/policy.json': JSON.stringify({ enabled: true, tools: ['Look'], commands: [] }) }
  // One silent agent is enough: time passes for all of them.
  const agent = house.agent(kind === 'alert' ? kind : name, {
    room,
    ...(kind === 'policy' ? { workspace: house.folder(name, policy) } : {}),
  })
  const waitsFor = (answer: Promise<unknown>) => () => answer
  switch (kind) {
    case 'tool_call':
    case 'question': {
      const sent = house.client().send(name, kind === 'tool_call' ? 'Wipe it' : 'Order it')
      return () => sent.then(() => ({}))
    }
    case 'diff':
      return waitsFor(agent('ask_approval', { title: 'Change', diff: 'one\nthree\n', file_path: 'a.txt' }))
    case 'permission':
      return waitsFor(
        agent('approve_tool', { tool_name: 'Bash', input: { command: 'deploy' }, tool_use_id: `toolu_${name}` }),
      )
    case 'policy': {
      const check = () => agent('check_auto_approve', { tool_name: 'Look', context: {} })
      const first = check()
      return () => first.then(check)
    }
    case 'prompt':
      return waitsFor(agent('forward_prompt', { prompt_text: 'Shall I go on?' }))
    case 'standby':
      return waitsFor(agent('wait_for_instruction', { message: 'What next?' }))
    case 'alert':
      void agent('heartbeat', {}).then(() => house.leap(310_000))
      return () => agent('heartbeat', {})
  }
}

const shownIn = (house: SlackHouse, { channel, ts }: ShownMessage): ShownMessage =>
  house.slack.messages(channel).find((message) => message.ts === ts) ?? expect.fail('the card is gone')

/** The card says that it is over, and can be pressed no more. */
async function closed(house: SlackHouse, card: ShownMessage): Promise<string> {
  await until(
    () => buttonsOf(shownIn(house, card)).length === 0 && !textOf(shownIn(house, card)).includes('working on it'),
  )
  return textOf(shownIn(house, card))
}

let house: SlackHouse
describe('a card in a whole server', { timeout: BUSY_MS }, () => {
  beforeAll(async () => {
    house = await openSlackHouse({ rooms: rows.map(({ kind }) => roomOf(kind)).filter((room) => room !== OPS) })
    await house.slack.whenConnected()
  }, BUSY_MS)
  afterAll(() => house.close(), BUSY_MS)

  test.each([
    {
      kind: 'diff' as const,
      file: { name: 'a.txt', content: 'one\nfour\n' },
      press: ['approve'],
      heard: { status: 'approved', edited: true, diff: expect.stringContaining('+four') },
    },
    {
      kind: 'permission' as const,
      file: { name: 'input.json', content: '{"command":"npm run lint"}' },
      press: ['confirm:approve'],
      heard: { behavior: 'allow', updatedInput: { command: 'npm run lint' } },
    },
    {
      kind: 'tool_call' as const,
      file: { name: 'input.json', content: '{"path":"/tmp/b"}' },
      press: ['confirm:approve'],
      heard: {},
    },
  ])('of the kind $kind takes an edit, shows it again, and then its yes', async ({ kind, file, press, heard }) => {
    const room = roomOf(kind)
    const hearing = ask(house, kind, `${kind}-edit`)
    const card = await house.openCard(room)
    await house.slack.reply({ user: ANN, channel: room, thread: card.threadTs, text: 'like this', files: [file] })
    for (const action of press) await house.press(ANN, await house.whispered(ANN, room, action), action)

    expect(await hearing()).toMatchObject(heard)
    expect(await closed(house, card)).toContain('ann')
    if (kind === 'tool_call') await until(() => JSON.stringify(house.wiped.at(-1)) === file.content)
  })

  // One kind after the other: the last lets so much time pass that agents of the others would be silent for too long.
  describe.each(rows)('of the kind $kind', (row) => {
    const { kind, path, first, decision } = row

    test('gives strangers nothing, and a double click counts once', async () => {
      const room = roomOf(kind)
      const heard = ask(house, kind, `${kind}-press`)
      const card = await house.openCard(room)
      const before = await house.read(`${path}/${recordOf(card)}`)
      await house.press(MAL, card, first)
      if (!isOwn(kind)) {
        await house.press(EVE, card, first)
        const told = await until(() => house.slack.ephemerals(room, EVE).at(-1))
        expect(textOf(told)).toContain('only ann or an admin may decide')
      }
      // The same words in another channel belong to no session there.
      await house.slack.reply({ user: ANN, channel: OPS, thread: card.ts, text: first })
      expect(await house.read(`${path}/${recordOf(card)}`)).toEqual(before)

      const acks = await Promise.all([house.press(ANN, card, first), house.press(ANN, card, first)])
      expect(acks.map(({ isAcked }) => isAcked)).toEqual([true, true])
      if (row.isDangerous)
        await house.press(ANN, await house.whispered(ANN, room, 'confirm:approve'), 'confirm:approve')
      if (kind === 'policy') await closed(house, card)
      if (kind === 'alert') await until(async () => (await house.read(`${path}/${recordOf(card)}`)).status === 'nudged')
      expect(await heard()).toMatchObject(row.heard ?? {})
      expect(await closed(house, card)).toMatch(kind === 'alert' ? /Recovered after a nudge/ : /ann/)
      expect(await house.read(`${path}/${recordOf(card)}`)).toMatchObject(row.taken)
      expect(house.slack.ephemerals(room, MAL)).toEqual([])
      expect(house.cards(room).filter((one) => recordOf(one) === recordOf(card)).length).toBe(1)
    })

    test('takes a text in its thread as the answer', async () => {
      const heard = ask(house, kind, `${kind}-text`)
      const card = await house.openCard(roomOf(kind))
      await house.slack.reply({ user: ANN, channel: card.channel, thread: card.threadTs, text: row.text })
      if (kind === 'alert') await until(async () => (await house.read(`${path}/${recordOf(card)}`)).status === 'nudged')
      else await closed(house, card)
      expect(await heard()).toMatchObject(row.heardText ?? {})
      await closed(house, card)
      expect(await house.read(`${path}/${recordOf(card)}`)).toMatchObject(row.written)
    })

    test('shows a decision over HTTP a moment later', async () => {
      const heard = ask(house, kind, `${kind}-http`)
      const card = await house.openCard(roomOf(kind))
      const given = await house.decide('root', `${path}/${recordOf(card)}${decision.path ?? ''}`, decision.body)
      expect(given.status).toBe(200)

      expect(await closed(house, card)).toContain('root')
      await heard()
      expect(await house.read(`${path}/${recordOf(card)}`)).toMatchObject({ ...row.decided, decided_by: 'root' })
    })
  })
})

test(
  'a remembered answer is listed and revoked from Slack, by operators alone',
  async () => {
    const room = 'C0GRANTS'
    const own = await openSlackHouse({ rooms: [room] })
    try {
      await own.slack.whenConnected()
      for (const user of [ANN, EVE, MAL]) own.slack.join(room, user)
      const agent = own.agent('grants', { room })
      const deploys = (id: string) =>
        agent('approve_tool', { tool_name: 'Bash', input: { command: 'deploy' }, tool_use_id: id })
      const said = async (user: string, text: string, words: RegExp): Promise<string> => {
        await own.slack.slash({ user, channel: room, text })
        return until(() =>
          own.slack
            .ephemerals(room, user)
            .map(textOf)
            .findLast((one) => words.test(one)),
        )
      }
      const first = deploys('one')
      await own.press(ANN, await own.openCard(room), 'remember')
      await own.press(ANN, await own.whispered(ANN, room, 'remember:0:workspace'), 'remember:0:workspace')
      expect(await first).toMatchObject({ behavior: 'allow' })
      expect(await deploys('two')).toMatchObject({ behavior: 'allow' })
      expect(own.cards(room).length).toBe(1)

      const listed = await said(ANN, 'grants', /1 remembered answer/)
      const id = /(\w[\w-]*) · allowed · This command: deploy/.exec(listed)?.[1] ?? expect.fail(listed)
      await own.slack.slash({ user: MAL, channel: room, text: 'grants' })
      await own.slack.slash({ user: MAL, channel: room, text: `revoke ${id}` })
      // Not of an agent of theirs.
      await said(EVE, `revoke ${id}`, /ann or an admin/)
      expect(own.slack.ephemerals(room, MAL)).toEqual([])
      expect(await deploys('three')).toMatchObject({ behavior: 'allow' })
      await said(ANN, `revoke ${id}`, /Revoked: This command: deploy/)
      await said(ANN, 'grants', /Nothing is remembered/)
      const again = deploys('four')
      await own.press(ANN, await own.openCard(room), 'reject')
      expect(await again).toMatchObject({ behavior: 'deny' })
    } finally {
      await own.close()
    }
  },
  BUSY_MS,
)

test(
  'cards that nobody answers in time say so, and a late press changes nothing',
  async () => {
    // A policy waits as long as its text lies there.
    const kinds = rows.map(({ kind }) => kind).filter((kind) => kind !== 'alert' && kind !== 'policy')
    const quiet = await openSlackHouse({ rooms: kinds.map(roomOf).filter((room) => room !== OPS) })
    try {
      for (const kind of kinds) void ask(quiet, kind, `${kind}-late`)().catch(() => {})
      await until(() => kinds.map(roomOf).flatMap(quiet.cards).length >= kinds.length)
      await quiet.leap(3_601_000)
      const all = () => [...new Set(kinds.map(roomOf))].flatMap(quiet.cards).filter((card) => !isAlert(card))
      await until(() => all().every((card) => buttonsOf(card).length === 0))
      for (const card of all()) expect(textOf(card)).toMatch(/Expired|Nobody answered in time|Timed out/)
      const [late] = quiet.cards('C0DIFF')
      const { channel = '', ts = '' } = late ?? {}
      await quiet.slack.click({ user: ANN, channel, ts, actionId: 'quarterdeck:approve', stale: true })
      const told = await until(() => quiet.slack.ephemerals(channel, ANN).at(-1))
      expect(textOf(told)).toContain('Expired')
    } finally {
      await quiet.close()
    }
  },
  BUSY_MS,
)

const isAlert = (card: ShownMessage) => textOf(card).includes('has gone silent')
