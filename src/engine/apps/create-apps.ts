// What the app of an MCP server asks for while somebody looks at it: its page and its server's other resources, and calls of the
// server's tools. An app was written by strangers. So it gets only what its own server has, and a call is judged like one of the
// model. An approval has to wait for a person, which an app cannot, so a call that needs one is refused.

import { abortAfter, untilAborted } from '../../domain/abort.ts'
import { noSuchApp, ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { APP_ACTIVITY } from '../../domain/session/event.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import { refuseSupervised, type SessionRecord } from '../../domain/session/session.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import { refuseOtherAgent } from '../../domain/supervision/token-role.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import { jsonProblem } from '../../json/json-limits.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import { noNumbers, type ServerTool, type ToolApp, type ToolCallRequest, type ToolOutcome } from '../../tools/tool.ts'
import type { EngineParts } from '../create-engine.ts'
import type { Starter } from '../ports/runs.ts'
import type { AgentParts } from '../run/run-scope.ts'
import { resultForApp } from './app-activity.ts'

export interface Apps {
  /**
   * Resolves to the result of the MCP request. Throws `message_not_found` if the session shows no such app, `invalid_request`,
   * `tool_unavailable`, `forbidden`, `not_approved`, `rate_limited` or `tool_failed`.
   */
  request(session: SessionRecord, request: AppRequest): Promise<unknown>
}

export interface AppRequest {
  /** Id of the activity that shows the app. */
  app: string
  method: string
  params: unknown
  by: Starter
}

/** An app that sends requests without end must not keep the server busy. */
const MOST_OPEN = 4
const READ_MS = 30_000
const MOST_RESOURCE_CHARS = 8_000_000

export function createApps(parts: EngineParts): Apps {
  const { agents, store, clock } = parts
  /** Open requests of each session. */
  const open = new Map<string, number>()

  async function answer(
    session: SessionRecord,
    { app: id, method, params, by: { owner: by, onlyAgent } }: AppRequest,
  ): Promise<unknown> {
    refuseOtherAgent(onlyAgent, session.agent)
    const app = shownApp((await store.messages.known(session.id, [id]))[0])
    const agent = agents.get(app?.agent ?? '')
    if (app === null || agent === undefined) throw noSuchApp(id)
    const given = isRecord(params) ? params : {}
    using late = abortAfter(clock, READ_MS)
    const theirs = await untilAborted(
      toolsOf(agent, { server: app.server, user: session.owner }, late.signal),
      late.signal,
    )
    if (method === 'resources/read') return await read(theirs, given.uri)
    if (method !== 'tools/call') throw invalid('An app may send resources/read and tools/call.')
    const tool = theirs.find((one) => one.app.tool === given.name)
    if (tool === undefined) throw new ServerError('tool_unavailable', `The server ${app.server} has no such tool now.`)
    const input = given.arguments ?? {}
    return await callForApp(parts, { session, agent, tool, app, input, by })
  }

  async function read([any]: readonly AppTool[], uri: unknown): Promise<unknown> {
    if (any === undefined)
      throw new ServerError('tool_unavailable', 'The MCP server of this app cannot be reached now.')
    if (typeof uri !== 'string' || !uri.startsWith('ui://')) throw invalid('An app may read resources at ui:// only.')
    using late = abortAfter(clock, READ_MS)
    const found = await untilAborted(any.app.read(uri, late.signal), late.signal).catch((error: unknown) => {
      throw late.signal.aborted ? new ServerError('tool_failed', 'The MCP server did not answer in time.') : error
    })
    if (JSON.stringify(found).length > MOST_RESOURCE_CHARS) {
      const most = MOST_RESOURCE_CHARS / 1_000_000
      throw new ServerError('tool_failed', `The resource is longer than ${most} million characters.`)
    }
    return found
  }

  return {
    async request(session, request) {
      refuseSupervised(session)
      const others = open.get(session.id) ?? 0
      if (others >= MOST_OPEN)
        throw new ServerError('rate_limited', `An app sends at most ${MOST_OPEN} requests at once.`)
      open.set(session.id, others + 1)
      try {
        return await answer(session, request)
      } finally {
        const left = (open.get(session.id) ?? 1) - 1
        if (left === 0) open.delete(session.id)
        else open.set(session.id, left)
      }
    },
  }
}

type AppTool = ServerTool & { app: ToolApp }

interface ShownApp {
  id: string
  agent: string
  server: string
  runId: string
}

/** Only the engine writes activities, so what this one says can be trusted. */
function shownApp(message: StoredMessage | undefined): ShownApp | null {
  const { type, content = {} } = message?.activity ?? {}
  const { agent, server } = content
  if (message === undefined || type !== APP_ACTIVITY) return null
  if (typeof agent !== 'string' || typeof server !== 'string') return null
  return { id: message.id, agent, server, runId: message.runId ?? '' }
}

async function toolsOf(
  { toolbox }: AgentParts,
  { server, user }: { server: string; user: string },
  signal: AbortSignal,
): Promise<AppTool[]> {
  const isTheirs = (tool: object): tool is AppTool => 'app' in tool && (tool as AppTool).app.server === server
  return [...(await toolbox.tools(signal, user)).values()].filter(isTheirs)
}

interface AppCall {
  session: SessionRecord
  agent: AgentParts
  tool: AppTool
  app: ShownApp
  input: unknown
  by: string
}

async function callForApp(parts: EngineParts, call: AppCall): Promise<unknown> {
  const { gate, clock, ids, log, logger } = parts
  const { session, agent, tool, app, by } = call
  if (!tool.app.forApp) throw new ServerError('forbidden', `Apps may not call the tool ${tool.name}.`)
  const input = checkedInput(tool, call.input)
  const callId = `app_${ids.uuid()}`
  const { definition } = agent
  const about = { sessionId: session.id, runId: app.runId, owner: session.owner }
  const shown = throughMiddleware(parts, call)
  const started = { type: 'TOOL_CALL_START', toolCallId: callId, toolCallName: tool.name } as const
  if (shown(started) === null) throw new ServerError('forbidden', `The tool ${tool.name} may not be used here.`)

  const asked = { asked: null, continues: null, lane: null, now: clock.now(), log: logger }
  const verdict = await gate.judge({ ...about, ...asked, agent: definition, tool, arguments: input, callId })
  if (verdict.verdict === 'refuse') throw new ServerError('forbidden', `This call is not allowed: ${verdict.reason}`)
  if (verdict.verdict === 'ask') {
    throw new ServerError(
      'not_approved',
      `A call of ${tool.name} needs a person’s approval, and an app cannot ask for it. Ask the agent to make the call.`,
    )
  }
  const record = { by, session: session.id, run: null, agent: definition.name, tool: tool.name, call: callId }
  const note = async (kind: AuditRecord['kind'], details: AuditRecord['details']): Promise<void> => {
    if (tool.effect === 'read') return
    await log.commit({ type: 'add_audit', audit: [{ ...record, at: clock.now(), kind, details }] })
  }
  const { effect, risk } = tool
  const digest = sha256(canonicalJson(input))
  await note('call_started', {
    effect,
    risk,
    arguments_sha256: digest,
    approval: null,
    grant: verdict.grant,
    app: app.id,
  })
  const began = clock.mono()
  // The person may close the page meanwhile. What the call has begun it also ends, and the trail says how.
  const outcome = await run(parts, tool, {
    ...about,
    callId,
    arguments: input,
    agent: definition.name,
    forwardedProps: undefined,
    resultChars: definition.limits.toolResultChars,
    voice: silentVoice(session, logger),
    answers: [],
    numbers: noNumbers,
    hold: async () => ({ type: 'rejected', reason: 'Nobody can be asked during a call of an app.' }),
  })
  const durationMs = Math.round(clock.mono() - began)
  logger.info('tool call of an app', {
    agent: definition.name,
    tool: tool.name,
    call_id: callId,
    session_id: session.id,
    latency_ms: durationMs,
    outcome: outcome.isError ? 'failed' : 'completed',
  })
  const status = outcome.isError ? 'error' : 'success'
  await note('call_finished', { status, duration_ms: durationMs, result_sha256: sha256(outcome.content) })
  const content = { result: resultForApp(outcome) }
  const result = shown({ type: 'ACTIVITY_SNAPSHOT', messageId: callId, activityType: APP_ACTIVITY, content })
  if (result === null) throw new ServerError('forbidden', `The result of ${tool.name} may not be shown.`)
  return result.content.result
}

/** What the server's middleware lets through of an event: it may filter tools, and hide what they find. */
function throughMiddleware({ middleware }: EngineParts, { session, agent, app }: AppCall) {
  const scope = { sessionId: session.id, runId: app.runId, agent: agent.definition.name }
  return <E extends Parameters<NonNullable<typeof middleware>>[0]>(event: E): E | null => {
    const passed = middleware === null ? event : middleware(event, scope)
    return passed?.type === event.type ? (passed as E) : null
  }
}

/** Never throws: a failure is an outcome. */
async function run({ clock, logger }: EngineParts, tool: AppTool, request: ToolCallRequest): Promise<ToolOutcome> {
  using late = abortAfter(clock, tool.timeoutMs)
  try {
    const outcome = await untilAborted(tool.call(request, late.signal), late.signal)
    return outcome.question === undefined
      ? outcome
      : failed('The tool wants to ask a person, and an app cannot do that.')
  } catch (error) {
    if (late.signal.aborted) return failed(`The tool did not answer within ${tool.timeoutMs / 1000} s.`)
    if (error instanceof ServerError) return failed(error.message)
    logger.warn('a tool threw', { tool: tool.name, call_id: request.callId, error })
    return failed('The tool failed.')
  }
}

const failed = (content: string): ToolOutcome => ({ content, isError: true })

function checkedInput(tool: AppTool, input: unknown): Record<string, unknown> {
  const problem = jsonProblem(input)
  if (!isRecord(input) || problem !== null) throw invalid(problem ?? 'The arguments of a call are an object.')
  const checked = jsonCheckOf(tool.parameters).check(input)
  if (!checked.ok) throw invalid(`The arguments do not fit: ${checked.problems.join('; ')}.`)
  return { ...Object(checked.value) }
}

/** There is no run whose events it could write. */
const silentVoice = ({ state }: SessionRecord, log: ToolCallRequest['voice']['log']): ToolCallRequest['voice'] => ({
  log,
  state: () => state,
  setState() {},
  emit() {},
  activity() {},
  progress() {},
})

const invalid = (detail: string): ServerError => new ServerError('invalid_request', detail)
