// What becomes of a permission that the program of a hosted agent asks for: answered at once, by a policy or by what is remembered, or
// asked of a person as an approval that a run waits for.

import { isAtLeast } from '../../domain/agent/tool-settings.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Ids } from '../../domain/ids.ts'
import { isWithin } from '../../domain/is-within.ts'
import type { Approval, HostApproval } from '../../domain/records/record.ts'
import type { ToolCall } from '../../domain/session/message.ts'
import type { Quorum } from '../../domain/supervision/quorum.ts'
import { visibleCode } from '../../domain/text/visible-text.ts'
import { toolEffect } from '../../hosts/tool-effect.ts'
import { canonicalJson, questionDigest, sha256 } from '../../json/digest.ts'
import { shownTitle } from '../agent-service/agent-words.ts'
import { ELSEWHERE, newApproval } from '../agent-service/asked-records.ts'
import { type HostCall, type JudgeCall, type Looked, questionOf } from '../agent-service/judge-call.ts'
import { questionForm } from '../approvals/question-form.ts'
import type { SupervisedSession } from '../sessions/take-step.ts'

export interface Asking extends JudgeCall {
  ids: Ids
  clock: Clock
  approvalMs: number
  quorum: Quorum
}

/** Where the agent works, as it sees the folder. */
export interface Place {
  /** What it writes there comes to a person at the end of the prompt, so nobody is asked before. */
  isPrivateCopy: boolean
  /** The folder as the program names it. */
  cwd: string
  /** A sandbox confines the program. */
  isConfined: boolean
}

export type Verdict =
  | { verdict: 'allow' }
  | { verdict: 'refuse'; why: string }
  | { verdict: 'ask'; approval: HostApproval }

/** `runId`: the run that waits. The approval is not stored yet. */
export async function judgePermission(
  asking: Asking,
  session: SupervisedSession,
  place: Place,
  runId: string,
  shown: ToolCall,
): Promise<Verdict> {
  const {
    id: callId,
    function: { name: toolName, arguments: text },
  } = shown
  const input: Record<string, unknown> = JSON.parse(text)
  const { host } = session.supervision
  const call: HostCall = { host, toolName, input, cwd: place.cwd, toolUseId: callId, command: null, tellsEdits: false }
  if (place.isPrivateCopy && writesInside(call, place)) return { verdict: 'allow' }
  const isEmpty = saysNothing(shown)
  const ruled = await asking.judgeCall(session, callId, call)
  if (ruled.ruling === 'refuse') return { verdict: 'refuse', why: ruled.message }
  if (ruled.ruling !== 'ask' && !isEmpty) return { verdict: 'allow' }
  const looked = ruled.ruling === 'ask' ? ruled.looked : null
  const question = looked === null ? emptyQuestion(call, callId) : asked(questionOf(call, callId, looked), isEmpty)
  return { verdict: 'ask', approval: approvalOf(asking, session, place, runId, question, contentOf(shown)) }
}

/** A call that does not say what it does may do anything, and nothing like it is remembered. */
function asked(question: ReturnType<typeof questionOf>, isEmpty: boolean): ReturnType<typeof questionOf> {
  if (!isEmpty) return question
  const risk = isAtLeast(question.risk, 'high') ? {} : { risk: 'high' as const, riskWhy: SAYS_NOTHING }
  return { ...question, ...risk, matches: [] }
}

const SAYS_NOTHING = 'does not say what it will do'

function emptyQuestion(call: HostCall, callId: string): ReturnType<typeof questionOf> {
  const looked: Looked = {
    work: {
      toolName: call.toolName,
      effect: 'unknown',
      input: {},
      command: null,
      workspaceRoot: call.cwd,
      cwd: call.cwd,
    },
    assessed: { risk: 'high', why: SAYS_NOTHING, action: null, matches: [] },
    change: null,
    request: null,
    folder: null,
    path: null,
    isOutside: false,
    guarded: null,
  }
  return questionOf(call, callId, looked)
}

/** What the same question is known by when it is asked again, by a program that has started anew. */
export const contentOf = ({ function: { name, arguments: text } }: ToolCall): string =>
  sha256(canonicalJson(['permission', name, JSON.parse(text)]))

/** Nothing but the name of a tool: what it will do, only the program knows. */
export const saysNothing = ({ function: { arguments: text } }: ToolCall): boolean => text === '{}'

function writesInside({ host, toolName, input }: HostCall, { cwd }: Place): boolean {
  if (toolEffect(host, toolName, input) !== 'writes') return false
  const paths = Object.entries(input).flatMap(([name, value]) =>
    PATH.test(name) && typeof value === 'string' ? [value] : [],
  )
  return paths.length > 0 && paths.every((path) => !path.startsWith('/') || isWithin(path, cwd))
}

const PATH = /path|file/i

function approvalOf(
  { ids, clock, approvalMs, quorum }: Asking,
  session: SupervisedSession,
  place: Place,
  runId: string,
  question: Omit<Parameters<typeof newApproval>[2], 'contentKey' | 'expiresAt'>,
  contentKey: string,
): HostApproval {
  const at = clock.now()
  const now = { session, waiting: [], at }
  return ofRun(
    newApproval(now, ids.uuid(), { ...question, contentKey, expiresAt: at + approvalMs }, quorum),
    runId,
    session,
    place,
  )
}

/** An approval that a run of ours waits for. */
export const ofRun = (
  approval: HostApproval,
  runId: string,
  session: SupervisedSession,
  { isConfined }: Pick<Place, 'isConfined'>,
): HostApproval => ({
  ...approval,
  runId,
  agent: session.agent,
  supervised: { ...approval.supervised, run: true, ...(isConfined ? {} : { unconfined: true }) },
})

/** `elicitation/create`: the program asks a person for an answer. */
export function questionApproval(
  asking: Asking,
  session: SupervisedSession,
  place: Place,
  runId: string,
  { message, schema }: { message: string; schema: Record<string, unknown> },
): Approval {
  const callId = `call_${asking.ids.uuid()}`
  const question = { message, schema, index: 0, effect: 'read' as const }
  const tool = 'elicitation'
  const base = approvalOf(
    asking,
    session,
    place,
    runId,
    {
      kind: 'question',
      tool,
      callId,
      title: shownTitle('The agent asks a question'),
      description: [...visibleCode(message.split('\n')), ...questionForm(schema)].join('\n'),
      action: null,
      risk: 'low',
      digest: questionDigest({ callId, tool, question, policyVersion: ELSEWHERE }),
      arguments: '{}',
      change: null,
      beforeHash: null,
      afterHash: null,
    },
    sha256(canonicalJson(['question', message, schema])),
  )
  return { ...base, question }
}

/** Why the program is not allowed to do it, in words. */
export function refusalOf({ status, reason }: Pick<Approval, 'status' | 'reason'>): string {
  const why = reason === null || reason === '' ? '' : ` Reason: ${reason}`
  switch (status) {
    case 'rejected':
      return `A person refused this.${why}`
    case 'expired':
      return 'Nobody answered in time, so it was not allowed. It was not a person’s no.'
    default:
      return 'It was broken off before anybody answered.'
  }
}
