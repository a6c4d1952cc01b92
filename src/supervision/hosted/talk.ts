// One conversation with the program of a hosted agent, over the Agent Client Protocol: JSON-RPC, a message a line. It knows the protocol
// and no runs: what the program says waits in a queue until a run takes it (`work-run.ts`).

import { type Readable, Writable } from 'node:stream'
import {
  type AgentCapabilities,
  type AuthMethod,
  type ClientConnection,
  type ContentBlock,
  client,
  type InitializeResponse,
  MessageTooLargeError,
  methods,
  type NewSessionResponse,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { untilAborted } from '../../domain/abort.ts'
import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { type HostedCall, mergeCall, newCall } from './hosted-call.ts'
import type { HostedProcess } from './hosted-process.ts'
import { cancelled, type OpenRequest } from './open-request.ts'
import { createSaidQueue, type Said } from './said.ts'
import type { Terminals } from './terminals.ts'

/** A longer line ends the program: a person could not read it, and we would have to hold all of it. */
const MOST_LINE_BYTES = 16 * 1024 * 1024
/** How long the program may take to greet and to open a conversation. Some load for many seconds. */
const GREETING_MS = 120_000
/** How long it may take to take a mode or an option. */
const CHOICE_MS = 30_000
/** Of a question with the form of its answer. A person reads it. */
const MOST_QUESTION = 100_000
/** As many questions may wait at once. Nobody could answer more. */
const MOST_REQUESTS = 100
/** Calls of one conversation that are remembered. A program that makes more starts new ones anyway. */
const MOST_CALLS = 10_000
/** Of calls that have not ended: their arguments, diffs and results. */
const MOST_CALL_BYTES = 32 * 1024 * 1024

export interface Talk {
  readonly pid: number | undefined
  readonly acpSession: string
  readonly title: string
  readonly capabilities: AgentCapabilities
  readonly modes: SessionModeState | null
  readonly configOptions: readonly SessionConfigOption[]
  /** It has not answered the last prompt yet. */
  readonly isPrompting: boolean
  readonly isGone: boolean
  /** Those that are still open, oldest first. */
  readonly requests: readonly OpenRequest[]
  /** By the program's own ids. */
  readonly calls: ReadonlyMap<string, HostedCall>
  call(acpId: string): HostedCall
  /** Begins a prompt. Its end is the last thing in the queue. */
  prompt(blocks: readonly ContentBlock[]): void
  /** The next thing the program says. Rejects when the signal aborts. */
  next(signal: AbortSignal): Promise<Said>
  /** What it has said by now, or null. */
  nextNow(): Said | null
  /** It has said more already. */
  readonly hasMore: boolean
  setMode(modeId: string): Promise<void>
  setConfig(configId: string, value: string | boolean): Promise<void>
  /** Ends the prompt: what is open is cancelled, and what the program still says of it is dropped. Kills the program if it does not stop. */
  cancel(): Promise<void>
  close(): Promise<void>
}

export interface TalkDeps {
  process: HostedProcess
  /** As the program sees it. */
  cwd: string
  /** What the program may ask of us besides permissions: files and commands. Null: it does all that itself. */
  terminals: Terminals | null
  /** Whether the program is told that we read files for it. */
  reads: boolean
  readFile: ((path: string, line: number | null, limit: number | null) => Promise<string>) | null
  /** The program's own name for an earlier conversation of this session; null: there is none. */
  earlier: string | null
  /** How the program signs in with what is in its environment, where it says that it has to. Null: it does not. */
  authMethod: string | null
  /** Called for everything that the program says. */
  onHeard(): void
  /** Ends after `ms`. */
  timeout(ms: number): AbortSignal
  cancelMs: number
}

/** `isSame`: the program remembers the earlier conversation. */
export interface OpenedTalk {
  talk: Talk
  isSame: boolean
}

/** Throws `host_failed` if the program does not greet, wants a login, or speaks another protocol. */
export async function openTalk(deps: TalkDeps): Promise<OpenedTalk> {
  const { process, cwd, earlier } = deps
  const queue = createSaidQueue()
  const calls = new Map<string, HostedCall>()
  let requests: OpenRequest[] = []
  let callBytes = 0
  let acpSession: string | null = null
  let isPrompting = false
  let isListening = false
  let hasFailed = false
  let dropsAll = false

  function call(acpId: string): HostedCall {
    const known = calls.get(acpId)
    if (known !== undefined) return known
    const fresh = newCall(acpId)
    calls.set(acpId, fresh)
    if (calls.size > MOST_CALLS) calls.delete([...calls.keys()][0] ?? '')
    return fresh
  }

  function merge(into: HostedCall, update: Parameters<typeof mergeCall>[1]): void {
    mergeCall(into, update)
    const bytes = sizeOf(update)
    into.bytes += bytes
    callBytes += bytes
    if (callBytes <= MOST_CALL_BYTES) return
    callBytes = [...calls.values()].reduce((sum, one) => sum + (one.isOver ? 0 : one.bytes), 0)
    if (callBytes <= MOST_CALL_BYTES) return
    fail(hostFailed(`Its open calls have more than ${MOST_CALL_BYTES / 1024 / 1024} MB.`))
    void process.end()
  }

  function push(said: Said, bytes: number): void {
    deps.onHeard()
    if (!dropsAll) queue.push(said, bytes)
  }

  function fail(error: Error): void {
    if (hasFailed) return
    hasFailed = true
    isPrompting = false
    for (const request of [...requests]) withdraw(request)
    queue.push({ type: 'failed', error }, 0)
  }

  const withdraw = (request: OpenRequest): void => {
    requests = requests.filter((one) => one !== request)
  }

  /** A request that a run answers, later and maybe after a person was asked. Withdrawn: nobody waits for the answer any more. */
  function ask<One extends OpenRequest>(
    fields: Omit<One, 'isOpen' | 'answer' | 'approvalId'>,
    signal: AbortSignal,
    bytes: number,
  ): Promise<Parameters<One['answer']>[0]> {
    if (requests.length >= MOST_REQUESTS) {
      throw RequestError.invalidRequest(undefined, `${MOST_REQUESTS} requests wait for an answer already.`)
    }
    return new Promise((resolve, reject) => {
      const request = {
        ...fields,
        approvalId: null,
        get isOpen() {
          return requests.includes(request)
        },
        answer(answer: Parameters<One['answer']>[0]) {
          withdraw(request)
          resolve(answer)
        },
      } as One
      requests.push(request)
      signal.addEventListener('abort', () => {
        withdraw(request)
        reject(RequestError.requestCancelled())
      })
      push({ type: 'request', request }, bytes)
    })
  }

  /** It belongs to no conversation of ours. */
  function refuseForeign(id: string): void {
    if (id !== acpSession)
      throw RequestError.invalidParams(undefined, `There is no session ${JSON.stringify(id)} here.`)
  }

  const { terminals, readFile } = deps
  const app = client({ name: 'quarterdeck' })
    .onNotification(methods.client.session.update, ({ params }) => {
      // Updates for a conversation that we do not have say nothing to us. Those of a replay were said before.
      if (params.sessionId !== acpSession || !isListening) return
      const { update } = params
      if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
        merge(call(update.toolCallId), update)
      }
      push({ type: 'update', update }, sizeOf(update))
    })
    .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
      refuseForeign(params.sessionId)
      const asked = call(params.toolCall.toolCallId)
      merge(asked, params.toolCall)
      const fields = { kind: 'permission' as const, call: asked, asked: params.toolCall, options: params.options }
      return ask<Extract<OpenRequest, { kind: 'permission' }>>(fields, signal, sizeOf(params))
    })
    .onRequest(methods.client.elicitation.create, async ({ params, signal }) => {
      if (params.mode !== 'form' || !isRecord(params.requestedSchema)) return { action: 'decline' }
      if (sizeOf(params) > MOST_QUESTION) {
        throw RequestError.invalidParams(undefined, `A question has at most ${MOST_QUESTION} characters.`)
      }
      const fields = { kind: 'question' as const, message: params.message, schema: { ...params.requestedSchema } }
      return ask<Extract<OpenRequest, { kind: 'question' }>>(fields, signal, sizeOf(params))
    })
  if (readFile !== null) {
    app
      .onRequest(methods.client.fs.readTextFile, async ({ params }) => {
        refuseForeign(params.sessionId)
        return { content: await orRequestError(readFile(params.path, params.line ?? null, params.limit ?? null)) }
      })
      .onRequest(methods.client.fs.writeTextFile, async ({ params, signal }) => {
        refuseForeign(params.sessionId)
        const fields = { kind: 'write' as const, file: params }
        const why = await ask<Extract<OpenRequest, { kind: 'write' }>>(fields, signal, sizeOf(params))
        if (why !== null) throw RequestError.invalidRequest(undefined, why)
        return {}
      })
  }
  if (terminals !== null) {
    app
      .onRequest(methods.client.terminal.create, async ({ params, signal }) => {
        refuseForeign(params.sessionId)
        const fields = { kind: 'terminal' as const, command: params }
        const why = await ask<Extract<OpenRequest, { kind: 'terminal' }>>(fields, signal, sizeOf(params))
        if (why !== null) throw RequestError.invalidRequest(undefined, why)
        return { terminalId: await orRequestError(terminals.start(params)) }
      })
      .onRequest(methods.client.terminal.output, ({ params }) => orRequestError(terminals.output(params.terminalId)))
      .onRequest(methods.client.terminal.waitForExit, ({ params }) => orRequestError(terminals.exit(params.terminalId)))
      .onRequest(methods.client.terminal.kill, ({ params }) => orRequestError(terminals.kill(params.terminalId)))
      .onRequest(methods.client.terminal.release, ({ params }) => orRequestError(terminals.release(params.terminalId)))
  }

  const connection = app.connect(
    ndJsonStream(
      Writable.toWeb(process.stdin),
      paced(process.stdout, () => queue.room()),
      {
        maxMessageBytes: MOST_LINE_BYTES,
      },
    ),
  )
  const gone = goneError(connection, process)
  void gone.then(fail)
  const { agent } = connection

  async function greet(): Promise<InitializeResponse> {
    const greeting = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'quarterdeck', version: '1' },
      clientCapabilities: {
        fs: { readTextFile: deps.reads, writeTextFile: readFile !== null },
        terminal: terminals !== null,
        elicitation: { form: {} },
      },
    })
    if (greeting.protocolVersion !== PROTOCOL_VERSION) {
      throw hostFailed(
        `It speaks version ${greeting.protocolVersion} of ACP, and this server version ${PROTOCOL_VERSION}.`,
      )
    }
    return greeting
  }

  /** The earlier conversation, if the program still knows it. */
  async function continued({
    loadSession,
    sessionCapabilities,
  }: AgentCapabilities): Promise<NewSessionResponse | null> {
    if (earlier === null) return null
    const known = { sessionId: earlier, cwd, mcpServers: [] }
    const method =
      sessionCapabilities?.resume != null
        ? methods.agent.session.resume
        : loadSession === true
          ? methods.agent.session.load
          : null
    if (method === null) return null
    try {
      // What it repeats of the conversation is in the log already.
      acpSession = earlier
      return { ...((await agent.request(method, known)) ?? {}), sessionId: earlier }
    } catch (error) {
      acpSession = null
      // A login is wanted for every conversation. Anything else: it does not know this one any more.
      if (error instanceof RequestError && error.code === AUTH_REQUIRED) throw error
      return null
    }
  }

  async function open(capabilities: AgentCapabilities) {
    const same = await continued(capabilities)
    const opened: NewSessionResponse = same ?? (await agent.request(methods.agent.session.new, { cwd, mcpServers: [] }))
    acpSession = opened.sessionId
    isListening = true
    return { capabilities, opened, isSame: same !== null }
  }

  async function begin() {
    const greeting = await greet()
    const capabilities = greeting.agentCapabilities ?? {}
    const { authMethods = [] } = greeting
    const signIn = authMethods.find(({ id }) => id === deps.authMethod)
    try {
      return { greeting, ...(await open(capabilities)) }
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== AUTH_REQUIRED) throw error
      if (signIn === undefined) throw loginNeeded(authMethods)
      await agent.request(methods.agent.authenticate, { methodId: signIn.id }).catch(() => {
        throw loginNeeded(authMethods)
      })
      return { greeting, ...(await open(capabilities)) }
    }
  }

  const late = deps.timeout(GREETING_MS)
  const lateError = new Promise<never>((_resolve, reject) =>
    late.addEventListener('abort', () => reject(hostFailed(`It did not answer within ${GREETING_MS / 1_000} s.`))),
  )
  const failed = gone.then((error) => Promise.reject(error))
  failed.catch(() => {})
  lateError.catch(() => {})
  let begun: Awaited<ReturnType<typeof begin>>
  try {
    begun = await Promise.race([begin(), failed, lateError])
  } catch (error) {
    const hasEnded = connection.signal.aborted
    await process.end()
    throw hasEnded && !(error instanceof ServerError) ? await gone : asHostError(error, process)
  }
  const { greeting, capabilities, opened, isSame } = begun
  const { sessionId } = opened
  let modes = opened.modes ?? null
  let configOptions = opened.configOptions ?? []

  async function stopPrompt(): Promise<void> {
    for (const request of [...requests]) {
      if (request.kind === 'permission') request.answer(cancelled)
      else if (request.kind === 'question') request.answer({ action: 'cancel' })
      else request.answer('The prompt was cancelled.')
    }
    // A command that it has us run belongs to the prompt.
    await terminals?.close()
    if (!isPrompting) return
    dropsAll = true
    // Its answer may be behind much that nobody reads any more.
    while (queue.take() !== null);
    // Nobody waits until it has that: it may have stopped reading.
    void agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {})
    const late = deps.timeout(deps.cancelMs)
    await Promise.race([promptEnd, new Promise<void>((resolve) => late.addEventListener('abort', () => resolve()))])
    if (isPrompting) await process.end()
    while (queue.take() !== null);
    dropsAll = false
  }

  /** A choice that the program takes. It may never answer. */
  const chosen = <T>(request: Promise<T>): Promise<T> =>
    untilAborted(request, deps.timeout(CHOICE_MS)).catch((error: unknown) => {
      const isLate = error instanceof DOMException && error.name === 'AbortError'
      throw isLate ? hostFailed(`It did not answer within ${CHOICE_MS / 1_000} s.`) : asHostError(error, process)
    })

  let promptEnd: Promise<void> = Promise.resolve()
  const talk: Talk = {
    pid: process.pid,
    acpSession: sessionId,
    title: visibleText(greeting.agentInfo?.title ?? greeting.agentInfo?.name ?? '').slice(0, 100),
    capabilities,
    get modes() {
      return modes
    },
    get configOptions() {
      return configOptions
    },
    get isPrompting() {
      return isPrompting
    },
    get isGone() {
      // Its words are closed before it is known how it has ended.
      return hasFailed || connection.signal.aborted
    },
    get requests() {
      return requests
    },
    calls,
    call,
    prompt(blocks) {
      isPrompting = true
      promptEnd = agent
        .request(methods.agent.session.prompt, { sessionId, prompt: [...blocks] })
        .then(({ stopReason }) => {
          isPrompting = false
          push({ type: 'stopped', reason: stopReason }, 0)
        })
        .catch((error: unknown) => {
          // The program is gone, and how it ended comes next: see `gone`.
          if (hasFailed || connection.signal.aborted) return
          isPrompting = false
          push({ type: 'failed', error: asHostError(error, process) }, 0)
        })
    },
    nextNow: () => remember(queue.take()),
    get hasMore() {
      return queue.size > 0
    },
    async next(signal) {
      for (;;) {
        signal.throwIfAborted()
        const said = talk.nextNow()
        if (said !== null) return said
        await queue.ready(signal)
      }
    },
    async setMode(modeId) {
      await chosen(agent.request(methods.agent.session.setMode, { sessionId, modeId }))
      if (modes !== null) modes = { ...modes, currentModeId: modeId }
    },
    async setConfig(configId, value) {
      const typed = typeof value === 'boolean' ? { type: 'boolean' as const, value } : { value }
      const changed = await chosen(
        agent.request(methods.agent.session.setConfigOption, { sessionId, configId, ...typed }),
      )
      configOptions = changed.configOptions
    },
    cancel: stopPrompt,
    async close() {
      connection.close()
      await process.end()
      await terminals?.close()
    },
  }

  function remember(said: Said | null): Said | null {
    if (said?.type !== 'update') return said
    const { update } = said
    if (update.sessionUpdate === 'current_mode_update' && modes !== null) {
      modes = { ...modes, currentModeId: update.currentModeId }
    }
    if (update.sessionUpdate === 'config_option_update') configOptions = update.configOptions
    return said
  }

  return { talk, isSame }
}

