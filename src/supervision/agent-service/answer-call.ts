// What every call of an agent elsewhere has in common: it belongs to a session, it is activity, it stands in the log, and its answer
// carries what the operator wants the agent to know.

import { type Clock, isoTime } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import type { SupervisedRecord } from '../../domain/records/record.ts'
import type { Fact } from '../../domain/session/entry.ts'
import { type Instruction, MOST_MCP_CONNECTIONS, type Supervision } from '../../domain/supervision/supervision.ts'
import type { Store } from '../../store/store.ts'
import { oneLine } from '../records/record-words.ts'
import { sessionEnded } from '../sessions/attach-agent.ts'
import { callEvents, resultEvent } from '../sessions/session-events.ts'
import { agentLogger } from '../sessions/step-log.ts'
import type { AgentIdentity, SupervisedSessions } from '../sessions/supervised-sessions.ts'
import type { Changes, SessionNow, SessionParts, SupervisedSession } from '../sessions/take-step.ts'
import { alertOf } from '../stalls/alerts.ts'
import type { AgentAnswer, AgentCall, ResumableCall, ToolName } from './agent-service.ts'
import { shortened } from './agent-words.ts'

export interface CallDeps extends Pick<SessionParts, 'takeStep' | 'clock' | 'ids' | 'logger'> {
  sessions: Pick<SupervisedSessions, 'attach' | 'arrive'>
  store: Pick<Store, 'supervised'>
}

/** A call whose session is known. */
export interface OpenCall extends AgentCall {
  session: SupervisedSession
  /** Its id in the log. */
  callId: string
  reader: 'model' | 'host'
}

type CalledTool = Pick<OpenCall, 'callId' | 'agent' | 'signal'> & {
  /** Null: it found none. */
  session: SupervisedSession | null
  tool: ToolName
  shown: Record<string, unknown>
  startedAt: number
}

type BegunCall = Pick<OpenCall, 'callId' | 'reader' | 'resumable'> & {
  tool: ToolName
  shown: Record<string, unknown>
}

/**
 * Answers one call. `shown` is what people see of its input. `work` gives the answer, or throws a `ServerError` that becomes the
 * agent's error. `reader` is who gets the answer: the model, or its host, which would swallow what an operator wants the model to know.
 * `attach` finds the session; by default the one that every call of this agent belongs to.
 */
export type AnswerCall = (
  call: AgentCall,
  tool: ToolName,
  shown: Record<string, unknown>,
  work: (call: OpenCall) => Promise<Record<string, unknown>>,
  reader?: 'model' | 'host',
  attach?: (agent: AgentIdentity) => Promise<SupervisedSession>,
) => Promise<AgentAnswer>

const MOST_SHOWN = 100
const MOST_NAME = 200
/** The whole diff of an edited change may be longer. */
const MOST_KEPT_CHARS = 1_000_000

