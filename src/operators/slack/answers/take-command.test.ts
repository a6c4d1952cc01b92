import { describe, expect, test } from 'vitest'
import { openSupervision } from '../../../supervision/testing/open-supervision.ts'
import type { Answer } from '../../commands/answer.ts'
import type { SlackMessage } from '../cards/blocks.ts'
import { linesOf } from '../cards/testing/read-message.ts'
import { checkBlocks } from '../testing/check-blocks.ts'
import { messagesOf, type RunCommand } from './take-command.ts'
import { OTHER_ROOM, openAnswers, ROOM } from './testing/open-answers.ts'

const never = async (): Promise<never> => {
  throw new Error('nothing waits here')
}

function open(runCommand: RunCommand) {
  const services = openSupervision()
  const { clock, store, log, feed, operators, approvals, noteShown } = services
  const slack = openAnswers({
    ...{ store, log, feed, clock, operators, noteShown, runCommand },
    decides: {
      approvals,
      prompts: { decide: never, resume: never },
      stalls: { nudge: never, dismiss: never, stop: never },
    },
    steer: never,
  })
  return { slack, clock }
}

test('a command is run for the person, in its room, and answered to them alone', async () => {
  const asked: unknown[] = []
  const { slack } = open(async (...given) => {
    asked.push(given)
    return {
      parts: [
        { kind: 'heading', text: '2 sessions' },
        { kind: 'lines', lines: ['a · <b>', 'c & d'] },
      ],
    }
  })
  await slack.slash('eve', 'steer use &lt;b&gt; —session 019a')
  await slack.slash('eve', 'sessions', { channel: OTHER_ROOM })

  const eve = { user: 'eve', role: 'operator', via: 'slack', credential: 'U0EVE' }
  expect(asked).toEqual([
    [eve, { channelId: ROOM }, 'steer use <b> —session 019a'],
    [eve, { channelId: OTHER_ROOM }, 'sessions'],
  ])
  expect(slack.told('eve')).toEqual(['2 sessions\n• a · <b>\n• c & d'])
  expect(slack.told('ann')).toEqual([])
})

test('strangers run nothing, and hear nothing', async () => {
  let runs = 0
  const { slack } = open(async () => {
    runs += 1
    return { parts: [] }
  })
  await slack.slash('mal', 'sessions')
  await slack.slash('ann', 'sessions', { team: 'T0EVIL' })
  const [payload] = slack.payloads
  await slack.hand('slash_commands', { ...payload, user_id: 'U0EVE', channel_id: 'C0NONE', trigger_id: 't' })

  expect(runs).toBe(0)
  expect(slack.told('mal')).toEqual([])
  expect(await slack.refused()).toMatchObject([
    { by: 'slack:U0MAL', what: 'command', why: 'no_operator' },
    { by: 'slack:U0ANN', what: 'command', why: 'other_team' },
    { by: 'slack:U0EVE', what: 'command', why: 'other_room', room: 'C0NONE' },
  ])
})

test('a slow command says that it works, then answers', async () => {
  let finish: (answer: Answer) => void = () => {}
  const { slack, clock } = open(() => new Promise((resolve) => (finish = resolve)))
  const typed = slack.slash('ann', 'session-checkpoint')
  await clock.advance(2_000)
  expect(slack.told('ann')).toEqual(['Working on it …'])
  finish({ parts: [{ kind: 'text', text: 'Kept.' }] })
  await typed
  expect(slack.told('ann')).toEqual(['Working on it …', 'Kept.'])
})

test('what has to be confirmed gets a button, for this person and for a quarter of an hour', async () => {
  const lines: string[] = []
  const { slack, clock } = open(async (_by, _context, line) => {
    lines.push(line)
    if (line.includes('--confirm')) return { parts: [{ kind: 'text', text: 'Restored.' }] }
    const command = `session-restore 019aa1b2 --confirm ${'d'.repeat(64)}`
    return { parts: [{ kind: 'text', text: '2 files change.' }], confirm: { label: 'Restore', command } }
  })
  await slack.slash('ann', 'session-restore 019a')
  expect(slack.told('ann')).toEqual(['2 files change.\n[Restore]'])
  await slack.pressOwn('ann', 'command')
  // The plan is replaced, so that nobody presses it again.
  expect(slack.told('ann')).toEqual(['Restored.'])
  expect(lines).toEqual(['session-restore 019a', `session-restore 019aa1b2 --confirm ${'d'.repeat(64)}`])
  await slack.slash('ann', 'session-restore 019a')
  await clock.advance(15 * 60_000)
  await slack.pressOwn('ann', 'command')
  expect(slack.told('ann').at(-1)).toContain('This question is too old.')
  expect(lines).toHaveLength(3)
})

