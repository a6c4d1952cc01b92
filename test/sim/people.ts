// Those who answer what runs wait for: operators who decide, late or twice or against each other, and a client that runs tools.
// Once the trial has calmed down they leave nothing lying, so that every run can come to its end.

import type { Approval, ClientCall } from '../../src/domain/records/record.ts'
import type { Caller, Decision } from '../../src/domain/supervision/decision.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { StartRequest } from '../../src/engine/ports/runs.ts'
import type { Faults } from './faults.ts'
import type { ClientAnswer, DecisionAttempt, History } from './history.ts'
import type { Kernel } from './kernel.ts'
import type { Net } from './net.ts'
import type { Random } from './random.ts'

export interface PeopleDeps {
  kernel: Kernel
  random: Random
  net: Net
  faults: Faults['people']
  history: History
  isCalm: () => boolean
}

const OWNER = 'local_user'
const CALM_MS = 200

/** Nothing was done, or nobody knows. */
const undone = new Set(['refused', 'lost', 'shutting_down', 'storage_full', 'storage_failed'])
/** Somebody or something was faster than the answer. */
const overtaken = new Set(['approval_decided', 'approval_expired', 'approval_changed'])
/** The session was deleted meanwhile. */
const gone = new Set(['approval_not_found', 'tool_call_not_found', 'session_not_found'])

/** Never comes back. */
export async function decideOn(deps: PeopleDeps, name: string): Promise<void> {
  const { kernel, random, net, faults, history, isCalm } = deps
  const ignored = new Map<string, boolean>()
  const known: Approval[] = []
  let attempts = 0

  const complain = (message: string) => history.findings.push({ checker: 'approvals', message: `${name}: ${message}` })

  function draw(approval: Approval): { attempt: DecisionAttempt; decision: Decision; by: Caller } {
    attempts += 1
    const isReject = random.chance(faults.rejects)
    const isEdit = !isReject && random.chance(faults.edits)
    const remember = !isReject && random.chance(faults.remembers)
    const edited = isEdit ? { n: random.below(1_000), edited: true } : null
    const by: Caller = { user: `${name}-${attempts}`, role: 'operator' }
    const attempt: DecisionAttempt = {
      approvalId: approval.id,
      sessionId: approval.sessionId,
      by: by.user,
      decision: isReject ? 'reject' : 'approve',
      edited: edited === null ? null : JSON.stringify(edited),
      remember,
      won: null,
      runId: null,
    }
    history.decisions.push(attempt)
    const decision: Decision = {
      decision: attempt.decision,
      ...(random.chance(0.5) ? { reason: 'because' } : {}),
      ...(edited === null ? {} : { arguments: edited }),
      ...(remember ? { remember: { scope: random.pick(['session', 'always']) } } : {}),
    }
    return { attempt, decision, by }
  }

  /** Says whether the refusal of an answer is one that may come. */
  function isFair(code: string, { sessionId }: DecisionAttempt): boolean {
    if (undone.has(code) || overtaken.has(code)) return true
    return gone.has(code) && history.deletions.includes(sessionId)
  }

  async function decide(approval: Approval): Promise<void> {
    const { attempt, decision, by } = draw(approval)
    const reply = await net.request(`${by.user} ${attempt.decision} ${approval.id.slice(-6)}`, ({ approvals }) =>
      approvals.decide(by, approval.id, decision),
    )
    if (reply.ok) {
      attempt.won = true
      attempt.runId = reply.value.run?.id ?? null
      if (reply.value.approval.decidedBy !== by.user) complain(`${by.user} won and was told of another winner`)
    } else {
      if (reply.code !== 'lost') attempt.won = false
      if (!isFair(reply.code, attempt)) complain(`${by.user} was refused with ${reply.code}`)
    }
  }

  async function decideInConversation(approvals: readonly Approval[]): Promise<void> {
    const [first] = approvals
    if (first === undefined) return
    const drawn = approvals.map((approval) => draw(approval))
    const by = drawn[0]?.by ?? { user: name, role: 'operator' }
    for (const { attempt } of drawn) attempt.by = by.user
    const answers = drawn.map(({ attempt, decision }) => ({ ...decision, waitId: attempt.approvalId }))
    const extra: Partial<StartRequest> = random.chance(0.5) ? { wireRunId: `run-${by.user}` } : {}
    const origin = random.pick(['reader', 'background'] as const)
    const reply = await net.request(`${by.user} answers ${approvals.map(({ id }) => id.slice(-6))}`, ({ engine }) =>
      startWith(engine, first.sessionId, { decisions: { by, answers }, origin, ...extra }),
    )
    for (const [i, { attempt }] of drawn.entries()) {
      if (reply.ok) {
        attempt.won = reply.value.answered?.[i]?.applied === true
        attempt.runId = reply.value.run?.id ?? null
      } else {
        if (reply.code !== 'lost') attempt.won = false
        if (!isFair(reply.code, attempt)) complain(`${by.user} was refused with ${reply.code}`)
      }
    }
  }

  /** A caller without permission changes nothing, and a stranger does not learn that the approval exists. */
  async function intrude(approval: Approval): Promise<void> {
    const isOwner = random.chance(0.5)
    if (isOwner && approval.answerableBy === 'owner') return
    const by: Caller = { user: isOwner ? OWNER : 'mallory', role: 'user' }
    const reply = await net.request(`${by.user} intrudes ${approval.id.slice(-6)}`, ({ approvals }) =>
      approvals.decide(by, approval.id, { decision: 'approve' }),
    )
    const wanted = isOwner ? 'forbidden' : 'approval_not_found'
    if (!reply.ok && (reply.code === wanted || undone.has(reply.code) || gone.has(reply.code))) return
    complain(`${by.user} had no permission and got ${reply.ok ? 'his way' : reply.code}`)
  }

  const isIgnored = ({ id }: Approval): boolean => {
    const before = ignored.get(id) ?? random.chance(faults.ignores)
    ignored.set(id, before)
    return before && !isCalm()
  }

  for (;;) {
    await kernel.sleep(random.float() * (isCalm() ? CALM_MS : faults.thinkMs))
    const reply = await net.request(`${name} looks`, ({ approvals }) =>
      approvals.list({ by: { user: name, role: 'operator' }, status: 'pending', limit: 50 }),
    )
    if (!reply.ok) continue
    const open = reply.value.filter((approval) => !isIgnored(approval))
    const [first] = open
    if (first === undefined) continue
    const one = random.pick([first, ...open])
    known.push(one)
    if (random.chance(0.1)) await intrude(one)
    const old = random.chance(faults.late) ? known[random.below(known.length)] : undefined
    if (random.chance(faults.inConversation)) {
      const together = open.filter((other) => other.sessionId === one.sessionId && random.chance(0.7))
      await Promise.all([
        decideInConversation(together.length > 0 ? together : [one]),
        ...(random.chance(faults.twice) ? [decide(one)] : []),
      ])
    } else {
      const several = random.chance(0.3) ? open : [one]
      const twice = random.chance(faults.twice) ? [...several, one] : several
      await Promise.all(twice.map(decide))
    }
    if (old !== undefined) await decide(old)
  }
}

