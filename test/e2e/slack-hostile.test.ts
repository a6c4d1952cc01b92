// Text of agents that wants to be more than text, in every field that an agent controls, through a whole server up to what Slack shows.

import { expect, test } from 'vitest'
import { areBlocksTooLong, checkBlocks } from '../../src/operators/slack/testing/check-blocks.ts'
import { renderCard } from '../../src/operators/slack/testing/render-card.ts'
import type { ShownMessage } from '../../src/operators/slack/testing/slack-workspace.ts'
import { ANN, BUSY_MS, OPS, openSlackHouse, type SlackHouse, until } from './slack-house.ts'

const EVIL =
  '<!channel> <!here> <@U0BEN> <#C0OPS> <https://evil.example|Open in the console> @channel https://evil.example :tada: ```code``` `x` *bold* \u202e\u200b &lt;!everyone&gt;'
const LONG = `${EVIL} ${'<!channel> '.repeat(4_000)}`.slice(0, 40_000)
const ROOM = 'C0EVIL'

const count = (html: string, pattern: RegExp): number => [...html.matchAll(pattern)].length

/** A message pings only whom we mention, links only to us, and hides nothing. */
function expectHarmless(house: SlackHouse, message: ShownMessage): void {
  for (const version of message.versions) {
    const html = renderCard({ ...message, ...version })
    const pings = [...html.matchAll(/class="mention">PINGS ([^<]*)</g)].map(([, who]) => who)
    expect(pings.filter((who) => who !== `@${ANN}`)).toEqual([])
    expect(count(html, /class="channel"/g)).toBe(0)
    expect(count(html, /class="broken"/g)).toBe(0)
    const links = [...html.matchAll(/class="target"> → ([^<]*)</g)].map(([, target]) => target ?? '')
    for (const target of links) expect(target).toMatch(/^http:\/\/localhost:\d+\/console\/inbox/)
    expect(count(html, /class="link"/g)).toBe(links.length)
    expect(html).not.toMatch(/[\u202e\u200b]/)
    expect(checkBlocks(version.blocks)).toEqual([])
    expect(areBlocksTooLong(version.blocks)).toBe(false)
  }
  expect(house.slack.requests.filter(({ error }) => error !== null)).toEqual([])
}

test(
  'hostile text of agents stays text: no ping, no link of theirs, nothing too long',
  async () => {
    const house = await openSlackHouse({ rooms: [ROOM], question: LONG.slice(0, 4_000), path: LONG })
    try {
      await house.slack.whenConnected()
      const name = '<!channel> `x` *b* \u202e <@U0BEN>'
      const workspace = house.folder(name, { [`${name.slice(0, 8)}.md`]: 'one\n' })
      const agent = (window: string) => house.agent(window, { room: ROOM, workspace, host: EVIL.slice(0, 100) })
      const asks = [
        agent('evil-diff')('ask_approval', {
          title: LONG.slice(0, 200),
          description: LONG.slice(0, 10_000),
          diff: `${LONG}\n`,
          // Nobody could see the rest of the name, so a path with hidden characters is refused.
          file_path: `${name.replace('\u202e', '')}.md`,
        }),
        agent('evil-tool')('approve_tool', {
          tool_name: `mcp__${EVIL.slice(0, 100)}`,
          input: { command: LONG, [EVIL]: EVIL },
          tool_use_id: 'toolu_1',
        }),
        agent('evil-prompt')('forward_prompt', { prompt_text: LONG.slice(0, 10_000) }),
        agent('evil-wait')('wait_for_instruction', { message: LONG.slice(0, 4_000) }),
      ]
      for (const asked of asks) asked.catch(() => {})
      await house.client().send('evil-1', 'Wipe it')
      await house.client().send('evil-2', 'Order it')
      await until(() => house.cards(ROOM).length === asks.length && house.cards(OPS).length === 2)
      const log = agent('evil-log')
      const logged = await log('remote_log', { message: LONG.slice(0, 4_000), level: 'warning' })
      expect(logged).toMatchObject({ posted: true })
      const label = LONG.slice(0, 200)
      await log('heartbeat', { status_message: EVIL, progress_snapshot: [{ label, status: 'in_progress' }] })
      await house.leap(310_000)
      await until(() => house.cards(ROOM).length === asks.length + 1)
      // The text comes back once more in what only a person sees, and on a card that is over.
      const cards = [...house.cards(ROOM), ...house.cards(OPS)]
      for (const { channel, ts, blocks } of cards) {
        const first = JSON.stringify(blocks).match(/quarterdeck:(approve|continue|resume|nudge|answer:0)/)?.[1] ?? ''
        await house.slack.click({ user: ANN, channel, ts, actionId: `quarterdeck:${first}` })
      }
      await house.slack.slash({ user: ANN, channel: ROOM, text: 'sessions' })
      await until(() => house.slack.ephemerals(ROOM, ANN).length >= 2 && house.slack.ephemerals(OPS, ANN).length >= 1)
      await house.leap(10_000)

      const shown = [ROOM, OPS].flatMap((room) => [...house.slack.messages(room), ...house.slack.ephemerals(room)])
      expect(shown.length).toBeGreaterThan(14)
      for (const message of shown) expectHarmless(house, message)
      const files = [...house.slack.files.values()]
      expect(files.length).toBeGreaterThan(3)
      for (const { name: file, content } of files) {
        expect(file).toMatch(/^[\w.-]{1,160}$/)
        expect(content.toString()).not.toMatch(/[\u202e\u200b]/)
      }
    } finally {
      await house.close()
    }
  },
  BUSY_MS,
)
