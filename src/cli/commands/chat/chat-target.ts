import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { variable } from '../../../config/source/env-file.ts'
import type { AgentDefinition } from '../../../domain/agent.ts'
import { isClientId } from '../../../domain/ids.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { type LoadedConfig, loadConfig } from '../../load-config.ts'
import { baseOf, isReadableByOthers, readServerUrl } from '../../server-url.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { createServerLog } from '../serve/server-log.ts'
import type { StartApp } from '../serve/start-app.ts'
import type { HowToAnswer } from './ask-approvals.ts'
import { createOperatorToken, type OperatorToken } from './operator-token.ts'

/** Whom the chat talks to. */
export interface ChatTarget {
  url: string
  /** Null: the server's default. */
  agent: string | null
  token: string | null
  /** What answers for the agent's operator. */
  operatorToken: OperatorToken
  howToAnswer: HowToAnswer
  description: string
  close(): Promise<void>
}

export interface ChatTargetOptions {
  session?: string
  agent?: string
  dataDir?: string
}

/** A URL is a running server; anything else is an agent that is served in this process while the chat lasts. */
export async function openChatTarget(
  where: string | undefined,
  options: ChatTargetOptions,
  startApp: StartApp,
  io: Io,
): Promise<ChatTarget> {
  const { session } = options
  if (session !== undefined && !isClientId(session)) {
    throw new CliError(exitCodes.usage.code, `--session ${JSON.stringify(session)} is no name for a session.`, [
      'Write 1 to 128 printable characters.',
    ])
  }
  if (where !== undefined && /^[a-z]+:\/\//i.test(where)) return serverAt(where, options, io)
  return await serveHere(where, options, startApp, io)
}

function serverAt(where: string, { agent }: ChatTargetOptions, io: Io): ChatTarget {
  const url = readServerUrl(where)
  // The link that a server prints carries its token behind the #, which is never sent.
  const token = new URLSearchParams(url.hash.slice(1)).get('token') ?? variable(io.env, 'QUARTERDECK_TOKEN') ?? null
  const base = baseOf(url)
  if (isReadableByOthers(url)) {
    const warning = styleFor(io.stderr, io.env).yellow('warning:')
    io.stderr.write(`${warning} http:// to ${url.host}: others can read what is said, and the tokens. Use https.\n`)
  }
  return {
    url: base,
    agent: agent ?? null,
    token,
    operatorToken: createOperatorToken(variable(io.env, 'QUARTERDECK_OPERATOR_TOKEN') ?? null, io),
    howToAnswer: (id) => [
      `POST ${base}/approvals/${id} {"decision": "approve"} or {"decision": "reject", "reason": "…"}`,
      'with the operator’s token, or answer in a chat at a terminal. A lost token: quarterdeck tokens --help',
    ],
    description: `Talking to ${base}`,
    close: async () => {},
  }
}

async function serveHere(
  where: string | undefined,
  options: ChatTargetOptions,
  startApp: StartApp,
  io: Io,
): Promise<ChatTarget> {
  const flags = {
    'log.level': variable(io.env, 'QUARTERDECK_LOG_LEVEL') ?? 'error',
    ...(options.dataDir === undefined ? {} : { data_dir: options.dataDir }),
  }
  const config = loadConfig({ files: where === undefined ? [] : [where], flags }, io)
  const agent = chooseAgent(config.agents, options.agent)
  const keep = options.session !== undefined
  // A talk that is not kept must not need the data directory: a server may be using it.
  const dataDir = keep ? config.dataDir : await mkdtemp(join(tmpdir(), 'quarterdeck-chat-'))
  const remove = async () => {
    if (!keep) await rm(dataDir, { recursive: true, force: true })
  }
  try {
    const app = await startApp(privateServer(config, dataDir, keep), createServerLog(config, io), io)
    const close = () => app.close({ drainMs: 0 }).finally(remove)
    const kept = keep ? 'The session is kept' : 'Nothing is kept; --session <name> keeps it'
    const description = `Talking to ${agent.name} (${agent.model.provider}/${agent.model.name}). ${kept}`
    const howToAnswer = () => answerLater(where, options)
    const operatorToken = createOperatorToken(app.operatorToken, io)
    return { url: app.url, agent: agent.name, token: null, operatorToken, howToAnswer, description, close }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Its server ends with the chat: before it can be answered, another one must have the session. */
function answerLater(where: string | undefined, { session, dataDir }: ChatTargetOptions): string[] {
  if (session === undefined) {
    return [
      'Nobody can answer it any more: it ends with this command. At a terminal you are asked; --session keeps it.',
    ]
  }
  const words = [...(where === undefined ? [] : [where]), '--session', session]
  if (dataDir !== undefined) words.push('--data-dir', dataDir)
  const written = words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)))
  return [`At a terminal: quarterdeck chat ${written.join(' ')}, and there /approvals`]
}

function chooseAgent(agents: readonly AgentDefinition[], name: string | undefined): AgentDefinition {
  const served = agents.filter(({ internal }) => !internal)
  const chosen = served.find((agent) => (name === undefined ? agent.default : agent.name === name))
  if (chosen !== undefined) return chosen
  const shown = JSON.stringify(name)
  const isSubagent = agents.some((agent) => agent.name === name)
  const problem = isSubagent ? `${shown} is a sub-agent: only other agents talk to it.` : `There is no agent ${shown}.`
  const names = served.map((agent) => agent.name).join(', ')
  throw new CliError(exitCodes.usage.code, problem, [`There is: ${names}`])
}

/** The same agents on a port of this machine that nobody was told about, whatever the settings say for the real server. */
function privateServer(config: LoadedConfig, dataDir: string, keep: boolean): LoadedConfig {
  const { settings } = config
  return {
    ...config,
    dataDir,
    configDir: null,
    settings: {
      ...settings,
      dataDir,
      host: '127.0.0.1',
      hosts: ['127.0.0.1'],
      port: 0,
      loopback: true,
      tls: null,
      protocols: ['ag-ui', 'rest'],
      auth: { ...settings.auth, token: null, required: false, insecure: false },
      store: keep ? settings.store : ':memory:',
    },
  }
}