/** Runs the tools of clients, or some of them. Never comes back. */
export async function answerCalls(deps: PeopleDeps, name: string): Promise<void> {
  const { kernel, random, net, faults, history, isCalm } = deps
  const ignored = new Map<string, boolean>()
  let count = 0

  const complain = (message: string) => history.findings.push({ checker: 'clients', message: `${name}: ${message}` })

  function draw({ callId, sessionId }: ClientCall): ClientAnswer {
    count += 1
    const answer: ClientAnswer = { callId, sessionId, content: `${name} ${count}`, won: null }
    history.clientAnswers.push(answer)
    return answer
  }

  function refused(answer: ClientAnswer, code: string): void {
    if (code !== 'lost') answer.won = false
    const isFair =
      undone.has(code) ||
      code === 'tool_call_answered' ||
      code === 'tool_call_expired' ||
      (gone.has(code) && history.deletions.includes(answer.sessionId))
    if (!isFair) complain(`${answer.content} was refused with ${code}`)
  }

  async function answerOutside(call: ClientCall): Promise<void> {
    const answer = draw(call)
    const result = { content: answer.content, isError: random.chance(0.2) }
    const reply = await net.request(`${answer.content} to ${call.id.slice(-6)}`, ({ engine }) =>
      engine.waits.answerClientCall(OWNER, call.id, result),
    )
    if (reply.ok) answer.won = true
    else refused(answer, reply.code)
  }

  async function answerInConversation(calls: readonly ClientCall[]): Promise<void> {
    const [first] = calls
    if (first === undefined) return
    const answers = calls.map(draw)
    const messages = answers.map(({ callId, content }) => ({
      id: `message ${content}`,
      role: 'tool' as const,
      content,
      toolCallId: callId,
    }))
    const origin = random.pick(['reader', 'background'] as const)
    const reply = await net.request(`${answers.map(({ content }) => content)} in conversation`, ({ engine }) =>
      startWith(engine, first.sessionId, { origin }, messages),
    )
    for (const [i, answer] of answers.entries()) {
      if (reply.ok) answer.won = reply.value.answered?.[i]?.applied === true
      else refused(answer, reply.code)
    }
  }

  for (;;) {
    await kernel.sleep(random.float() * (isCalm() ? CALM_MS : faults.thinkMs))
    const found = await net.request(`${name} lists`, ({ engine }) => engine.sessions.list({ owner: OWNER, limit: 50 }))
    for (const { id: sessionId } of found.ok ? found.value : []) {
      const reply = await net.request(`${name} looks`, ({ engine }) => engine.waits.openClientCalls(sessionId))
      const open = (reply.ok ? reply.value : []).filter(({ id }) => {
        const before = ignored.get(id) ?? random.chance(faults.ignores)
        ignored.set(id, before)
        return isCalm() || !before
      })
      const [first] = open
      if (first === undefined) continue
      const one = random.pick([first, ...open])
      const isTwice = random.chance(faults.twice)
      if (random.chance(faults.inConversation)) {
        await Promise.all([answerInConversation(open), ...(isTwice ? [answerOutside(one)] : [])])
      } else {
        await Promise.all([answerOutside(one), ...(isTwice ? [answerOutside(one)] : [])])
      }
    }
  }
}

async function startWith(
  engine: Engine,
  sessionId: string,
  more: Pick<StartRequest, 'origin'> & Partial<StartRequest>,
  messages: StartRequest['input']['messages'] = [],
) {
  const session = await engine.sessions.get(OWNER, sessionId)
  return engine.runs.start({
    owner: OWNER,
    agent: null,
    session: { existing: session },
    input: { messages, instructions: [], context: [], clientTools: [], clientAnswers: 'next_request' },
    ...more,
  })
}