export function createAnswerCall(deps: CallDeps): AnswerCall {
  const { sessions, takeStep, store, clock, ids, logger } = deps

  /**
   * The call begins: the agent is alive. A call of the model proves that it has what the last answer brought. One of its host does not:
   * the host may ask about a call that the model made before that answer.
   */
  async function begin(session: SupervisedSession, { tool, callId, shown, reader, resumable }: BegunCall) {
    const { session: begun } = await takeStep(session.id, (now): Changes => {
      const { status } = now.session.supervision
      // A refused call is a sign of life as well: who asks again and again is not lost.
      const known = withConnection(now.session.supervision, resumable)
      if (status !== 'active') {
        return { supervision: status === 'paused' ? { updatedAt: now.at, ...known } : {} }
      }
      const { supervision, ...step } = activity(now)
      const { givenInstructions } = now.session.supervision
      return {
        ...step,
        supervision: {
          ...supervision,
          ...known,
          lastTool: tool,
          ...present({ said: reportedIn(tool, shown) }),
          givenInstructions: reader === 'host' ? givenInstructions : [],
        },
        deliver: reader === 'host' ? [] : givenInstructions,
        events: callEvents(callId, tool, shortened({ ...shown }), now.at),
      }
    })
    refuseInactive(begun)
    return begun
  }

  async function finish(open: OpenCall, answer: Record<string, unknown>, isError: boolean): Promise<AgentAnswer> {
    const ended = (told: Record<string, unknown>, at: number) => ({
      events: [resultEvent(open.callId, shortened(told), isError, at)],
      facts: answerFacts(open, { isError, answer: told }, at),
    })
    if (open.reader === 'host') {
      await takeStep(open.session.id, ({ at }) => ({
        supervision: { updatedAt: at, silence: null },
        ...ended(answer, at),
      }))
      return { isError, answer }
    }
    const waiting = { isWaiting: true, limit: MOST_SHOWN }
    const { id: sessionId, owner, supervision } = open.session
    const steering = await store.supervised.instructions({ ...waiting, kind: 'steering', sessionId })
    const workspace = { owner, root: supervision.workspaceRoot }
    // A task waits for the next session, so one that came later is not for this one, until a new window takes it up. Ids grow with time.
    const { takenUpAs = sessionId } = supervision
    const tasks = (await store.supervised.instructions({ ...waiting, kind: 'task', workspace })).filter(
      (task) => task.id < takenUpAs,
    )
    const { result } = await takeStep(open.session.id, ({ session, at }) => {
      const { openNudge, givenInstructions } = session.supervision
      // A caller that has gone is told nothing, so what the operator wants it to know goes with the next answer.
      const isHeard = !open.signal.aborted
      const more = isHeard ? carried(steering, tasks, openNudge) : {}
      const told = { session_id: sessionId, ...answer, ...more }
      const brought = isHeard ? [...steering, ...tasks].map(({ id }) => id) : []
      const given = [...new Set([...givenInstructions, ...brought])]
      return {
        result: told,
        supervision: {
          updatedAt: at,
          silence: null,
          openNudge: isHeard ? null : openNudge,
          ...present({ told: isHeard ? toldIn(steering.at(-1) ?? tasks.at(-1)) : undefined }),
          givenInstructions: given,
        },
        ...ended(told, at),
      }
    })
    return { isError, answer: result }
  }

  /** One line for each call. */
  function logged(answered: AgentAnswer, call: CalledTool): AgentAnswer {
    const { session, callId: call_id, tool, shown, agent, signal, startedAt } = call
    const log =
      session === null ? logger.with({ agent: agent.host, folder: agent.workspaceRoot }) : agentLogger(logger, session)
    const hostTool = typeof shown.tool_name === 'string' ? { host_tool: shown.tool_name.slice(0, MOST_NAME) } : {}
    const outcome = signal.aborted ? { outcome: 'caller_gone' } : outcomeOf(answered)
    const latency_ms = Math.round(clock.mono() - startedAt)
    log.info('tool call', { tool, ...hostTool, call_id, ...outcome, latency_ms })
    return answered
  }

  return async (call, tool, shown, work, reader = 'model', attach = sessions.attach) => {
    let open: OpenCall | null = null
    let attached: SupervisedSession | null = null
    let leave = () => {}
    const callId = ids.uuid()
    const startedAt = clock.mono()
    const answered = (answer: AgentAnswer) =>
      logged(answer, { ...call, session: attached, callId, tool, shown, startedAt })
    try {
      const found = await attach(call.agent)
      attached = found
      leave = sessions.arrive(found.id)
      const session = await begin(found, { ...call, tool, callId, shown, reader })
      open = { ...call, session, callId, reader }
      return answered(await finish(open, await work(open), false))
    } catch (error) {
      const answer = errorAnswer(error, logger, tool, clock)
      if (open === null) return answered({ isError: true, answer })
      return answered(await finish(open, answer, true).catch(() => ({ isError: true, answer })))
    } finally {
      leave()
    }
  }
}

