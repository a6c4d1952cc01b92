import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CallToolResult, ElicitRequest, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client'
import type { GivenAnswer, ToolQuestion } from '../../../domain/agent/question.ts'
import type { McpServerSettings, ToolRules } from '../../../domain/agent/tool-settings.ts'
import type { Clock } from '../../../domain/clock.ts'
import { present } from '../../../domain/present.ts'
import { traceHeaders } from '../../../domain/telemetry.ts'
import type { ServerTool, ToolCallRequest, ToolOutcome, ToolVoice } from '../../tool.ts'
import { toolBinding } from '../../tool-binding.ts'
import { type McpConnection, NO_TIMEOUT_MS } from '../connection/mcp-connection.ts'
import { mcpError, serversOwnError } from '../connection/mcp-failure.ts'
import type { WithConnection } from '../connection/with-connection.ts'
import { bounded, contentText } from './content-text.ts'
import { elicitResult, questionOf } from './elicitation.ts'
import type { ListedTool } from './list-tools.ts'
import { type ServerIdentity, shownCall } from './server-identity.ts'

const MIN_DESCRIPTION_CHARS = 10
/** A server may report progress for each byte. The log need not keep all of it. */
const PROGRESS_EVERY_MS = 100
const MAX_PROGRESS_CHARS = 500
const MAX_ERROR_CHARS = 10_000

/** A tool of a server, under the name that we give it. */
export function createMcpTool(
  name: string,
  listed: ListedTool,
  settings: McpServerSettings,
  withConnection: WithConnection,
  clock: Clock,
  server: ServerIdentity,
): ServerTool {
  return {
    location: 'server',
    name,
    description: described(listed, settings.name),
    parameters: listed.inputSchema,
    returns: listed.outputSchema,
    ...toolRules(settings, listed),
    ...rootsOf(settings),
    app: {
      server: settings.name,
      tool: listed.name,
      ...listed.ui,
      read: (uri, signal) =>
        withConnection(signal, ({ client }) => client.readResource({ uri }, { signal, timeout: NO_TIMEOUT_MS })),
    },
    binding: toolBinding('mcp', { server, tool: listed.definition }),
    action: () => shownCall(listed.name, settings),
    call: (call, signal) => {
      const first = afterAnswers(call.answers)
      if ('ask' in first) return Promise.resolve(asks(first.ask))
      return withConnection(signal, (connection) =>
        connection.during(call, () => callMcp(connection, { listed, settings, clock, call, signal }, first.send)),
      )
    },
  }
}

const asks = (question: ToolQuestion): ToolOutcome => ({ content: '', isError: false, question })

interface McpCall {
  listed: ListedTool
  settings: McpServerSettings
  clock: Clock
  call: ToolCallRequest
  signal: AbortSignal
}

/** A server may answer several times that it needs no more than another try. */
const MAX_TRIES = 10

async function callMcp(
  { client, sdk }: McpConnection,
  { listed, settings, clock, call, signal }: McpCall,
  input: InputParams,
): Promise<ToolOutcome> {
  try {
    let params = input
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const result: CallToolResult | InputRequiredResult = await client.callTool(
        { name: listed.name, arguments: call.arguments, ...traceMeta(call), ...params },
        {
          signal,
          timeout: NO_TIMEOUT_MS,
          allowInputRequired: true,
          onprogress: progressTo(call.voice, clock),
          // Without the schema of its results: the model should see a result even if it does not fit.
          toolDefinition: { name: listed.name, inputSchema: listed.inputSchema },
        },
      )
      if (!sdk.isInputRequiredResult(result)) {
        const { content, structuredContent, _meta, isError = false } = result
        return {
          content: contentText(content, structuredContent),
          isError,
          whole: present({ content, structuredContent, _meta, isError }),
        }
      }
      const next = nextRound(settings.name, result, call.answers)
      if (typeof next === 'string') throw mcpError(settings.name, next)
      if ('ask' in next) return asks(next.ask)
      params = next.send
    }
    throw mcpError(settings.name, 'wants the same call again and again.')
  } catch (error) {
    signal.throwIfAborted()
    const said = serversOwnError(sdk, error)
    if (said === undefined) throw error
    return { content: bounded(said, MAX_ERROR_CHARS), isError: true }
  }
}

/** MCP has no headers of its own for traces: `_meta` carries the same names, over every transport. */
const traceMeta = ({ trace }: ToolCallRequest): { _meta?: Record<string, unknown> } =>
  trace === undefined ? {} : { _meta: traceHeaders(trace) }