const AUTH_REQUIRED = -32_000

/** Reads on only while there is room for what the program says. */
function paced(stdout: Readable, room: () => Promise<void>): ReadableStream<Uint8Array> {
  const source = stdout[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      await room()
      try {
        const { done, value } = await source.next()
        if (done) controller.close()
        else controller.enqueue(new Uint8Array(value))
      } catch {
        // The pipe broke because the program has ended.
        controller.close()
      }
    },
    async cancel() {
      stdout.destroy()
    },
  })
}

const sizeOf = (value: SessionUpdate | object): number => JSON.stringify(value).length

export const hostFailed = (message: string, cause?: unknown): ServerError =>
  new ServerError('host_failed', `The agent’s program failed. ${message}`, { cause })

/** Why there is nobody to talk to any more. Never rejects. */
async function goneError(connection: ClientConnection, process: HostedProcess): Promise<Error> {
  const broken = await connection.closed.then(
    () => connection.signal.reason,
    (error: unknown) => error,
  )
  if (broken instanceof MessageTooLargeError) {
    await process.end()
    return hostFailed(`It sent a line of more than ${MOST_LINE_BYTES / 1024 / 1024} MB.`)
  }
  const how = await process.how()
  return hostFailed(`It has ended: ${how}.`)
}

function asHostError(error: unknown, process: HostedProcess): Error {
  if (error instanceof ServerError) return error
  const words = process.lastWords()
  const said =
    error instanceof Error
      ? visibleText(process.clean(error.message)).slice(0, 500)
      : 'It sent something that is not an answer.'
  return hostFailed(`${said}${words === null ? '' : ` Its last words: ${words}`}`, error)
}

/** The program is told why in words; everything else is a bug of ours, and it is told nothing of it. */
async function orRequestError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ServerError) throw RequestError.invalidRequest(undefined, error.message)
    throw error
  }
}

const MOST_WAYS = 10

const loginNeeded = (authMethods: readonly AuthMethod[]): ServerError => {
  const ways = authMethods
    .slice(0, MOST_WAYS)
    .map(({ name, description }) => visibleText(description == null ? name : `${name} (${description})`).slice(0, 200))
  const known = ways.length === 0 ? '' : ` It knows: ${ways.join('; ')}.`
  return hostFailed(
    `It wants a login.${known} Set its key as a variable of the server and name it under host.env, then try again.`,
  )
}