function outcomeOf({ isError, answer }: AgentAnswer): { outcome: string; code?: string } {
  if (isError) return { outcome: 'failed', code: String(answer.error_code) }
  const word = answer.status ?? answer.behavior ?? answer.decision
  return { outcome: typeof word === 'string' ? word : 'completed' }
}

/** What an agent says of its work without asking anything. */
function reportedIn(tool: ToolName, shown: Readonly<Record<string, unknown>>): string | undefined {
  const words = tool === 'remote_log' ? shown.message : tool === 'heartbeat' ? shown.status_message : undefined
  return typeof words === 'string' && words.trim() !== '' ? oneLine(words) : undefined
}

const toldIn = (instruction: Instruction | undefined): string | undefined =>
  instruction === undefined ? undefined : oneLine(instruction.text)

/** The client's connection belongs to the session from its first call on. */
function withConnection({ mcp = [] }: Supervision, resumable: ResumableCall | undefined): Pick<Supervision, 'mcp'> {
  const { connection } = resumable ?? {}
  const known = mcp.find(({ id }) => id === connection?.id)
  if (connection === undefined || (known !== undefined && known.listens === connection.listens)) return {}
  return { mcp: [...mcp.filter((one) => one !== known), connection].slice(-MOST_MCP_CONNECTIONS) }
}

/** Written in the commit that finishes the call, so that it costs no sync of its own. */
function answerFacts({ resumable }: OpenCall, answer: AgentAnswer, at: number): Fact[] {
  const kept = resumable?.messageOf(answer) ?? null
  // The client of a longer answer is told to ask again.
  if (resumable === undefined || kept === null || JSON.stringify(kept.message).length > MOST_KEPT_CHARS) return []
  return [{ fact: 'mcp_answered', connection: resumable.connection.id, ...kept, at }]
}

/** Activity dismisses a stall: the agent is back by itself. */
export function activity(now: SessionNow): Changes {
  const { at } = now
  const alert = alertOf(now)
  return {
    supervision: { updatedAt: at, silence: null, turnEnded: false, nudgeCount: 0 },
    settle: alert === undefined ? [] : [{ id: alert.id, patch: recovered(at) }],
  }
}

const recovered = (at: number): Partial<SupervisedRecord> => ({ status: 'self_recovered', decidedAt: at })

/** Throws `session_paused` or `session_ended`. */
export function refuseInactive({ id, supervision: { status, held = false } }: SupervisedSession): void {
  if (status === 'paused' || held) {
    throw new ServerError(
      'session_paused',
      'Your operator has paused this session. Stop working now. Call heartbeat every few minutes until it is accepted, then go on; nothing is lost.',
      { details: { session_id: id } },
    )
  }
  if (status === 'terminated' || status === 'interrupted') throw sessionEnded(id)
}

const carried = (steering: readonly Instruction[], tasks: readonly Instruction[], nudge: string | null) =>
  present({
    pending_steering: steering.length === 0 ? undefined : steering.map(instructionView),
    pending_tasks: tasks.length === 0 ? undefined : tasks.map(instructionView),
    nudge: nudge ?? undefined,
  })

const instructionView = ({ id, text, source, createdAt }: Instruction) => ({
  id,
  text,
  source,
  created_at: isoTime(createdAt),
})

/** The words of the tools for what the rest of the server calls differently. */
const toolCodes: Readonly<Record<string, string>> = {
  invalid_request: 'invalid_input',
  record_not_found: 'request_not_found',
  approval_not_found: 'request_not_found',
}

function errorAnswer(error: unknown, logger: Logger, tool: string, clock: Clock): Record<string, unknown> {
  if (error instanceof ServerError) {
    const { code, message, details } = error
    return { status: 'error', error_code: toolCodes[code] ?? code, error_message: message, ...details }
  }
  const reference = clock.now().toString(36)
  logger.error('a call of a supervised agent failed', { tool, reference, error })
  const error_message = `The server failed (reference ${reference}). Try again; nothing was decided.`
  return { status: 'error', error_code: 'internal_error', error_message }
}
