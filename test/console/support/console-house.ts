// A server with an agent that asks before it acts, for the console. The model follows a script, so a message says what happens.
//
//   hello            an answer with Markdown
//   hold             says "Before.", then waits in a tool until the test calls `release`, then says "After."
//   note, wipe, pay  a tool of low, high, critical risk that needs an approval
//   ask              a tool that asks a question
//   fail             the model fails
//   count            sixty words, one after the other
//   formula          an answer with formulas, good and hostile ones
//   epic             300,000 characters of Markdown
//   hostile          an answer that tries to run, to load and to hide; then a tool call with such arguments

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { type App, createApp, type OpenApp } from '../../../src/app/app.ts'
import { testAppOptions } from '../../../src/app/testing/test-app.ts'
import { type Client, createClient } from '../../../src/client/client.ts'
import { loadAgents } from '../../../src/config/agent/load-agents.ts'
import { resolveSettings } from '../../../src/config/settings/resolve-settings.ts'
import { agentDefaults } from '../../../src/config/source/load-context.ts'
import { LOCAL_USER } from '../../../src/domain/session/session.ts'
import { testTool } from '../../../src/engine/testing/open-engine.ts'
import { freePort } from '../../../src/http/testing/free-port.ts'
import type { ScriptedAnswer } from '../../../src/models/scripted/script.ts'
import { keychainWith } from '../../../src/operators/credentials/testing/keychain-with.ts'
import { codeTool, createCodeTool } from '../../../src/tools/function/code-tool.ts'
import { createStrayErrors } from '../../../src/tools/function/stray-errors.ts'
import type { ToolContext } from '../../../src/tools/function/tool-context.ts'
import { type Answer, callAsAgent } from '../../e2e/call-as-agent.ts'
import { HIDDEN, LONG_LINE, MARKDOWN, SCRIPT, SHORT } from './hostile.ts'

export const AGENT = 'helper'
export const CODER = 'coder'

const ANSWER = `# Tides

| port | high water |
| --- | --- |
| Emden | 04:12 |

1. Cast off **before** four.
2. Keep \`south\` of the mole.

\`\`\`ts
export const knots = (miles: number, hours: number): number => miles / hours
\`\`\`
`

/** Thirty sections of Markdown. */
const epicPart = (place: number): string =>
  Array.from(
    { length: 30 },
    (_, i) => `## Verse ${place * 30 + i}\n\nSing of **verse ${place * 30 + i}**. ${'Row on, row on. '.repeat(13)}\n\n`,
  ).join('')

const FORMULAS = `The tide is $h(t) = \\bar h + A\\cos(\\omega t)$, and a berth costs $5 to $10.

$$
\\begin{aligned}
\\sum_{i=1}^n i &= \\frac{n(n+1)}{2} \\\\
\\boxed{\\sqrt{x^2}} &= |x|
\\end{aligned}
$$

\\[\\href{javascript:alert(1)}{press}\\] and \\(\\includegraphics{https://example.com/x.png}\\)
`

const answers: readonly ScriptedAnswer[] = [
  { when: { tool: 'hold' }, parts: [{ text: 'After.' }] },
  { when: { tool: 'note' }, parts: [{ text: 'Noted.' }] },
  { when: { tool: 'wipe' }, parts: [{ text: 'Wiped.' }] },
  { when: { tool: 'pay' }, parts: [{ text: 'Paid.' }] },
  { when: { tool: 'ask' }, parts: [{ text: 'Thank you.' }] },
  {
    when: { user: 'hello' },
    parts: [{ reasoning: 'They say hello.' }, { text: ANSWER }, { usage: { input: 120, output: 45 } }],
  },
  { when: { user: 'hold' }, parts: [{ text: 'Before.' }, { tool_call: { name: 'hold' } }] },
  {
    when: { user: 'note' },
    parts: [{ tool_call: { name: 'note', arguments: { text: 'The tide turns at four.', copies: 1 } } }],
  },
  {
    when: { user: 'wipe' },
    parts: [{ tool_call: { name: 'wipe', arguments: { path: '/tmp/logs', token: 'a-secret-of-somebody' } } }],
  },
  { when: { user: 'pay' }, parts: [{ tool_call: { name: 'pay', arguments: { to: 'Harbour office', amount: 250 } } }] },
  { when: { user: 'ask' }, parts: [{ tool_call: { name: 'ask' } }] },
  {
    when: { user: 'fail' },
    parts: [{ text: 'Well' }, { error: { code: 'model_failed', message: 'The model broke.' } }],
  },
  {
    when: { user: 'hostile' },
    parts: [
      { reasoning: `${SCRIPT}\n\n${MARKDOWN}` },
      { text: `${SCRIPT}\n\n${MARKDOWN}\n\n${HIDDEN}` },
      { tool_call: { name: 'wipe', arguments: { path: `${SCRIPT}${HIDDEN}`, [SHORT]: MARKDOWN } } },
    ],
  },
  {
    when: { user: 'count' },
    parts: Array.from({ length: 60 }, (_, i) => [{ delay_ms: 30 }, { text: `w${i} ` }]).flat(),
  },
  { when: { user: 'formula' }, parts: [{ text: FORMULAS }] },
  {
    when: { user: 'epic' },
    parts: Array.from({ length: 40 }, (_, i) => [{ delay_ms: 10 }, { text: epicPart(i) }]).flat(),
  },
  { when: { user: 'endless line' }, parts: [{ text: LONG_LINE }] },
  { parts: [{ text: 'Aye.' }] },
]