test('a command that Slack tells twice runs once, and a failure is said', async () => {
  let runs = 0
  const { slack } = open(async () => {
    runs += 1
    throw new Error('secret')
  })
  await slack.slash('ann', 'sessions')
  const [payload] = slack.payloads
  await slack.hand('slash_commands', payload ?? {})

  expect(runs).toBe(1)
  expect(slack.told('ann')).toEqual(['Something went wrong here. The log of the server says what.'])
})

test('a file of a workspace is a snippet of its type in the room, or comes in pieces if Slack does not take it', async () => {
  const file = { name: 'a.py', content: 'print(1)\n'.repeat(50), snippetType: 'python', to: 'room' as const }
  const { slack } = open(async () => ({ parts: [{ kind: 'heading', text: 'a.py: 50 lines' }], file }))
  await slack.slash('ann', 'show-file a.py')
  expect(slack.uploads).toEqual([[ROOM, null, 'a.py', 'python']])
  expect(slack.told('ann')).toEqual(['a.py: 50 lines\na.py is in this channel as a file.'])
  slack.broken.add('upload')
  await slack.slash('ann', 'show-file a.py')
  expect(slack.told('ann').at(-1)).toContain('print(1)')
})

describe('an answer as messages', () => {
  const whole = (messages: readonly SlackMessage[]): string => messages.flatMap(linesOf).join('\n')

  test('keeps every line of a file, in pieces that Slack takes', () => {
    const content = `\n\n${Array.from({ length: 600 }, (_, i) => `line ${i} <&> "${'x'.repeat(10)}"`).join('\n')}`
    const messages = messagesOf({ parts: [], file: { name: 'a.ts', content, snippetType: 'text' } }, null, 5)

    expect(messages.length).toBeGreaterThan(1)
    for (const { blocks } of messages) expect(checkBlocks(blocks)).toEqual([])
    expect(
      whole(messages)
        .split('\n')
        .slice(1)
        .map((one) => one.slice(2))
        .join('\n'),
    ).toBe(content)
  })

  test('says that there is more, and then asks for nothing', () => {
    const file = { name: 'a.ts', content: 'y'.repeat(400_000), snippetType: 'text' }
    const confirm = [{ type: 'actions', elements: [] }] as SlackMessage['blocks']
    const messages = messagesOf({ parts: [{ kind: 'text', text: 'See:' }], file }, confirm, 5)

    expect(messages).toHaveLength(5)
    for (const { blocks } of messages) expect(checkBlocks(blocks)).toEqual([])
    expect(whole(messages)).toContain('There is more. Only you see this')
    expect(messages.flatMap(({ blocks }) => blocks).some(({ type }) => type === 'actions')).toBe(false)
  })

  test('is never empty, and holds hostile text', () => {
    expect(whole(messagesOf({ parts: [] }, null, 5))).toBe('Done.')
    const evil = `<!channel> <@U0ANN> *x* \`\`\` ${'😀'.repeat(5_000)}\n${'\n'.repeat(3_000)}`
    const parts = [
      { kind: 'heading', text: evil },
      { kind: 'text', text: evil },
      { kind: 'lines', lines: Array.from({ length: 500 }, () => 'x') },
      { kind: 'code', text: evil },
    ] as const
    const messages = messagesOf({ parts: [...parts] }, null, 5)
    for (const { blocks, text } of messages) {
      expect(checkBlocks(blocks)).toEqual([])
      expect(text).not.toMatch(/<[!@]/)
      expect(text.isWellFormed()).toBe(true)
      expect(JSON.stringify(blocks)).not.toContain('mrkdwn')
    }
  })
})
