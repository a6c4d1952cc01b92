// The whole server with agent files in a temporary folder, as `serve agent.yaml` starts it, on a free port.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createApp } from '../../src/app/app.ts'
import { testAppOptions } from '../../src/app/testing/test-app.ts'
import { loadAgents } from '../../src/config/agent/load-agents.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import { LOCAL_USER } from '../../src/domain/session/session.ts'
import type { Tool } from '../../src/tools/tool.ts'
import { openTestStore } from './test-store.ts'

interface AgentFilesOptions {
  /** Tools that the agent has besides those in its file. */
  tools?: readonly Tool[]
  flags?: Readonly<Record<string, string>>
}

/** `files` are texts, or values that become JSON, by path. `agent.yaml` is the agent. Use it with `await using`. */
export async function startAgentFiles(
  files: Readonly<Record<string, unknown>>,
  { tools = [], flags = {} }: AgentFilesOptions = {},
) {
  await using undo = new AsyncDisposableStack()
  const { env } = undo.use(await openTestStore())
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-e2e-'))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const { settings } = resolveSettings({ flags: { port: '0', ...flags }, env, file: null, onTerminal: false })
  const agents = loadAgents([join(directory, 'agent.yaml')], { env: {} })
  const app = await createApp({
    ...testAppOptions(),
    agents,
    settings,
    dataDir: join(directory, 'data'),
    tools: Object.fromEntries(agents.slice(0, 1).map(({ name }) => [name, tools])),
  })
  const { url, tokens, engine, newConsoleCode } = await app.listen()
  const owner = await tokens.create({ name: 'owner', user: LOCAL_USER, role: 'user' }, 'test')
  const opened = undo.move()
  return {
    url,
    directory,
    engine,
    /** What the server prints for the person who starts it. It works once. */
    link: async (path = '') => `${url}/console${path}#code=${await newConsoleCode()}`,
    /** The header with the token of the user that requests without a token count as. */
    asOwner: { Authorization: `Bearer ${owner.token}` },
    /** The header with the token of another user. */
    as: async (user: string) => ({
      Authorization: `Bearer ${(await tokens.create({ name: user, user, role: 'user' }, 'test')).token}`,
    }),
    /** The header with an operator's token. */
    asOperator: { Authorization: `Bearer ${tokens.operatorToken}` },
    [Symbol.asyncDispose]: async () => {
      await app.close({ drainMs: 0 })
      await opened.disposeAsync()
      await rm(directory, { recursive: true })
    },
  }
}
