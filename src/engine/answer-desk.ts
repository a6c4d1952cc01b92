// Where answers come in: decisions of people, results of client tools, and time that is up. Whatever the door, an answer is one
// command that takes the run it starts; the first to find its wait pending wins, in the store.

import { decisionRecord } from '../domain/approval-audit.ts'
import type { AuditRecord } from '../domain/audit.ts'
import type { Caller, Decision } from '../domain/decision.ts'
import { ServerError } from '../domain/errors.ts'
import { type Ids, parseUuid } from '../domain/ids.ts'
import type { NewMessage, RunInput, RunRecord } from '../domain/run.ts'
import type { SessionRecord } from '../domain/session.ts'
import type { Approval, ClientCall, Wait, WaitAnswer } from '../domain/wait.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { AcceptRun } from '../store/ports/runs.ts'
import type { WaitQuery } from '../store/ports/waits.ts'
import type { Store } from '../store/store.ts'
import type { AskAgain } from './ask-again.ts'
import { alreadyDecided, type Decided, decideOn, refuseWithoutStanding, tooLate } from './decisions.ts'
import type { Gate } from './gate.ts'
import type { Approvals } from './ports/approvals.ts'
import type { AcceptedRun, StartRequest } from './ports/runs.ts'
import type { Waits } from './ports/waits.ts'
import { boundedResult } from './run/bounded-result.ts'
import { refusal } from './run/prepare-call.ts'
import type { AgentParts } from './run/run-scope.ts'

export interface AnswerDesk {
  approvals: Pick<Approvals, 'list' | 'get' | 'decide'>
  waits: Waits
  /** The answers that a request brings: decisions, and results of client calls among its messages. Null: none. */
  answersIn(request: StartRequest, session: SessionRecord): Promise<Settled | null>
}

/** What answers add to the command that takes their run, and what that run is. */
export interface Settled {
  command: Pick<AcceptRun, 'answers' | 'grants' | 'answerAudit'>
  input: RunInput
  /** The run that waited. */
  parent: RunRecord | null
}

export interface AnswerDeskDeps {
  store: Pick<Store, 'sessions' | 'runs' | 'waits'>
  log: SessionLog
  ids: Ids
  gate: Gate
  agents: ReadonlyMap<string, AgentParts>
  questions: AskAgain
  /** Wall time that a jump of the clock does not bring forward. */
  now: () => number
  take: (run: TakenBy, settled: Settled) => Promise<AcceptedRun>
  startNext: (sessionId: string) => Promise<void>
}

export type TakenBy = Pick<
  StartRequest,
  'owner' | 'agent' | 'session' | 'input' | 'wireRunId' | 'parentRunId' | 'correlationId'
> & {
  origin: RunRecord['origin']
}

const MOST_WAITS = 1_000

