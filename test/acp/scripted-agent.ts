// An agent over ACP whose prompt says what it does, line by line: see `script-lines.ts`. `node test/acp/scripted-agent.ts` starts it.
//
// A prompt of prose alone repeats the script that was cut off, if there is one, as an agent does that is told to go on. `again` repeats
// the last script in any case. Decisions are remembered in this process only, so that an agent that was killed asks again.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import {
  type AgentContext,
  agent,
  type ClientCapabilities,
  type McpServer,
  methods,
  ndJsonStream,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { ignoresChoices, isHanging, isScript, runScript } from './script-lines.ts'

const { values: flags } = parseArgs({
  options: {
    /** What it offers, of: resume, load, close, modes, config. */
    offers: { type: 'string', default: 'resume,close,modes,config' },
    /** It wants SCRIPTED_AGENT_KEY in its environment. */
    auth: { type: 'boolean', default: false },
    /** The version of the protocol that it answers. */
    protocol: { type: 'string', default: '1' },
  },
})
const offers = flags.offers.split(',')
const folder = join(process.env.SCRIPTED_AGENT_HOME ?? homedir(), '.scripted-agent')

const MODES = [
  { id: 'ask', name: 'Ask' },
  { id: 'code', name: 'Code' },
]
const MODELS = [
  { value: 'small', name: 'Small' },
  { value: 'large', name: 'Large' },
]

/** What a session keeps on disk. */
interface Stored {
  id: string
  cwd: string
  mode: string
  config: { model: string; thinks: string }
  /** How many tool calls it had. */
  calls: number
  /** What it was asked last. */
  script: string | null
  isFinished: boolean
  history: SessionUpdate[]
}

/** What it keeps in memory. */
interface Open {
  stored: Stored
  servers: readonly string[]
  always: Map<string, boolean>
  running: AbortController | null
}

const sessions = new Map<string, Open>()
let capabilities: ClientCapabilities = {}

const fileOf = (id: string): string => join(folder, `${id}.json`)

function save(stored: Stored): void {
  const file = fileOf(stored.id)
  writeFileSync(`${file}.new`, JSON.stringify(stored))
  renameSync(`${file}.new`, file)
}

