// Operators in Slack: how soon an agent hears what somebody pressed, while many ask at once and Slack refuses calls again and again.

import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { buttonsOf } from '../../src/operators/slack/testing/people.ts'
import { createSlackStandIn, type SlackStandIn } from '../../src/operators/slack/testing/slack-stand-in.ts'
import { type Figure, figureOf, round } from '../figure.ts'
import { percentilesOf } from '../percentiles.ts'
import type { Stage, Target } from '../stage.ts'
import { createAgent, mintToken, OPERATOR_TOKEN } from '../supervision/agent-client.ts'
import type { Scenario } from './scenario.ts'

const ROOMS = Array.from({ length: 10 }, (_, i) => `C0ROOM${i}`)
const OPERATORS = Array.from({ length: 10 }, (_, i) => `U0OPER${i}`)
const AGENTS = 100
/** Slack takes one message a second and room, and each agent needs two: the beginning of its thread, and its card. */
const WITHIN_MS = 120_000

export const channels: Scenario = {
  name: 'channels',
  async run(stage) {
    const slack = await createSlackStandIn()
    try {
      return await asking(stage, slack)
    } finally {
      await slack.close()
    }
  },
}

/** A server whose settings name the stand-in. */
async function serverWith(stage: Stage, slack: SlackStandIn): Promise<Target> {
  for (const [i, id] of OPERATORS.entries()) slack.addUser(id, `operator${i}`)
  for (const room of ROOMS) slack.addChannel(room, room.toLowerCase())
  const people = OPERATORS.map((id, i) => ({ name: `operator${i}`, slack: id, admin: true, local: i === 0 }))
  const owner = { name: 'local_user' }
  const settings = {
    operators: [...people, owner],
    slack: { channels: ROOMS, api_url: slack.apiUrl },
    max_concurrent_sessions: AGENTS,
  }
  const file = join(dirname(stage.folder('slack')), 'quarterdeck.yaml')
  writeFileSync(file, JSON.stringify(settings))
  try {
    return await stage.server({
      env: {
        QUARTERDECK_OPERATOR_TOKEN: OPERATOR_TOKEN,
        SLACK_APP_TOKEN: slack.appToken,
        SLACK_BOT_TOKEN: slack.botToken,
      },
    })
  } finally {
    // The servers of other scenarios start in the same folder.
    rmSync(file)
  }
}

async function asking(stage: Stage, slack: SlackStandIn): Promise<Figure[]> {
  const server = await serverWith(stage, slack)
  await slack.whenConnected()
  slack.limitRate(true)
  const token = await mintToken(server.url, stage.folder('workspace'))
  const heard: Promise<number>[] = []
  const pressedAt = new Map<string, number>()
  for (let i = 0; i < AGENTS; i += 1) {
    const room = ROOMS[i % ROOMS.length]
    const text = `Shall agent ${i} go on?`
    const agent = createAgent(server.url, token, `channels-${i}&channel_id=${room}`)
    const { answer } = agent.call('forward_prompt', { prompt_text: text })
    heard.push(answer.then(() => performance.now() - (pressedAt.get(text) ?? Number.NaN)))
  }
  const shown = await pressAll(slack, pressedAt)
  const times = await Promise.all(heard)
  await server.stop()
  const { p50 = Number.NaN, p99 = Number.NaN, max = Number.NaN } = percentilesOf(times) ?? {}
  return [
    figureOf({
      scenario: 'channels',
      what: 'press in Slack to the agent’s result, p99',
      server: `p50 ${round(p50)} ms, max ${round(max)} ms`,
      value: p99,
      limit: 2_000,
      unit: ' ms',
      note: `${AGENTS} agents in ${ROOMS.length} rooms ask at once; two of ${OPERATORS.length} operators press each card; one message a second and room, 429 for everything every 10 s`,
    }),
    figureOf({
      scenario: 'channels',
      what: `${AGENTS} cards, each once`,
      server: `${shown} cards`,
      value: Math.abs(shown - AGENTS),
      limit: 0,
      unit: ' failed',
      note: 'lost, or shown twice',
    }),
  ]
}

/** Presses every card as soon as it is there. Gives how many cards there were in the end. */
async function pressAll(slack: SlackStandIn, pressedAt: Map<string, number>): Promise<number> {
  const cards = () =>
    ROOMS.flatMap((room) => slack.messages(room)).filter((one) => textOf(one.blocks) !== null && one.threadTs !== null)
  const begun = performance.now()
  for (let turn = 0; pressedAt.size < AGENTS; turn += 1) {
    if (performance.now() - begun > WITHIN_MS) break
    if (turn % 200 === 100) slack.storm(1)
    for (const card of cards()) {
      const text = textOf(card.blocks)
      if (text === null || pressedAt.has(text) || buttonsOf(card).length === 0) continue
      const users = [pressedAt.size, pressedAt.size + 1].map((n) => OPERATORS[n % OPERATORS.length] ?? '')
      pressedAt.set(text, performance.now())
      const { channel, ts } = card
      for (const user of users) void slack.click({ user, channel, ts, actionId: 'quarterdeck:continue' })
    }
    await delay(50)
  }
  return cards().length
}

const textOf = (blocks: unknown): string | null => /Shall agent \d+ go on\?/.exec(JSON.stringify(blocks))?.[0] ?? null
