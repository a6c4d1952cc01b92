import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LoadedConfig, loadConfig } from '../../../app/load-config.ts'
import { createServerLog } from '../../../app/server-log.ts'
import { variable } from '../../../config/source/env-file.ts'
import { type AgentDefinition, answersWith, modelName } from '../../../domain/agent/agent.ts'
import { isClientId } from '../../../domain/ids.ts'
import { usageError } from '../../cli-error.ts'
import { shellWord } from '../../program-name.ts'
import { baseOf, isReadableByOthers, readServerUrl } from '../../server-url.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { askSecret } from '../../terminal/terminal-prompt.ts'
import type { StartApp } from '../serve/start-app.ts'
import type { HowToAnswer } from './ask-approvals.ts'
import type { ChatFlags } from './chat.ts'

/** The server that the chat talks to. */
export interface ChatTarget {
  url: string
  /** Null: the server's default agent. */
  agent: string | null
  token: string | null
  operatorToken: OperatorToken
  howToAnswer: HowToAnswer
  description: string
  close(): Promise<void>
}

/** The operator's token of a server: known from the start, or asked for when it is needed. */
export type OperatorToken = ReturnType<typeof createOperatorToken>

function createOperatorToken(known: string | null, io: Io) {
  let typed: string | null = null
  return {
    current: () => known ?? typed,
    /** Asks the person at the terminal. True if there is a token now. */
    async ask(signal: AbortSignal): Promise<boolean> {
      if (known !== null || typed !== null) return true
      typed = await askSecret(
        'A call needs approval. Type the operator’s token (it is not shown; Enter leaves the call pending): ',
        io,
        signal,
      )
      return typed !== null
    },
    /** The server refused it. A typed token is forgotten, so that the person is asked again. */
    refused() {
      typed = null
    },
  }
}

type ChatTargetFlags = Omit<ChatFlags, 'message'>

/** A URL is a running server. Anything else is an agent, served in this process during the chat. */
export async function openChatTarget(
  where: string | undefined,
  options: ChatTargetFlags,
  startApp: StartApp,
  io: Io,
): Promise<ChatTarget> {
  const { session } = options
  if (session !== undefined && !isClientId(session)) {
    throw usageError(`--session ${JSON.stringify(session)} is not a valid name for a session.`, [
      'Write 1 to 128 printable characters.',
    ])
  }
  if (where !== undefined && /^[a-z]+:\/\//i.test(where)) return serverAt(where, options, io)
  return await serveHere(where, options, startApp, io)
}

function serverAt(where: string, { agent }: ChatTargetFlags, io: Io): ChatTarget {
  const url = readServerUrl(where)
  // The link that a server prints has the token after the #, which is never sent.
  const token = new URLSearchParams(url.hash.slice(1)).get('token') ?? variable(io.env, 'QUARTERDECK_TOKEN') ?? null
  const base = baseOf(url)
  if (isReadableByOthers(url)) {
    const warning = styleFor(io.stderr, io.env).yellow('warning:')
    io.stderr.write(`${warning} http:// to ${url.host}: others can read your messages and tokens. Use https.\n`)
  }
  return {
    url: base,
    agent: agent ?? null,
    token,
    operatorToken: createOperatorToken(variable(io.env, 'QUARTERDECK_OPERATOR_TOKEN') ?? null, io),
    howToAnswer: (id) => [
      `POST ${base}/approvals/${id} {"decision": "approve"} or {"decision": "reject", "reason": "…"}`,
      `with the operator’s token, or answer in a chat at a terminal. If the token is lost: ${io.program()} tokens --help`,
    ],
    description: `Talking to ${base}`,
    close: async () => {},
  }
}

async function serveHere(
  where: string | undefined,
  options: ChatTargetFlags,
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
  // A chat that is not kept must not use the data directory: a server may be using it.
  const dataDir = keep ? config.dataDir : await mkdtemp(join(tmpdir(), 'quarterdeck-chat-'))
  const remove = async () => {
    if (!keep) await rm(dataDir, { recursive: true, force: true })
  }
  try {
    // Without a terminal, so without a bell: the chat itself asks the person there.
    const app = await startApp(privateServer(config, dataDir, keep), createServerLog(config, io), io, {
      terminal: null,
    })
    const close = () => app.close({ drainMs: 0 }).finally(remove)
    const kept = keep ? 'The session is kept' : 'Nothing is kept; use --session <name> to keep it'
    const description = `Talking to ${agent.name} (${modelName(answersWith(agent))}). ${kept}`
    const howToAnswer = () => answerLater(where, options, io.program())
    const operatorToken = createOperatorToken(app.operatorToken, io)
    return { url: app.url, agent: agent.name, token: null, operatorToken, howToAnswer, description, close }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The server ends with the chat, so somebody has to open the session again to answer. */
function answerLater(where: string | undefined, { session, dataDir }: ChatTargetFlags, program: string): string[] {
  if (session === undefined) {
    return [
      'Nobody can answer this now: it ends with this command. Use a terminal to be asked, or --session to keep it.',
    ]
  }
  const words = [...(where === undefined ? [] : [where]), '--session', session]
  if (dataDir !== undefined) words.push('--data-dir', dataDir)
  return [`At a terminal, run ${program} chat ${words.map((word) => shellWord(word)).join(' ')} and type /approvals`]
}

function chooseAgent(agents: readonly AgentDefinition[], name: string | undefined): AgentDefinition {
  const served = agents.filter(({ internal }) => !internal)
  const chosen = served.find((agent) => (name === undefined ? agent.default : agent.name === name))
  if (chosen !== undefined) return chosen
  const shown = JSON.stringify(name)
  const isSubagent = agents.some((agent) => agent.name === name)
  const problem = isSubagent
    ? `${shown} is a sub-agent: only other agents can talk to it.`
    : `There is no agent ${shown}.`
  const names = served.map((agent) => agent.name).join(', ')
  throw usageError(problem, [`Agents: ${names}`])
}

/** Serves the same agents on a free port of this machine, whatever the settings say for the real server. */
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