function create(cwd: string): Stored {
  mkdirSync(folder, { recursive: true })
  const config = { model: 'small', thinks: 'false' }
  const fresh = { cwd, mode: 'ask', config, calls: 0, script: null, isFinished: true, history: [] }
  for (let number = 1; ; number++) {
    const stored = { id: `session-${number}`, ...fresh }
    try {
      writeFileSync(fileOf(stored.id), JSON.stringify(stored), { flag: 'wx' })
      return stored
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

function restore(id: string): Stored {
  try {
    return JSON.parse(readFileSync(fileOf(id), 'utf8')) as Stored
  } catch {
    throw RequestError.sessionNotFound(id)
  }
}

function open(stored: Stored, mcpServers: readonly McpServer[] = []): ReturnType<typeof optionsOf> {
  const servers = mcpServers.map(({ name }) => name)
  sessions.set(stored.id, { stored, servers, always: new Map(), running: null })
  return optionsOf(stored)
}

function sessionOf(id: string): Open {
  const session = sessions.get(id)
  if (session === undefined) throw RequestError.sessionNotFound(id)
  return session
}

function configOptions({ config }: Stored) {
  return [
    { id: 'model', name: 'Model', type: 'select' as const, currentValue: config.model, options: MODELS },
    { id: 'thinks', name: 'Thinks', type: 'boolean' as const, currentValue: config.thinks === 'true' },
  ]
}

const optionsOf = (stored: Stored) => ({
  ...(offers.includes('modes') ? { modes: { currentModeId: stored.mode, availableModes: MODES } } : {}),
  ...(offers.includes('config') ? { configOptions: configOptions(stored) } : {}),
})

function checkLogin(): void {
  if (flags.auth && process.env.SCRIPTED_AGENT_KEY === undefined) throw RequestError.authRequired()
}

async function prompt(request: PromptRequest, client: AgentContext, isGone: AbortSignal): Promise<PromptResponse> {
  const session = sessionOf(request.sessionId)
  const { stored } = session
  if (session.running !== null) throw RequestError.invalidRequest(undefined, 'A prompt is running.')
  const text = request.prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const isRepeated = text.trim() === 'again' || (!isScript(text) && !stored.isFinished)
  const script = isRepeated
    ? (stored.script ?? '')
    : isScript(text)
      ? text
      : `say You said: ${text.replaceAll('\n', '\\n')}`
  const content = { type: 'text' as const, text }
  stored.history.push({ sessionUpdate: 'user_message_chunk', content })
  Object.assign(stored, { script, isFinished: false })
  save(stored)

  const cancel = new AbortController()
  session.running = cancel
  const update = async (update: SessionUpdate, isKept = false): Promise<void> => {
    if (isKept) {
      stored.history.push(update)
      save(stored)
    }
    await client.notify(methods.client.session.update, { sessionId: stored.id, update })
  }
  try {
    const stopReason = await runScript(script, {
      sessionId: stored.id,
      cwd: stored.cwd,
      client,
      capabilities,
      signal: AbortSignal.any([cancel.signal, isGone]),
      always: session.always,
      servers: session.servers,
      newCallId() {
        stored.calls++
        save(stored)
        return `call-${stored.calls}`
      },
      update,
      say: (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }, true),
      state: () => ({ mode: stored.mode, config: stored.config }),
      setMode(mode) {
        stored.mode = mode
        save(stored)
      },
    })
    return { stopReason }
  } finally {
    session.running = null
    // Without the client nobody has seen the end, so the prompt is not finished.
    stored.isFinished = !isGone.aborted
    save(stored)
  }
}

const connection = agent({ name: 'scripted-agent' })
  .onRequest(methods.agent.initialize, ({ params }) => {
    capabilities = params.clientCapabilities ?? {}
    return {
      protocolVersion: Number(flags.protocol),
      agentInfo: { name: 'scripted-agent', version: '1.0.0' },
      agentCapabilities: {
        loadSession: offers.includes('load'),
        sessionCapabilities: {
          ...(offers.includes('resume') ? { resume: {} } : {}),
          ...(offers.includes('close') ? { close: {} } : {}),
        },
      },
      authMethods: flags.auth ? [{ id: 'key', name: 'Set SCRIPTED_AGENT_KEY' }] : [],
    }
  })
  .onRequest(methods.agent.authenticate, checkLogin)
  .onRequest(methods.agent.session.new, ({ params }) => {
    checkLogin()
    const stored = create(params.cwd)
    return { sessionId: stored.id, ...open(stored, params.mcpServers) }
  })
  .onRequest(methods.agent.session.resume, ({ params }) => {
    checkLogin()
    if (!offers.includes('resume')) throw RequestError.methodNotFound(methods.agent.session.resume)
    return open({ ...restore(params.sessionId), cwd: params.cwd }, params.mcpServers)
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    checkLogin()
    if (!offers.includes('load')) throw RequestError.methodNotFound(methods.agent.session.load)
    const stored = { ...restore(params.sessionId), cwd: params.cwd }
    for (const update of stored.history) {
      await client.notify(methods.client.session.update, { sessionId: stored.id, update })
    }
    return open(stored, params.mcpServers)
  })
  .onRequest(methods.agent.session.close, ({ params }) => {
    sessionOf(params.sessionId).running?.abort()
    sessions.delete(params.sessionId)
  })
  .onRequest(methods.agent.session.setMode, async ({ params }) => {
    if (ignoresChoices()) await new Promise(() => {})
    const { stored } = sessionOf(params.sessionId)
    if (!MODES.some(({ id }) => id === params.modeId)) throw RequestError.invalidParams({ modeId: params.modeId })
    stored.mode = params.modeId
    save(stored)
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    const { stored } = sessionOf(params.sessionId)
    if (!Object.hasOwn(stored.config, params.configId)) throw RequestError.invalidParams({ configId: params.configId })
    stored.config = { ...stored.config, [params.configId]: String(params.value) }
    save(stored)
    return { configOptions: configOptions(stored) }
  })
  .onRequest(methods.agent.session.prompt, ({ params, client, signal }) => prompt(params, client, signal))
  .onNotification(methods.agent.session.cancel, ({ params }) => sessionOf(params.sessionId).running?.abort())
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>))

await connection.closed
if (!isHanging()) process.exit(0)
