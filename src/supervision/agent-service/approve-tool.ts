// approve_tool, and the permission hooks of hosts: the host asks before it runs one of its own tools. It understands yes and no only, so
// what nobody has answered yet is a no that says how to go on.

import { present } from '../../domain/present.ts'
import type { SupervisedApproval } from '../../domain/records/record.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import { decidedText } from '../records/records.ts'
import { MOST_INSTRUCTION_CHARS } from '../sessions/check-text.ts'
import { newInstruction } from '../sessions/instruct-agent.ts'
import type { TakeStep } from '../sessions/take-step.ts'
import type { AgentCall, AgentService } from './agent-service.ts'
import type { OpenCall } from './answer-call.ts'
import type { AskingDeps } from './ask-approval.ts'
import { askStep, newApproval } from './asked-records.ts'
import { type HostCall, isChange, type JudgeCall, questionOf } from './judge-call.ts'

export type Permission =
  | { behavior: 'allow'; updatedInput: Readonly<Record<string, unknown>>; isEdited: boolean }
  | { behavior: 'deny'; message: string }
  /** No opinion. */
  | { behavior: 'pass' }

/** Never rejects: in doubt it denies. */
export type AskPermission = (call: AgentCall, asked: HostCall) => Promise<Permission>

interface PermissionDeps extends Pick<AskingDeps, 'answerCall' | 'asked' | 'ids' | 'approvalMs' | 'quorum'>, JudgeCall {
  takeStep: TakeStep
}

export function createAskPermission(deps: PermissionDeps): AskPermission {
  const { answerCall, takeStep, asked, ids, approvalMs, quorum } = deps

  async function decide(open: OpenCall, call: HostCall): Promise<Permission> {
    // The same call does something else in another folder, so a yes for one is not a yes for the other.
    const isInRoot = call.cwd === open.session.supervision.workspaceRoot
    const asks = ['permission', call.toolName, call.input, ...(isInRoot ? [] : [call.cwd])]
    const contentKey = sha256(canonicalJson(asks))
    const known = await asked.byContent(open.session.id, 'permission', contentKey)
    if (known !== null) return await answerOf(open, known, call)
    const callId = call.toolUseId ?? open.callId
    const ruled = await deps.judgeCall(open.session, callId, call)
    switch (ruled.ruling) {
      case 'allow':
        return allow(call)
      case 'pass':
        return { behavior: 'pass' }
      case 'refuse':
        return deny(ruled.message)
    }
    const { looked } = ruled
    const record = await asked.ask(open.session.id, 'permission', contentKey, (now) => {
      const question = { ...questionOf(call, callId, looked), contentKey, expiresAt: now.at + approvalMs }
      const change = isChange(looked.change) ? looked.change : null
      return askStep(newApproval(now, ids.uuid(), question, quorum), change, looked.path)
    })
    return await answerOf(open, record, call)
  }

  async function answerOf(open: OpenCall, record: SupervisedApproval, call: HostCall): Promise<Permission> {
    const { tellsEdits } = call
    const answer = await asked.answered(open, record, 'Waiting for an operator to allow the call.', null)
    if (answer.status === 'pending') return deny(notYet(answer))
    const isFirst = await asked.handOut(open, answer)
    if (answer.status !== 'approved') return deny(refusal(answer))
    if (!isFirst) return deny(USED)
    const { editedArguments } = answer
    if (editedArguments === null) return allow(call)
    // The call is allowed whether or not the model can be told of it.
    if (!tellsEdits) await tellModel(open, answer, editedArguments).catch(() => {})
    return { behavior: 'allow', updatedInput: JSON.parse(editedArguments), isEdited: true }
  }

  /** The model must know that the arguments were not the ones it wrote. It comes with the next answer, as steering does. */
  function tellModel({ session }: OpenCall, record: SupervisedApproval, edited: string): Promise<unknown> {
    const { tool, callId, decidedBy, decidedVia } = record
    const note = `A person changed the arguments of your call ${callId} of ${tool} before it ran, to: ${edited}`
    const text = note.slice(0, MOST_INSTRUCTION_CHARS)
    const source = `${decidedBy} via ${decidedVia}`
    return takeStep(session.id, (now) => ({
      instructions: [newInstruction(now, ids.uuid(), { kind: 'steering', text, source })],
    }))
  }

  return async (call, hostCall) => {
    const { toolName: tool_name, input, toolUseId: tool_use_id } = hostCall
    const shown = present({ tool_name, input, tool_use_id: tool_use_id ?? undefined })
    let verdict: Permission | null = null
    const work = async (open: OpenCall) => {
      verdict = await decide(open, hostCall)
      return { ...verdict }
    }
    const { isError, answer } = await answerCall(call, 'approve_tool', shown, work, 'host')
    return isError || verdict === null ? deny(String(answer.error_message)) : verdict
  }
}

export function createApproveTool(askPermission: AskPermission): Pick<AgentService, 'approve_tool'> {
  return {
    async approve_tool(call, { tool_name: toolName, input, tool_use_id: toolUseId = null }) {
      const { host, workspaceRoot: cwd } = call.agent
      const asked = { host, toolName, input, toolUseId, cwd, command: null, tellsEdits: false }
      const verdict = await askPermission(call, asked)
      if (verdict.behavior === 'deny') return { isError: false, answer: { ...verdict } }
      // Its own rules have asked already, so they are no answer.
      const updatedInput = verdict.behavior === 'pass' ? input : verdict.updatedInput
      return { isError: false, answer: { behavior: 'allow', updatedInput } }
    },
  }
}

const deny = (message: string): Permission => ({ behavior: 'deny', message })

const allow = ({ input }: HostCall): Permission => ({ behavior: 'allow', updatedInput: input, isEdited: false })

const notYet = ({ id }: SupervisedApproval): string =>
  `Nobody has answered yet, so the call did not run. Your operator has been asked (request ${id}). Make exactly the same call again to go on waiting; if it is allowed meanwhile, it then runs. Do not do the same in another way.`

const USED = 'The operator allowed this call once, and that was used. Make the call again to ask for it once more.'

function refusal(record: SupervisedApproval): string {
  const reason = record.reason === null ? '' : ` Reason: ${record.reason}`
  switch (record.status) {
    case 'rejected':
      return `This call was refused${decidedText(record)}.${reason} Do not do the same in another way.`
    case 'expired':
      return 'Nobody answered in time, so the call did not run. It was not a person’s no: make the call again if it still matters.'
    case 'consumed':
      return USED
    default:
      return 'The session ended before anybody answered. Stop working, and tell your user.'
  }
}
