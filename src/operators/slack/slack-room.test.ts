import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { createIds } from '../../domain/ids.ts'
import { isRecord } from '../../domain/is-record.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { PersonRecord } from '../../domain/records/record.ts'
import type { ChannelNote, Delivery } from '../../domain/supervision/delivery.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { newSession } from '../../store/contract/samples.contract.ts'
import type { Approvals } from '../../supervision/approvals/approvals.ts'
import { describeOperator } from '../operator.contract.ts'
import { reaches } from '../shown-from.ts'
import { createButtonValues } from './button-values.ts'
import { notice } from './cards/messages.ts'
import { alert } from './cards/testing/sample-records.ts'
import { type AnswerParts, openSlack } from './create-slack.ts'
import type { SlackAnswers } from './slack-api.ts'
import { ANA, textOf, until } from './testing/open-slack.ts'
import { createSlackStandIn } from './testing/slack-stand-in.ts'

const clock = createManualClock()
const slack = await createSlackStandIn({ clock })
const buttons = createButtonValues(randomBytes(32))
let rooms = 0
afterAll(() => slack.close())

/** Takes the buttons of approvals, and tells the person what came of it. */
const pressing =
  (approvals: Pick<Approvals, 'decide'>) =>
  ({ api, cards }: AnswerParts): SlackAnswers => ({
    async onAction(payload) {
      const [action] = isRecord(payload) && Array.isArray(payload.actions) ? payload.actions : []
      const pressed = buttons.read(action.value)
      if (pressed === null) throw new Error('the value is not ours')
      const decision = pressed.action === 'approve' ? 'approve' : 'reject'
      const said = await approvals
        .decide({ user: 'eve', role: 'operator' }, pressed.recordId, { decision })
        .then(({ approval }) => `It is ${approval.status}.`)
        .catch((error: Error) => error.message)
      await cards.refresh(pressed.recordId)
      await api.whisper(pressed.room, ANA, notice(said), null)
    },
    onMessage: async () => {},
    onCommand: async () => {},
  })

/** A room of its own on the one stand-in. Its notes are in memory. */
function openRoom(find: (id: string) => Promise<PersonRecord | null>, answers: (parts: AnswerParts) => SlackAnswers) {
  rooms += 1
  const room = `C0ROOM${rooms}`
  slack.addChannel(room, `room-${rooms}`)
  const notes = new Map<string, ChannelNote>()
  const chat = openSlack({
    settings: { detail: 'standard', apiUrl: slack.apiUrl },
    ownRoom: room,
    rooms: [room],
    tokens: { app: slack.appToken, bot: slack.botToken },
    teamId: null,
    operators: [{ name: 'ann', slack: ANA, group: null }],
    escalation: [],
    personOf: (name) => name,
    alone: null,
    lookup: {
      find: ({ id }) => find(id),
      session: async (id) => newSession({ id }),
      readDiff: async () => null,
      readScenes: async () => () => ({ folder: null, title: null, prompt: null }),
      waiting: async () => [],
      workspaceName: (path) => path,
      link: () => null,
    },
    outbox: {
      note: async (_, key) => notes.get(key) ?? null,
      notes: async () => [...notes.values()],
      deliveries: async () => [],
    },
    log: {
      async commit(command) {
        if (command.type !== 'note_for_channel') throw new Error('not a note')
        if (command.value === null) notes.delete(command.key)
        else notes.set(command.key, command)
        return {} as never
      },
    },
    buttons,
    outgoing: { fetch, dispatcher: null },
    ...{ clock, ids: createIds(clock.now), random: () => 0, logger: silentLogger },
    pingMs: 300,
  })
  onTestFinished(() => chat.close())
  const [create] = chat.channels
  if (create === undefined) throw new Error('there is no room')
  const channel = create({ find: async ({ id }) => find(id) })
  const isRoot = (key: unknown) => typeof key === 'string' && key.startsWith('session/')
  return {
    ...{ room, chat, channel },
    serve: () => chat.serve(answers(chat.answering)),
    /** Everything but what begins the threads. */
    shown: () => slack.messages(room).filter(({ metadata }) => !isRoot(metadata?.event_payload.key)),
  }
}

const none = (): never => {
  throw new Error('there is none')
}

const deliveryOf = (wait: PersonRecord, n = 1): Delivery => {
  const { id, sessionId, owner, agent } = wait
  const status = { kind: 'wait', type: wait.wait, status: wait.status, risk: null } as const
  const item = { n, at: 0, id, sessionId, owner, agent, ...status }
  return { channel: 'slack', n, item, count: 1, attempts: 0, nextTryAt: 0 }
}

test('only the cards of a room reach somebody at once: when they do not work, nobody is reached', () => {
  const { room, chat } = openRoom(async () => null, none)
  const channels = chat.channels.map((create) => create({ find: async () => null }))
  const atOnce = channels.filter((channel) => reaches(channel, newSession({}), room))
  expect(atOnce.map(({ name, trouble }) => [name, trouble !== undefined])).toEqual([[`slack:${room}`, true]])
})

describe('a silent agent', () => {
  test('that stays silent is told to the whole room, once', async () => {
    const wait: PersonRecord = { ...alert, status: 'escalated' }
    const silent = () => ({ onAction: async () => {}, onMessage: async () => {}, onCommand: async () => {} })
    const { channel, shown, chat } = openRoom(async () => wait, silent)
    const { signal } = new AbortController()
    await channel.deliver(deliveryOf({ ...wait, status: 'pending' }, 1), signal)
    expect(shown().map(textOf).join()).not.toContain('<!channel>')
    await channel.deliver(deliveryOf(wait, 2), signal)
    const mentions = shown().filter((message) => textOf(message).includes('<!channel>'))

    expect(mentions.map(({ threadTs }) => threadTs)).toEqual([null])
    expect(shown().length).toBe(2)
    await chat.close()
  })
})

describeOperator('slack', ({ approvals, find }) => {
  const findWait = (id: string) => find({ kind: 'wait', id })
  const { room, serve, channel, shown } = openRoom(findWait, pressing(approvals))
  return {
    channel,
    messages: () => shown().map(textOf),
    behave(next) {
      if (next === 'hangs') slack.failNext('chat.postMessage', { broken: 'no_answer' })
      else {
        slack.storm(next.retryAfterMs / 1_000)
        onTestFinished(() => slack.storm(0))
      }
    },
    async press(approvalId, decision) {
      void serve()
      await slack.whenConnected()
      const wait = (await findWait(approvalId)) ?? none()
      await channel.deliver(deliveryOf(wait), new AbortController().signal)
      const ts = shown()[0]?.ts ?? ''
      const before = slack.ephemerals(room).length
      const actionId = `quarterdeck:${decision}`
      await slack.click({ user: ANA, channel: room, ts, actionId, stale: true })
      await until(() => slack.ephemerals(room).length > before)
      return textOf(slack.ephemerals(room).at(-1) ?? none())
    },
  }
})