const AGENT_FILE = `name: ${AGENT}
description: Helps on board. It asks before it acts.
model:
  provider: scripted
  script: script.json
instructions: |
  You help on board.
`

export interface ConsoleHouseOptions {
  /** Seconds of silence after which a coding agent gets an alert. */
  stallSeconds?: number
  /** More settings, as in quarterdeck.yaml. */
  settings?: Record<string, unknown> & { try_models?: readonly string[] }
  /** More lines of the agent file. */
  agentMore?: string
  /** Also a hosted agent, which does what its messages say: see `test/acp/script-lines.ts`. More lines under its `host`. */
  hosted?: { workspace: Readonly<Record<string, string>>; args?: readonly string[]; more?: string }
  /** Fills the data folder before the server opens it. */
  seed?: (dataDir: string) => Promise<void>
}

export interface ConsoleHouse {
  /** Where the browser finds the server. */
  readonly url: string
  readonly dataDir: string
  /** Signed in with the operator's token, as programs are. */
  readonly client: Client
  /** The operator's token. */
  readonly operator: string
  /** What the server prints for the person who starts it. It works once. */
  link(path?: string): Promise<string>
  /** Lets the tool `hold` end. */
  release(): void
  /** The arguments with which tools have run. */
  readonly ran: readonly unknown[]
  /** Sends a message in a new session, or in this one. */
  say(text: string, session?: string): Promise<string>
  /** A folder of a coding agent. */
  folder(name: string, files: Readonly<Record<string, string>>): string
  /** A file in the workspace of the hosted agent. */
  shop(path: string): string
  /** A window of a coding agent in a folder. What it asks stays open until somebody answers. */
  agent(name: string, workspace: string, host?: string): (tool: string, input: object) => Promise<Answer>
  /** Streams that are open at the server now. */
  streams(): Promise<number>
  /** The server goes away. `start` brings it back at the same address. */
  stop(): Promise<void>
  start(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export async function openConsoleHouse({
  stallSeconds,
  settings: more,
  agentMore = '',
  hosted,
  seed,
}: ConsoleHouseOptions = {}): Promise<ConsoleHouse> {
  const root = mkdtempSync(join(tmpdir(), 'quarterdeck-console-'))
  for (const name of ['data', 'config', 'work', 'agent']) mkdirSync(join(root, name), { mode: 0o700 })
  writeFileSync(join(root, 'agent', 'agent.yaml'), AGENT_FILE + agentMore)
  writeFileSync(join(root, 'agent', 'script.json'), JSON.stringify({ answers, loop: true }))
  await seed?.(join(root, 'data'))
  if (hosted !== undefined) {
    write(join(root, 'work', 'shop'), hosted.workspace)
    writeFileSync(join(root, 'agent', 'coder.yaml'), coderFile(join(root, 'work', 'shop'), hosted))
  }
  let gate = Promise.withResolvers<void>()
  const ran: unknown[] = []
  const tools = makeTools(ran, () => gate.promise)
  const tryModels = more?.try_models ?? []
  const files = ['agent.yaml', ...(hosted === undefined ? [] : ['coder.yaml'])].map((name) => join(root, 'agent', name))
  const agents = loadAgents(files, { env: {}, defaults: { ...agentDefaults, tryModels } })
  const file = {
    default_workspace_root: join(root, 'work'),
    max_concurrent_sessions: 50,
    ...(stallSeconds === undefined ? {} : { stall: { inactivity_threshold_seconds: stallSeconds } }),
    ...more,
  }
  const asked = new AbortController()

  async function open(port: number): Promise<{ app: App; running: OpenApp; port: number }> {
    const { settings } = resolveSettings({
      flags: { port: String(port) },
      env: {},
      file: { path: join(root, 'quarterdeck.yaml'), text: JSON.stringify(file) },
      onTerminal: false,
    })
    const app = await createApp({
      ...testAppOptions(),
      ...{ agents, settings, dataDir: join(root, 'data'), configDir: join(root, 'config'), makeTokens: true },
      tools: { [AGENT]: tools },
      // For `quarterdeck ctl`.
      localSocket: { env: {} },
      credentials: { keychain: keychainWith({}), env: {} },
    })
    const running = await app.listen()
    return { app, running, port: running.port }
  }

  let server = await open(await freePort())
  const operator = server.running.madeToken ?? ''
  const url = `http://localhost:${server.port}`
  const client = createClient({ url, token: operator })
  const tokens = new Map<string, Promise<string>>()
  function tokenFor(workspace: string): Promise<string> {
    const made =
      tokens.get(workspace) ??
      client.createToken({ role: 'agent', user: LOCAL_USER, workspace }).then(({ token }) => token)
    tokens.set(workspace, made)
    return made
  }

  return {
    ...{ url, client, operator, ran, dataDir: join(root, 'data') },
    link: async (path = '') => `${url}/console${path}#code=${await server.running.newConsoleCode()}`,
    release() {
      gate.resolve()
      gate = Promise.withResolvers()
    },
    async say(text, session = crypto.randomUUID()) {
      await client.send(session, text)
      return session
    },
    shop: (path) => join(root, 'work', 'shop', path),
    folder(name, files) {
      const made = join(root, 'work', name)
      write(made, files)
      return made
    },
    agent: (name, workspace, host) => async (tool, input) => {
      const token = await tokenFor(workspace)
      return callAsAgent({
        url,
        token,
        bridge: name,
        tool,
        input,
        signal: asked.signal,
        ...(host === undefined ? {} : { host }),
      })
    },
    async streams() {
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${operator}` } })
      return Number(/^quarterdeck_http_streams (\d+)$/m.exec(await answer.text())?.[1])
    },
    stop: () => server.app.close({ drainMs: 0 }),
    async start() {
      server = await open(server.port)
    },
    async [Symbol.asyncDispose]() {
      gate.resolve()
      asked.abort()
      await server.app.close({ drainMs: 0 })
      rmSync(root, { recursive: true, force: true })
    },
  }
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** A coding agent that this server starts. */
const coderFile = (
  workspace: string,
  { args = [], more = '' }: NonNullable<ConsoleHouseOptions['hosted']>,
): string => `name: ${CODER}
description: Works in the shop.
host:
  command: ${process.execPath}
  args: [${[join(import.meta.dirname, '../../acp/scripted-agent.ts'), ...args].join(', ')}]
  workspace: ${workspace}
${more}`

function makeTools(ran: unknown[], untilReleased: () => Promise<void>) {
  const risky = (name: string, risk: 'low' | 'high' | 'critical', properties: Record<string, object>) =>
    testTool({
      ...{ name, risk, effect: 'once', approval: { ask: 'always' } },
      description: `Does what its name says: ${name}.`,
      parameters: { type: 'object', properties },
      async call({ arguments: args }) {
        ran.push(args)
        return { content: 'Done.', isError: false }
      },
    })
  const ask = createCodeTool(
    {
      ...codeTool({
        name: 'ask',
        description: 'Asks for a size.',
        parameters: z.object({}),
        approval: 'never',
        async run(_args, context: ToolContext) {
          ran.push(
            await context.ask({
              message: 'Which size?',
              schema: { type: 'object', properties: { size: { enum: ['S', 'L'] } }, required: ['size'] },
            }),
          )
          return 'Thank you.'
        },
      }),
      binding: 'ask',
    },
    createStrayErrors(),
  )
  const hold = testTool({
    name: 'hold',
    async call() {
      await untilReleased()
      return { content: 'Released.', isError: false }
    },
  })
  return [
    risky('note', 'low', { text: { type: 'string' }, copies: { type: 'integer', minimum: 1 } }),
    risky('wipe', 'high', { path: { type: 'string' }, token: { type: 'string' } }),
    risky('pay', 'critical', { to: { type: 'string' }, amount: { type: 'number' } }),
    ...[ask, hold],
  ]
}