export function createAnswerDesk(deps: AnswerDeskDeps): AnswerDesk {
  const { store, log, ids, gate, agents, questions, now, take } = deps
  const never = new AbortController().signal
  const decideDeps = {
    gate,
    newId: () => ids.uuid(),
    findTool: (wait: Approval) => questions.findTool(wait, never),
  }

  /** Whoever is shown a question or an answer must find it again after a power cut. */
  async function shown<W extends Wait>(waits: W[]): Promise<W[]> {
    for (const sessionId of new Set(waits.map((wait) => wait.sessionId))) await log.synced(sessionId)
    return waits
  }

  async function find(id: string): Promise<Wait | null> {
    const uuid = parseUuid(id)
    const wait = uuid === null ? null : await store.waits.get(uuid)
    if (wait !== null) await shown([wait])
    return wait
  }

  async function approval(by: Caller, id: string): Promise<Approval> {
    const wait = await find(id)
    if (wait?.wait === 'approval' && (by.role === 'operator' || wait.owner === by.user)) return wait
    throw new ServerError('approval_not_found', `There is no approval ${JSON.stringify(id)}.`)
  }

  async function clientCall(owner: string, id: string): Promise<ClientCall> {
    const wait = await find(id)
    if (wait?.wait === 'client_call' && wait.owner === owner) return wait
    throw new ServerError('tool_call_not_found', `There is no tool execution ${JSON.stringify(id)}.`)
  }

  async function clientCalls(query: WaitQuery): Promise<ClientCall[]> {
    const found = await store.waits.list({ ...query, wait: 'client_call' })
    return shown(found.filter((one) => one.wait === 'client_call'))
  }

  /** Unless all that is asked has its answer here. */
  async function refuseWhileAsked(sessionId: string, decided: readonly Decided[]): Promise<void> {
    const pending = await store.waits.list({ sessionId, wait: 'approval', status: 'pending', limit: MOST_WAITS })
    const asked = pending.find(({ id }) => decided.every(({ answer }) => answer.waitId !== id))
    if (asked === undefined) return
    throw new ServerError(
      'approval_pending',
      'The session waits for a decision. Send this again when it has been made.',
      {
        details: { run_id: asked.runId },
      },
    )
  }

  /** What answers add to the command that takes their run, and the input of that run. */
  function settle(parent: RunRecord | null, input: RunInput, { decided, answered, at }: Settling): Settled {
    const before = parent?.input
    const resultChars = agents.get(parent?.agent ?? '')?.definition.limits.toolResultChars ?? Number.POSITIVE_INFINITY
    // What the first run brought has been taken; the rest is the same piece of work, unless the answer says otherwise.
    const { regenerateAfter, ...given } = input
    const branch = regenerateAfter !== undefined && given.messages.some(isUser) ? { regenerateAfter } : {}
    const callOf = ({ toolCallId }: NewMessage) => answered.find((call) => call.callId === toolCallId)
    return {
      parent,
      input: {
        ...given,
        ...branch,
        instructions: given.instructions.length > 0 ? given.instructions : (before?.instructions ?? []),
        context: given.context.length > 0 ? given.context : (before?.context ?? []),
        ...formatOf(given.responseFormat ?? before?.responseFormat),
        clientTools: given.clientTools.length > 0 ? given.clientTools : (before?.clientTools ?? []),
        messages: given.messages.map((message) => {
          const call = callOf(message)
          if (call === undefined) return message
          const content =
            typeof message.content === 'string' ? boundedResult(message.content, resultChars) : message.content
          return { ...message, content, ...(call.lane === null ? {} : { lane: call.lane }) }
        }),
      },
      command: {
        answers: [
          ...decided.map(({ answer }) => answer),
          ...answered.map(({ id, owner }) => ({ waitId: id, at, by: owner, outcome: { type: 'answered' as const } })),
        ],
        grants: decided.flatMap(({ grant }) => (grant === null ? [] : [grant])),
        answerAudit: Object.fromEntries(decided.flatMap(auditOf)),
      },
    }
  }

  /** An answer from outside of the conversation; its continuation runs by itself. Null: the session is gone. */
  async function answer(
    wait: Wait,
    settling: Settling,
    { messages = [], correlationId }: { messages?: NewMessage[]; correlationId?: string | undefined } = {},
  ): Promise<AcceptedRun | null> {
    const parent = await store.runs.get(wait.runId)
    const session = await store.sessions.get(wait.sessionId)
    if (parent === null || session === null) return null
    const { owner, agent } = parent
    // The state that the first run brought was taken then; tools may have changed it since.
    const { state: _taken, ...input } = parent.input
    const settled = settle(parent, { ...input, messages }, settling)
    const asked = correlationId === undefined ? {} : { correlationId }
    const run = { owner, agent, session: { existing: session }, input: settled.input, ...asked }
    return take({ ...run, origin: 'answer' }, settled)
  }

  async function decide(by: Caller, id: string, decision: Decision, correlationId?: string) {
    const wait = await approval(by, id)
    const at = now()
    // First of all: whoever has no standing learns nothing more and changes nothing.
    refuseWithoutStanding(by, wait)
    const isLate = wait.status === 'pending' && isOver(wait, at)
    if (!isLate) await questions.refuseChanged(wait, decision, at, never)
    const decided = await decideOn(decideDeps, by, wait, decision, at)
    if (isLate) await expire(wait)
    else if (wait.status === 'pending') {
      const taken = await answer(wait, { decided: [decided], answered: [], at }, { correlationId })
      const applied = taken?.answered?.[0]
      if (taken !== null && applied?.applied === true && applied.wait?.wait === 'approval') {
        return { approval: applied.wait, run: taken.run }
      }
    }
    const after = await approval(by, id)
    await questions.refuseReplaced(after)
    throw alreadyDecided(await questions.latest(after))
  }

  /** Of several all that have changed are asked again before the first of them is told. */
  async function refuseChanged(asked: readonly { wait: Approval; decision: Decision }[], at: number): Promise<void> {
    const looks = await Promise.allSettled(
      asked
        .filter(({ wait }) => wait.status !== 'pending' || !isOver(wait, at))
        .map(({ wait, decision }) => questions.refuseChanged(wait, decision, at, never)),
    )
    for (const look of looks) if (look.status === 'rejected') throw look.reason
  }

  async function expire(wait: Wait): Promise<void> {
    const at = now()
    const expired: WaitAnswer = { waitId: wait.id, at, by: 'timeout', outcome: { type: 'expired' } }
    if (wait.wait === 'client_call' && wait.onExpiry === 'complete') {
      await log.commit({ type: 'settle_waits', answers: [expired], now: at })
      await deps.startNext(wait.sessionId)
      return
    }
    const audit = wait.wait === 'approval' ? decisionRecord(wait, 'timeout', 'expired', at) : null
    await answer(wait, { decided: [{ answer: expired, grant: null, audit }], answered: [], at })
  }

  const answerClientCall: Waits['answerClientCall'] = async (owner, id, result, correlationId) => {
    const { content, isError, durationMs } = result
    const call = await clientCall(owner, id)
    const at = now()
    if (call.status === 'pending' && isOver(call, at)) await expire(call)
    else if (call.status === 'pending') {
      const status = isError ? 'error' : 'success'
      const message: NewMessage = {
        id: ids.uuid(),
        role: 'tool',
        content,
        toolCallId: call.callId,
        metadata: { quarterdeck: { status, ...(durationMs === undefined ? {} : { durationMs }) } },
        ...(isError ? { error: content } : {}),
      }
      const taken = await answer(call, { decided: [], answered: [call], at }, { messages: [message], correlationId })
      if (taken?.answered?.[0]?.applied === true) return taken.run
    }
    const { status } = await clientCall(owner, id)
    if (status === 'answered') {
      throw new ServerError('tool_call_answered', 'The result of this call has been received already.')
    }
    const message = 'It is too late for the result of this call: the agent went on without it.'
    throw new ServerError('tool_call_expired', message)
  }

  return {
    approvals: {
      get: approval,
      decide,
      async list({ by, ...query }) {
        const own = by.role === 'operator' ? {} : { owner: by.user }
        const found = await store.waits.list({ ...query, ...own, wait: 'approval' })
        return shown(found.filter((one) => one.wait === 'approval'))
      },
    },
    waits: {
      clientCall,
      openClientCalls: (sessionId) => clientCalls({ sessionId, status: 'pending', limit: MOST_WAITS }),
      answerClientCall,
      expire,
    },

    async answersIn(request, session) {
      const results = request.input.messages.filter((message) => message.role === 'tool')
      const decisions = request.decisions?.answers ?? []
      if (results.length === 0 && decisions.length === 0) return null
      const talks = request.input.messages.some(isUser)
      // "Not that, but this" is one thing to say. What is allowed is carried out before anything else is said.
      if (talks && decisions.some(({ decision }) => decision === 'approve')) {
        throw new ServerError(
          'invalid_request',
          'A new message can come with a refusal, not with an approval. Approve first, then send the message.',
        )
      }
      const by = request.decisions?.by ?? { user: request.owner, role: 'anyone' }
      const at = now()
      const decided: Decided[] = []
      let parentId: string | null = null
      const asked: { wait: Approval; decision: Decision }[] = []
      for (const { waitId, ...decision } of decisions) {
        const wait = await approval(by, waitId)
        if (wait.sessionId !== session.id) {
          throw new ServerError('approval_not_found', `There is no approval ${JSON.stringify(waitId)} in this session.`)
        }
        // Only one of them would count, and the audit trail has to say which.
        if (asked.some((one) => one.wait.id === wait.id)) {
          throw new ServerError('invalid_request', `Approval ${wait.id} is answered twice here. Answer it once.`)
        }
        // Whoever comes too late decides nothing, and is shown what went on.
        if (wait.status === 'pending') refuseWithoutStanding(by, wait)
        asked.push({ wait, decision })
      }
      await refuseChanged(asked, at)
      for (const { wait: given, decision } of asked) {
        // Whoever repeats an answer is shown what came of it, under whatever id it was asked last.
        const wait = await questions.latest(given)
        parentId ??= wait.runId
        const isTooLate = wait.status !== 'pending' || isOver(wait, at)
        decided.push(isTooLate ? tooLate(by, wait, at) : await decideOn(decideDeps, by, wait, decision, at))
        if (wait.status === 'pending' && isTooLate) await expire(wait)
      }
      // Answered ones too: whoever repeats an answer is shown what came of it.
      const calls = results.length === 0 ? [] : await clientCalls({ sessionId: session.id, limit: MOST_WAITS })
      const answered = results.flatMap(({ toolCallId }) => calls.find((call) => call.callId === toolCallId) ?? [])
      if (answered.length === 0 && decided.length === 0) return null
      // A new word ends the step that a person is asked about, so it has to wait for the person.
      if (talks) await refuseWhileAsked(session.id, decided)
      parentId ??= answered[0]?.runId ?? null
      const parent = parentId === null ? null : await store.runs.get(parentId)
      const isEdit = request.input.regenerateAfter !== undefined
      const refused = talks && !isEdit ? asked.flatMap((one) => refusedCall(one, ids.uuid())) : []
      const input = { ...request.input, messages: [...refused, ...request.input.messages] }
      return settle(parent, input, { decided, answered, at })
    },
  }
}

