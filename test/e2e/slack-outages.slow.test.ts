// A whole server while Slack is away, slow, or does not want it any more: nothing is lost, nothing is shown twice, and agents are not told a
// no that nobody has said.

import { expect, test } from 'vitest'
import { textOf } from '../../src/operators/slack/testing/open-slack.ts'
import { buttonsOf } from '../../src/operators/slack/testing/people.ts'
import type { Answer } from './call-as-agent.ts'
import {
  ANN,
  BUSY_MS,
  type HouseOptions,
  OPS,
  openSlackHouse,
  recordOf,
  type SlackHouse,
  until,
} from './slack-house.ts'

/** Waits for long, so that no time runs out in an outage. */
const question = (name: string) => ({ message: `What next, ${name}?`, timeout_seconds: 36_000 })

const asks = (house: SlackHouse, names: readonly string[], room = OPS): Promise<Answer>[] =>
  names.map((name) => house.agent(name, { room })('wait_for_instruction', question(name)))

const named = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`)

/** The cards of a room, by the name in their question. Each has to be there once. */
function shown(house: SlackHouse, room: string): string[] {
  return house
    .cards(room)
    .map((card) => /What next, ([\w-]+)\?/.exec(textOf(card))?.[1] ?? '?')
    .toSorted()
}

async function withHouse(run: (house: SlackHouse) => Promise<void>, options: HouseOptions = {}): Promise<void> {
  const house = await openSlackHouse({ rooms: ['C0TWO'], ...options })
  try {
    await house.slack.whenConnected()
    await run(house)
  } finally {
    await house.close()
  }
}

test(
  'Slack is down for an hour and the server restarts meanwhile: all that waits appears once, and is answered',
  () =>
    withHouse(async (house) => {
      const [before, during, after] = [named('before', 2), named('during', 3), named('after', 2)]
      const first = asks(house, before)
      await until(() => house.cards(OPS).length === 2)
      await house.slack.goDown()
      const told = [...first, ...asks(house, during)]
      await house.leap(600_000)
      // Nobody has said no: the agents ask again later, by the id that they got.
      const unreachable = { status: 'error', error_code: 'operator_unreachable', retry_with: expect.anything() }
      const toRetry = await Promise.all(told)
      for (const answer of toRetry) expect(answer).toMatchObject(unreachable)
      expect(await house.read('/health')).toMatchObject({ status: 'degraded' })
      await house.restart(() => house.leap(1_200_000))
      const late = asks(house, after)
      await house.leap(1_800_000)
      toRetry.push(...(await Promise.all(late)))
      for (const answer of toRetry) expect(answer).toMatchObject(unreachable)
      await house.slack.comeUp()

      const everybody = [...before, ...during, ...after]
      await until(() => shown(house, OPS).length >= everybody.length)
      await house.leap(120_000)
      expect(shown(house, OPS)).toEqual(everybody.toSorted())
      expect(house.slack.messages(OPS).filter(({ threadTs }) => threadTs === null).length).toBe(everybody.length)
      await until(async () => (await house.read('/health')).status === 'healthy')

      const again = everybody.map((name, i) =>
        house.agent(name)('wait_for_instruction', { ...(toRetry[i]?.retry_with as object) }),
      )
      for (const card of house.cards(OPS)) await house.press(ANN, card, 'resume')
      for (const answer of await Promise.all(again)) expect(answer).toMatchObject({ status: 'resumed' })
      await until(() => house.cards(OPS).every((card) => buttonsOf(card).length === 0))
    }),
  BUSY_MS,
)

test(
  '429 for a minute and Slack’s own limits after it: everything appears once',
  () =>
    withHouse(async (house) => {
      house.slack.limitRate()
      house.slack.storm(60)
      const names = named('storm', 6)
      const answers = asks(house, names, 'C0TWO')
      await house.leap(60_000)
      await until(() => shown(house, 'C0TWO').length >= names.length)
      expect(shown(house, 'C0TWO')).toEqual(names)
      house.slack.storm(20)
      for (const card of house.cards('C0TWO')) await house.press(ANN, card, 'resume')

      for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ status: 'resumed' })
      await until(() => house.cards('C0TWO').every((card) => buttonsOf(card).length === 0))
      expect(shown(house, 'C0TWO')).toEqual(names)
      const refused = house.slack.requests.filter(({ error }) => error === 'ratelimited')
      expect(refused.length).toBeLessThan(80)
    }),
  BUSY_MS,
)

test(
  'a refresh, a cut and a press that Slack tells again: each answer counts once',
  () =>
    withHouse(async (house) => {
      const names = named('refresh', 3)
      const answers = asks(house, names)
      await until(() => shown(house, OPS).length === names.length)
      const [one, two, three] = house.cards(OPS)
      if (one === undefined || two === undefined || three === undefined) return expect.fail('a card is missing')
      house.slack.disconnect('refresh_requested')
      expect(await house.press(ANN, one, 'resume')).toMatchObject({ isAcked: true })
      house.slack.dropSockets()
      expect(await house.press(ANN, two, 'resume')).toMatchObject({ isAcked: true })
      const ack = await house.press(ANN, three, 'resume')
      house.slack.redeliver(ack.envelopeId)

      for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ status: 'resumed' })
      await until(() => house.cards(OPS).every((card) => buttonsOf(card).length === 0))
      // Nobody was told anything about a second answer.
      expect(house.slack.ephemerals(OPS)).toEqual([])
      for (const card of house.cards(OPS)) {
        expect(await house.read(`/waits/${recordOf(card)}`)).toMatchObject({ status: 'resumed', decided_by: 'ann' })
      }
    }),
  BUSY_MS,
)

test(
  'a revoked token: health, channels and agents say so, and all goes on once it is good again',
  () =>
    withHouse(async (house) => {
      house.slack.revokeToken('bot')
      const [asking] = asks(house, ['revoked-0'])
      const answer = await asking
      const mend = 'quarterdeck ctl credential set slack_bot_token'
      expect(answer).toMatchObject({ error_code: 'operator_unreachable', error_message: expect.stringContaining(mend) })
      expect(await house.read('/health')).toMatchObject({ status: 'degraded' })
      const channels = (await house.client().channels.list()).filter(({ name }) => /^slack:\w+$/.test(name))
      expect(channels.map(({ name, trouble }) => ({ name, trouble }))).toEqual(
        [OPS, 'C0TWO'].map((room) => ({ name: `slack:${room}`, trouble: expect.stringContaining(mend) })),
      )
      expect(house.cards(OPS)).toEqual([])
      house.slack.revokeToken('bot', 'valid')

      const card = await house.openCard(OPS)
      const [again] = asks(house, ['revoked-0'])
      await house.press(ANN, card, 'resume')
      expect(await again).toMatchObject({ status: 'resumed' })
      await until(async () => (await house.read('/health')).status === 'healthy')
      expect(shown(house, OPS)).toEqual(['revoked-0'])
    }),
  BUSY_MS,
)

const isLong = process.env.LONG === '1'
/** With Slack's own limits, a hundred cards need minutes until each says who answered. */
const [ROOMS, IN_A_ROOM] = isLong ? [10, 10] : [5, 8]

test(
  `${ROOMS * IN_A_ROOM} agents ask at once, ten operators press what they see, and Slack answers 429 again and again`,
  () => {
    const rooms = named('C0LOAD', ROOMS).map((name) => name.replace('-', ''))
    const admins = named('U0ADMIN', 10).map((name) => name.replace('-', ''))
    return withHouse(
      async (house) => {
        house.slack.limitRate(isLong)
        const answers = rooms.flatMap((room) => asks(house, named(room, IN_A_ROOM), room))
        const pressed = new Set<string>()
        // Each operator presses each open card that nobody has pressed a moment ago, and a second one presses it, too.
        for (let turn = 0; pressed.size < answers.length; turn += 1) {
          if (turn % 40 === 5) house.slack.storm(3)
          const open = rooms.flatMap(house.cards).filter((card) => !pressed.has(card.ts) && buttonsOf(card).length > 0)
          const presses = open.flatMap((card, i) => {
            pressed.add(card.ts)
            return [i, i + 1].map((n) => house.press(admins[n % admins.length] ?? '', card, 'resume'))
          })
          for (const ack of await Promise.all(presses)) expect(ack.isAcked).toBe(true)
          await house.leap(500)
        }

        for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ status: 'resumed' })
        await until(() => rooms.flatMap(house.cards).every((card) => buttonsOf(card).length === 0))
        for (const room of rooms) expect(shown(house, room)).toEqual(named(room, IN_A_ROOM))
        expect(pressed.size).toBe(answers.length)
      },
      { rooms, admins },
    )
  },
  BUSY_MS,
)
