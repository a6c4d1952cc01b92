// approve_tool, and the permission hooks of hosts: the host asks before it runs one of its own tools. It understands yes and no only, so
// what nobody has answered yet is a no that says how to go on.

import { resolve } from 'node:path'
import type { Risk } from '../../domain/agent/tool-settings.ts'
import { hasCode, ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { present } from '../../domain/present.ts'
import type { SupervisedApproval } from '../../domain/records/record.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import { lookalikeWarnings } from '../../domain/text/lookalike.ts'
import { maskSecrets } from '../../domain/text/secret-name.ts'
import { hidesCharacters, visibleText } from '../../domain/text/visible-text.ts'
import { hosts, isHostName, programOf } from '../../hosts/hosts.ts'
import { toolEffect } from '../../hosts/tool-effect.ts'
import { callDigest, canonicalJson, sha256 } from '../../json/digest.ts'
import { shownArguments } from '../approvals/shown-arguments.ts'
import { type ProposedChange, summaryOf } from '../diffs/propose-change.ts'
import { decidedText } from '../records/records.ts'
import { grantUse } from '../remember/grant-elsewhere.ts'
import type { Assessment, Work } from '../risk/risk.ts'
import { MOST_INSTRUCTION_CHARS } from '../sessions/check-text.ts'
import { newInstruction } from '../sessions/instruct-agent.ts'
import type { SessionNow, Step, TakeStep } from '../sessions/take-step.ts'
import { requestOfCall } from '../workspace-policy/request-of-call.ts'
import type { PolicyRequest } from '../workspace-policy/workspace-policy.ts'
import type { AgentCall, AgentService } from './agent-service.ts'
import { shortened, shownCommand, shownTitle } from './agent-words.ts'
import type { OpenCall } from './answer-call.ts'
import type { AskingDeps } from './ask-approval.ts'
import { askStep, ELSEWHERE, newApproval } from './asked-records.ts'
import { autoApprovedRecord } from './auto-approved.ts'
import {
  changeOfCall,
  folderOfCommand,
  type NamedCall,
  OUTSIDE,
  pathArguments,
  pathlessArguments,
  workspacePath,
  writesElsewhere,
} from './host-tools.ts'
import { raised, weighed } from './raised-risk.ts'

/** A call that a host is about to make. */
export interface HostCall extends NamedCall {
  toolUseId: string | null
  /** The command line that would run, where the host says it in its own way; else null. */
  command: string | null
  /** The host tells its model if a person changes the arguments. False: it cannot, so the session's next answer does. */
  tellsEdits: boolean
}

export type Permission =
  | { behavior: 'allow'; updatedInput: Readonly<Record<string, unknown>>; isEdited: boolean }
  | { behavior: 'deny'; message: string }
  /** No opinion. */
  | { behavior: 'pass' }

/** Never rejects: in doubt it denies. */
export type AskPermission = (call: AgentCall, asked: HostCall) => Promise<Permission>

interface PermissionDeps extends AskingDeps {
  takeStep: TakeStep
}

const MOST_NAME = 200
/** Two files of the largest size, as JSON. */
const MOST_INPUT = 24 * 1024 * 1024
/** A longer input is kept in part. The host has all of it. */
const MOST_KEPT = 64 * 1024
const isKeptWhole = (input: string): boolean => input.length <= MOST_KEPT

export function createAskPermission(deps: PermissionDeps): AskPermission {
  const { answerCall, takeStep, asked, judge, autoApproved, ids, approvalMs, quorum, serverPaths, guard } = deps
  const { assess, remembered } = deps

  /** What the call would do, for the policy and for the person. */
  async function lookAt({ session }: OpenCall, call: HostCall): Promise<Looked> {
    const { workspaceRoot } = session.supervision
    const change = await changeOfCall(call, { workspaceRoot, serverPaths })
    const plain = requestOfCall(call.toolName, call.input, 'low', workspaceRoot)
    const filePath = plain?.filePath ?? null
    const confined = filePath === null ? null : await workspacePath(workspaceRoot, filePath, call.cwd)
    const isOutside = filePath !== null && confined === null
    const seen = isChange(change) && change.protectedBecause === null ? change.path : undefined
    const work = { ...workOf(call, plain?.command ?? null, workspaceRoot), seen }
    const { effect, command } = work
    const folder = work.cwd === workspaceRoot ? null : work.cwd
    const access = effect === 'reads' || effect === 'searches' ? 'read' : 'write'
    const without = pathlessArguments(call, command !== null)
    const guardedBut = (names: ReadonlySet<string>) =>
      guard({ workspaceRoot, access, input: call.input, without: names, cwd: call.cwd })
    const guarded = guardedBut(without)
    // What the change does to its own file was looked at. Another argument may lead elsewhere.
    const beside =
      guarded === null || seen === undefined ? guarded : guardedBut(new Set([...without, ...pathArguments(call)]))
    const why = criticalBecause(call, change, {
      writesOutside: isOutside && effect === 'writes',
      touchesGuarded: beside !== null && access === 'write' && command === null,
    })
    const floor = why === null ? null : { risk: 'critical' as const, why }
    const path = filePath === null ? null : resolve(confined === null ? call.cwd : workspaceRoot, confined ?? filePath)
    const assessed = raised(await assess(work), { floor, isGuarded: guarded !== null, quorum, work, path })
    // A command does something else in another folder, so no policy covers it there.
    const isElsewhere = folder !== null && (command !== null || effect === 'runs')
    // How risky a command is, the policy itself decides by naming it. What is critical is above every policy.
    const riskLevel: Risk = assessed.risk === 'critical' ? 'critical' : 'low'
    const request =
      plain === null || isOutside || isElsewhere || writesElsewhere(call, filePath)
        ? null
        : { ...plain, filePath: confined, riskLevel, guarded }
    return { work, assessed, change, request, folder, path: confined ?? filePath, isOutside, guarded }
  }

  async function decide(open: OpenCall, call: HostCall): Promise<Permission> {
    check(call)
    // The same call does something else in another folder, so a yes for one is not a yes for the other.
    const isInRoot = call.cwd === open.session.supervision.workspaceRoot
    const asks = ['permission', call.toolName, call.input, ...(isInRoot ? [] : [call.cwd])]
    const contentKey = sha256(canonicalJson(asks))
    const known = await asked.byContent(open.session.id, 'permission', contentKey)
    if (known !== null) return await answerOf(open, known, call)
    const looked = await lookAt(open, call)
    const { work, assessed, request } = looked
    const grants = await remembered.find(open.session, work, assessed)
    const isRefused = grants[0]?.effect === 'refuse'
    if (isRefused && (await uses(open, call, looked, grants))) return deny(REFUSED_IN_ADVANCE)
    const judgement = request === null ? null : await judge(open.session, request)
    if (request !== null && judgement?.autoApproved === true) {
      await takeStep(open.session.id, ({ session, at }) => {
        const about = { at, call: call.toolUseId ?? open.callId, approval: null }
        return { audit: [autoApprovedRecord(session, request, judgement.matchedRule, about)] }
      })
      autoApproved.add(open.session, request, judgement)
      return allow(call)
    }
    // What only the host itself shows or plans is left to its own rules. So is what nobody was asked about, where an answer would overrule them.
    if (work.effect === 'host' || (assessed.risk === 'none' && overrules(call))) return { behavior: 'pass' }
    if (assessed.risk === 'none') return allow(call)
    if (grants.length > 0 && !isRefused && (await uses(open, call, looked, grants))) return allow(call)
    const record = await asked.ask(open.session.id, 'permission', contentKey, (now) =>
      ask(now, open, call, looked, contentKey),
    )
    return await answerOf(open, record, call)
  }

  /** Puts on record that these grants decide about the call. False: one was revoked a moment ago. */
  async function uses(
    open: OpenCall,
    call: HostCall,
    { work, assessed }: Looked,
    grants: readonly Grant[],
  ): Promise<boolean> {
    try {
      await takeStep(open.session.id, ({ session, at }) => {
        const about = { work, assessed, at, call: call.toolUseId ?? open.callId, approval: null }
        return grantUse(session, grants, about)
      })
      return true
    } catch (error) {
      if (hasCode(error, 'conflict')) return false
      throw error
    }
  }

  function ask(
    now: SessionNow,
    open: OpenCall,
    call: HostCall,
    looked: Looked,
    contentKey: string,
  ): Step<SupervisedApproval> {
    const { toolName: tool, input } = call
    const callId = call.toolUseId ?? open.callId
    const change = isChange(looked.change) ? looked.change : null
    const text = JSON.stringify(input)
    const question = {
      kind: 'permission' as const,
      tool,
      callId,
      title: titleOf(call, looked),
      description: descriptionOf(call, looked),
      ...weighed(looked.assessed),
      digest: callDigest({ callId, tool, arguments: input, policyVersion: ELSEWHERE }),
      arguments: isKeptWhole(text) ? text : JSON.stringify(shortened(input)),
      contentKey,
      expiresAt: now.at + approvalMs,
      change: change === null ? null : summaryOf(change),
      beforeHash: change?.beforeHash ?? null,
      afterHash: change?.afterHash ?? null,
    }
    return askStep(newApproval(now, ids.uuid(), question, quorum), change, looked.path)
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

interface Looked {
  work: Work
  /** With what is critical whatever the call does. */
  assessed: Assessment
  change: ProposedChange | { problem: string } | null
  /** Null: no policy can judge it. */
  request: PolicyRequest | null
  /** Where the agent is; null: in the workspace's root. */
  folder: string | null
  path: string | null
  isOutside: boolean
  /** Where one of its arguments leads, if a person must look at it. */
  guarded: string | null
}

function workOf(call: HostCall, named: string | null, workspaceRoot: string): Work {
  const { host, toolName, input } = call
  const effect = toolEffect(host, toolName, input)
  const command = call.command ?? named
  const cwd = command === null ? call.cwd : folderOfCommand(call)
  const work = { toolName, effect, input, command, workspaceRoot }
  return cwd === null ? { ...work, effect: 'unknown', cwd: call.cwd } : { ...work, cwd }
}

/** Why the call is critical whatever its tool does; null: it is not. */
function criticalBecause(
  { toolName, input }: HostCall,
  change: Looked['change'],
  { writesOutside, touchesGuarded }: Record<'writesOutside' | 'touchesGuarded', boolean>,
): string | null {
  if (hidesCharacters([toolName, input])) return 'uses characters that people do not see'
  // A person sees the whole of a change in its diff. Of another call this long they see a part, and anything can be in the rest.
  if (!isChange(change) && !isKeptWhole(JSON.stringify(input))) return 'sends more than anybody can be shown'
  if (isChange(change) && change.risk === 'critical') return 'changes a protected file'
  if (writesOutside) return 'writes outside the workspace'
  return touchesGuarded ? 'names a protected place' : null
}

const isChange = (change: Looked['change']): change is ProposedChange => change !== null && 'diff' in change

const deny = (message: string): Permission => ({ behavior: 'deny', message })

const allow = ({ input }: HostCall): Permission => ({ behavior: 'allow', updatedInput: input, isEdited: false })

function overrules({ host }: HostCall): boolean {
  const name = programOf(host)
  return isHostName(name) && hosts[name].hook.overrules === true
}

function check({ toolName, input, toolUseId }: HostCall): void {
  const refuse = (message: string): never => {
    throw new ServerError('invalid_request', message)
  }
  if (typeof toolName !== 'string' || toolName === '' || toolName.length > MOST_NAME) {
    refuse(`Send tool_name, with at most ${MOST_NAME} characters.`)
  }
  if (!isRecord(input)) refuse('Send input: the arguments of the call, as an object.')
  if (toolUseId !== null && (toolUseId === '' || toolUseId.length > MOST_NAME)) {
    refuse(`tool_use_id needs 1 to ${MOST_NAME} characters.`)
  }
  if (JSON.stringify(input).length > MOST_INPUT)
    refuse('The arguments of the call are too long to be shown to anybody.')
}

/** What will really happen, in one line. */
function titleOf({ toolName }: HostCall, { change, work: { command }, path }: Looked): string {
  if (command !== null) return shownTitle(`Run ${command}`)
  if (isChange(change)) {
    const verb = { create: 'Create', modify: 'Change', delete: 'Delete' }[change.kind]
    return shownTitle(`${verb} ${change.path} (+${change.addedLines} −${change.removedLines})`)
  }
  return shownTitle(path === null ? `Call ${toolName}` : `${toolName} ${path}`)
}

function descriptionOf({ toolName, input }: HostCall, looked: Looked): string {
  const { change, folder, isOutside, guarded } = looked
  const { command } = looked.work
  const notes = [
    ...(command === null ? [] : lookalikeWarnings(maskSecrets(input))),
    ...(folder === null ? [] : [`In the folder ${shownTitle(folder)}`]),
    ...(isOutside ? [OUTSIDE] : []),
    ...(change !== null && 'problem' in change && change.problem !== OUTSIDE ? [change.problem] : []),
    ...(isChange(change) ? change.warnings : []),
    ...(isChange(change) && change.protectedBecause !== null ? [change.protectedBecause] : []),
    ...(isOutside || isChange(change) || guarded === null ? [] : [guarded]),
  ]
  const what = command !== null ? shownCommand(command) : isChange(change) ? null : shownArguments({ ...input })
  return [`Tool: ${visibleText(toolName)}`, ...(what === null ? [] : [what]), ...notes].join('\n')
}

const notYet = ({ id }: SupervisedApproval): string =>
  `Nobody has answered yet, so the call did not run. Your operator has been asked (request ${id}). Make exactly the same call again to go on waiting; if it is allowed meanwhile, it then runs. Do not do the same in another way.`

const REFUSED_IN_ADVANCE =
  'A person refused calls like this one in advance. Do not make it again, and do not do the same in another way.'

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