const formatOf = (schema: RunInput['responseFormat']): Pick<RunInput, 'responseFormat'> =>
  schema === undefined ? {} : { responseFormat: schema }

const isUser = ({ role }: NewMessage): boolean => role === 'user'

/**
 * The result of a call that was refused in the same breath as something new was said. The run that follows is about the new
 * message and does not come back to the call.
 */
function refusedCall({ wait, decision }: { wait: Approval; decision: Decision }, id: string): NewMessage[] {
  if (wait.status !== 'pending') return []
  const content = refusal({ status: 'rejected', reason: decision.reason ?? null })
  const lane = wait.lane === null ? {} : { lane: wait.lane }
  const metadata = { quarterdeck: { status: 'error' } }
  return [{ id, role: 'tool', content, toolCallId: wait.callId, error: content, metadata, ...lane }]
}

interface Settling {
  decided: readonly Decided[]
  answered: readonly ClientCall[]
  at: number
}

/** By what it is written for: the answer, and the grant that came with it. */
function auditOf({ answer, grant, audit }: Decided): (readonly [string, AuditRecord])[] {
  if (audit === null) return []
  const asked = [answer.waitId, audit] as const
  if (grant === null) return [asked]
  const details = {
    grant: grant.id,
    approval: grant.approvalId,
    scope: grant.sessionId === null ? 'always' : 'session',
  }
  return [asked, [grant.id, { ...audit, kind: 'grant_made', details }]]
}

const isOver = ({ expiresAt }: Wait, now: number): boolean => expiresAt !== null && expiresAt <= now
