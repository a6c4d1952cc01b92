// The whole server with the stand-in of Slack, agents elsewhere that call it over MCP, and agents of its own. Time runs much faster than real time.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { createApp } from '../../src/app/app.ts'
import { testAppOptions } from '../../src/app/testing/test-app.ts'
import { createClient } from '../../src/client/client.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import type { Clock } from '../../src/domain/clock.ts'
import { testAgent, testTool } from '../../src/engine/testing/open-engine.ts'
import { keychainWith } from '../../src/operators/credentials/testing/keychain-with.ts'
import { buttonsOf } from '../../src/operators/slack/testing/people.ts'
import { createSlackStandIn } from '../../src/operators/slack/testing/slack-stand-in.ts'
import type { ShownMessage } from '../../src/operators/slack/testing/slack-workspace.ts'
import { codeTool, createCodeTool } from '../../src/tools/function/code-tool.ts'
import { createStrayErrors } from '../../src/tools/function/stray-errors.ts'
import type { ToolContext } from '../../src/tools/function/tool-context.ts'
import { type Answer, callAsAgent } from './call-as-agent.ts'

export const [ANN, EVE, ROOT, MAL] = ['U0ANN', 'U0EVE', 'U0ROOT', 'U0MAL']
export const OPS = 'C0OPS'
/** Limit of a test that takes a few seconds, for a machine that has other things to do. */
export const BUSY_MS = 300_000

/** Milliseconds for each turn of the event loop. */
const STEP_MS = 40
/** In a leap. Whatever repeats in between happens once, as on a machine that slept. */
const LEAP_STEP_MS = 30_000
/** Turns after each step of a leap, for the disk and the network. */
const LEAP_TURNS = 3

const breath = () => new Promise<void>((resolve) => void setTimeout(resolve, 1))

/** Looks again and again, without a limit of time, because the machine may be busy. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<Awaited<T>>> {
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    await breath()
  }
}

/** Time passes by turns of the event loop: on a busy machine it passes more slowly, for the server and for what it waits for. */
function createFastClock() {
  const start = Date.UTC(2026, 10, 15)
  const timers = new Set<{ at: number; fire: () => void }>()
  let elapsed = 0
  let isOver = false

  async function pass(ms: number): Promise<void> {
    elapsed += ms
    const due = [...timers].filter(({ at }) => at <= elapsed).sort((a, b) => a.at - b.at)
    for (const timer of due) if (timers.delete(timer)) timer.fire()
    await breath()
  }
  const passing = (async () => {
    while (!isOver) await pass(STEP_MS)
  })()

  const clock: Clock = {
    now: () => start + elapsed,
    mono: () => elapsed,
    after(ms, fire) {
      const timer = { at: elapsed + ms, fire }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    soon: (fire) => void setImmediate(fire),
  }
  return {
    clock,
    async leap(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= LEAP_STEP_MS) {
        await pass(Math.min(left, LEAP_STEP_MS))
        for (let turn = 0; turn < LEAP_TURNS; turn += 1) await breath()
      }
    },
    async stop(): Promise<void> {
      isOver = true
      await passing
    },
  }
}

export interface HouseOptions {
  /** Each has its own limit of messages, so rows that do not share one do not wait for each other. */
  rooms?: readonly string[]
  /** Slack ids of more operators. They are admins, so they answer for everybody. */
  admins?: readonly string[]
  /** What the tool of our own agents asks. */
  question?: string
  /** What our own agent wants to wipe. */
  path?: string
}