/** The folder that the program starts in, and those that its arguments name. File servers resolve relative paths from there. */
function rootsOf({ connection }: McpServerSettings): Pick<ServerTool, 'roots'> {
  if (connection.kind !== 'stdio') return {}
  const { args, directory } = connection
  const named = args.map((arg) => resolve(directory, arg.replace(/^--?[\w-]+=/, ''))).filter(isFolder)
  return { roots: [...new Set([directory, ...named])] }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function described({ name, description }: ListedTool, server: string): string {
  if (description.length >= MIN_DESCRIPTION_CHARS) return description
  const origin = `The tool ${JSON.stringify(name)} of the MCP server ${JSON.stringify(server)}.`
  return description === '' ? origin : `${description} – ${origin}`
}

function progressTo(
  voice: ToolVoice,
  clock: Clock,
): (progress: { progress: number; total?: number | undefined; message?: string | undefined }) => void {
  let last = Number.NEGATIVE_INFINITY
  let isComplete = false
  return ({ progress, total, message }) => {
    const completes = progress === total && !isComplete
    if (clock.mono() - last < PROGRESS_EVERY_MS && !completes) return
    last = clock.mono()
    isComplete ||= completes
    voice.progress(progress, total, message?.slice(0, MAX_PROGRESS_CHARS))
  }
}

/** What the file says about the tool comes first, then the tool's hints if they are trusted, then the server's rules. */
export function toolRules(
  settings: McpServerSettings,
  tool: { name: string; readOnly: boolean; idempotent: boolean },
): ToolRules {
  // The server chooses the name, which may be "constructor". Only what the file says counts.
  const own: Partial<ToolRules> = Object.hasOwn(settings.tools, tool.name) ? (settings.tools[tool.name] ?? {}) : {}
  const hinted = settings.trustHints ? hintedEffect(tool) : undefined
  const effect = own.effect ?? hinted ?? settings.effect
  const isDefault = effect === 'read' && !settings.written.includes('risk')
  const risk = own.risk ?? (isDefault ? 'low' : settings.risk)
  return {
    effect,
    risk,
    timeoutMs: own.timeoutMs ?? settings.timeoutMs,
    retries: effect === 'once' ? 0 : (own.retries ?? settings.retries),
    approval: own.approval ?? settings.approval,
    predictState: own.predictState ?? settings.predictState,
  }
}

const hintedEffect = (tool: { readOnly: boolean; idempotent: boolean }): 'read' | 'idempotent' | undefined =>
  tool.readOnly ? 'read' : tool.idempotent ? 'idempotent' : undefined

// A server of the protocol of 2026 does not ask during a call. It ends the call with the questions it has (`input_required`) and wants
// the call again with the answers. So such a call is suspended like any other, and nothing is held. Each question is asked for
// itself; its state says what else the server wants to know.

/** What the server wants to know before the call can go on. */
interface Round {
  /** 1, 2, … The server may ask again after it has got its answers. */
  number: number
  /** The server's own, given back as it is. */
  requestState?: string | undefined
  questions: { key: string; message: string; schema: ToolQuestion['schema'] }[]
}

interface InputParams {
  inputResponses?: Record<string, ElicitResult>
  requestState?: string
}

const MAX_QUESTIONS = 10
const MAX_STATE = 50_000

/** What to do first with a call that was made before: ask the next question of its round, or send the answers. */
function afterAnswers(answers: readonly GivenAnswer[]): { ask: ToolQuestion } | { send: InputParams } {
  const last = answers.at(-1)
  const round: Round | null = last?.state === undefined ? null : JSON.parse(last.state)
  if (round === null) return { send: {} }
  const given = answers.filter(({ state }) => state === last?.state)
  const next = round.questions[given.length]
  if (next !== undefined) return { ask: asked(round, next) }
  const responses = given.map(({ answer }, i) => [round.questions[i]?.key ?? '', elicitResult(answer)] as const)
  return {
    send: {
      inputResponses: Object.fromEntries(responses),
      ...(round.requestState === undefined ? {} : { requestState: round.requestState }),
    },
  }
}

/** The server's questions. A sentence if nobody can be asked them. */
function nextRound(
  server: string,
  { inputRequests = {}, requestState }: InputRequiredResult,
  answers: readonly GivenAnswer[],
): { ask: ToolQuestion } | { send: InputParams } | string {
  const requests = Object.entries(inputRequests)
  if (requests.length > MAX_QUESTIONS || (requestState ?? '').length > MAX_STATE)
    return 'asks too much in the middle of the call.'
  const questions: Round['questions'] = []
  for (const [key, { method, params }] of requests) {
    if (method !== 'elicitation/create')
      return 'asks for something other than an answer of a person in the middle of the call, which is not supported.'
    const question = questionOf(server, params as ElicitRequest['params'])
    if (question === null) return 'asks something in the middle of the call that nobody can be asked here.'
    questions.push({ key, message: question.message, schema: question.schema })
  }
  const before = answers.at(-1)?.state
  const number = 1 + (before === undefined ? 0 : (JSON.parse(before) as Round).number)
  const round: Round = { number, requestState, questions }
  const [first] = questions
  return first === undefined
    ? { send: requestState === undefined ? {} : { requestState } }
    : { ask: asked(round, first) }
}

const asked = (round: Round, { message, schema }: Round['questions'][number]): ToolQuestion => ({
  message,
  schema,
  state: JSON.stringify(round),
})