/** Ends with `close`. */
export async function openSlackHouse({
  rooms = [],
  admins = [],
  question = 'Which size?',
  path = '/tmp/a',
}: HouseOptions = {}) {
  const root = mkdtempSync(join(tmpdir(), 'quarterdeck-slack-'))
  const time = createFastClock()
  const { clock } = time
  const slack = await createSlackStandIn({ clock })
  for (const [id, name] of Object.entries({ [ANN]: 'ann', [EVE]: 'eve', [ROOT]: 'root', [MAL]: 'mal' })) {
    slack.addUser(id, name)
    slack.join(OPS, id)
  }
  for (const id of admins) slack.addUser(id, id.toLowerCase())
  for (const room of rooms) slack.addChannel(room, room.toLowerCase())
  const folder = (name: string, files: Record<string, string> = {}): string => {
    const made = join(root, name)
    for (const [file, text] of Object.entries({ 'a.txt': 'one\ntwo\n', ...files })) {
      mkdirSync(join(made, file, '..'), { recursive: true })
      writeFileSync(join(made, file), text)
    }
    return made
  }
  for (const name of ['data', 'config', 'work', 'agent']) mkdirSync(join(root, name), { mode: 0o700 })
  const wiped: unknown[] = []
  const ordered: unknown[] = []
  const script = join(root, 'agent', 'script.json')
  const answers = [
    { when: { tool: 'wipe' }, parts: [{ text: 'Wiped.' }] },
    { when: { tool: 'order' }, parts: [{ text: 'Ordered.' }] },
    { when: 'wipe it', parts: [{ tool_call: { name: 'wipe', arguments: { path } } }] },
    { when: 'order it', parts: [{ tool_call: { name: 'order' } }] },
  ]
  writeFileSync(script, JSON.stringify({ answers }))
  const { settings } = resolveSettings({
    flags: { port: '0' },
    env: {},
    file: {
      path: join(root, 'quarterdeck.yaml'),
      text: JSON.stringify({
        default_workspace_root: join(root, 'work'),
        max_concurrent_sessions: 200,
        timeouts: { wait_seconds: 3_600 },
        slack: { channel_id: OPS, channels: rooms, api_url: slack.apiUrl },
        operators: [
          { name: 'ann', slack: ANN },
          { name: 'eve', slack: EVE },
          { name: 'root', slack: ROOT, local: true, admin: true },
          ...admins.map((id) => ({ name: id.toLowerCase(), slack: id, admin: true })),
        ],
      }),
    },
    onTerminal: false,
  })
  const wipe = testTool({
    name: 'wipe',
    risk: 'high',
    effect: 'once',
    approval: { ask: 'always' },
    parameters: { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false },
    async call({ arguments: args }) {
      wiped.push(args)
      return { content: 'Wiped.', isError: false }
    },
  })
  const schema = { type: 'object', properties: { size: { enum: ['S', 'L'] } }, required: ['size'] }
  const order = createCodeTool(
    {
      ...codeTool({
        name: 'order',
        description: 'Orders a shirt.',
        parameters: z.object({}),
        approval: 'never',
        async run(_args, context: ToolContext) {
          ordered.push(await context.ask({ message: question, schema }))
          return 'Ordered.'
        },
      }),
      binding: 'order',
    },
    createStrayErrors(),
  )

  async function start() {
    const app = await createApp({
      ...testAppOptions(),
      agents: [{ ...testAgent, directory: join(root, 'agent'), model: { ...testAgent.model, script } }],
      tools: { [testAgent.name]: [wipe, order] },
      settings,
      dataDir: join(root, 'data'),
      configDir: join(root, 'config'),
      makeTokens: true,
      credentials: {
        keychain: keychainWith({}),
        env: { SLACK_APP_TOKEN: slack.appToken, SLACK_BOT_TOKEN: slack.botToken },
      },
      clock,
    })
    const { url, madeToken } = await app.listen()
    return { app, url, madeToken }
  }

  let server = await start()
  const operator = server.madeToken ?? ''
  const tokens = new Map<string, string>()

  async function request(method: 'GET' | 'POST', path: string, token: string, body?: unknown) {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Answer }
  }

  async function tokenFor(wanted: { role: string; user: string; workspace?: string }): Promise<string> {
    const key = JSON.stringify(wanted)
    const found = tokens.get(key)
    if (found !== undefined) return found
    const { body } = await request('POST', '/tokens', operator, wanted)
    if (typeof body.token !== 'string') throw new Error(`no token: ${JSON.stringify(body)}`)
    tokens.set(key, body.token)
    return body.token
  }

  return {
    ...{ slack, wiped, ordered },
    /** So much time passes at once. */
    leap: time.leap,
    client: () => createClient({ url: server.url, token: operator }),
    folder: (name: string, files?: Record<string, string>) => folder(join('work', name), files),
    /** Somebody decides over HTTP. */
    async decide(user: string, path: string, body: object) {
      return await request('POST', path, await tokenFor({ role: 'operator', user }), body)
    },

    /** A window of an agent of Ann's in this folder. Each has a session of its own. */
    agent(name: string, { room = OPS, workspace = folder(join('work', 'shop')), host = 'claude-code' } = {}) {
      return async (tool: string, input: object, signal?: AbortSignal): Promise<Answer> =>
        callAsAgent({
          ...{ url: server.url, token: await tokenFor({ role: 'agent', user: 'ann', workspace }) },
          ...{ bridge: name, host, tool, input },
          ...(room === OPS ? {} : { room }),
          ...(signal === undefined ? {} : { signal }),
        })
    },

    read: async (path: string) => (await request('GET', path, operator)).body,

    /** What waits or waited in this room. */
    cards: (room: string) => slack.messages(room).filter(isCard),
    /** The card of this room that can be answered, once the server has written down where it is. */
    async openCard(room: string): Promise<ShownMessage> {
      const isOpen = (message: ShownMessage) => isCard(message) && buttonsOf(message).length > 0
      const card = await until(() => slack.messages(room).find(isOpen))
      await until(async () => {
        const { channels } = (await request('GET', '/channels', operator)).body
        return (
          Array.isArray(channels) && channels.some(({ name, waiting }) => name === `slack:${room}` && waiting === 0)
        )
      })
      return card
    },
    press: (user: string, { channel, ts }: ShownMessage, action: string) =>
      slack.click({ user, channel, ts, actionId: `quarterdeck:${action}` }),
    /** What only this person sees and can press. */
    whispered: (user: string, room: string, action: string) =>
      until(() =>
        slack
          .ephemerals(room, user)
          .findLast((message) => buttonsOf(message).some(({ actionId }) => actionId === `quarterdeck:${action}`)),
      ),

    /** The server goes away as when it is killed in good order, and comes back on the same data. */
    async restart(meanwhile: () => Promise<void> = async () => {}) {
      await server.app.close({ drainMs: 0 })
      await meanwhile()
      server = await start()
    },

    async close() {
      await server.app.close({ drainMs: 0 })
      await slack.close()
      await time.stop()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

export type SlackHouse = Awaited<ReturnType<typeof openSlackHouse>>

/** The id of the record that a card shows. */
export const recordOf = ({ metadata }: ShownMessage): string =>
  String(metadata?.event_payload.key).replace(/^card\//, '')

const isCard = ({ threadTs, metadata }: ShownMessage): boolean =>
  threadTs !== null && String(metadata?.event_payload.key).startsWith('card/')
