// Whether a call that a host is about to make may run, must not, or is asked about: what is remembered, the policy, and the risk. The same
// for agents elsewhere, whose hosts ask through hooks, and for those that this server hosts.

import { resolve } from 'node:path'
import type { Risk } from '../../domain/agent/tool-settings.ts'
import { hasCode, ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import { lookalikeWarnings } from '../../domain/text/lookalike.ts'
import { maskSecrets } from '../../domain/text/secret-name.ts'
import { hidesCharacters, visibleText } from '../../domain/text/visible-text.ts'
import { hosts, isHostName, programOf } from '../../hosts/hosts.ts'
import { toolEffect } from '../../hosts/tool-effect.ts'
import { callDigest } from '../../json/digest.ts'
import { shownArguments } from '../approvals/shown-arguments.ts'
import { type ProposedChange, summaryOf } from '../diffs/propose-change.ts'
import { grantUse } from '../remember/grant-elsewhere.ts'
import type { Assessment, Work } from '../risk/risk.ts'
import type { SupervisedSession, TakeStep } from '../sessions/take-step.ts'
import { requestOfCall } from '../workspace-policy/request-of-call.ts'
import type { PolicyRequest } from '../workspace-policy/workspace-policy.ts'
import { shortened, shownCommand, shownTitle } from './agent-words.ts'
import type { AskingDeps } from './ask-approval.ts'
import { ELSEWHERE } from './asked-records.ts'
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

/** What becomes of a call. `pass`: nobody here has an opinion, so the host's own rules count. */
export type Ruling =
  | { ruling: 'allow' }
  | { ruling: 'pass' }
  | { ruling: 'refuse'; message: string }
  | { ruling: 'ask'; looked: Looked }

export interface JudgeCall {
  /** Writes to the audit trail what it lets through or refuses. */
  judgeCall(session: SupervisedSession, callId: string, call: HostCall): Promise<Ruling>
}

export interface JudgeCallDeps
  extends Pick<AskingDeps, 'judge' | 'autoApproved' | 'quorum' | 'serverPaths' | 'guard' | 'assess' | 'remembered'> {
  takeStep: TakeStep
}

const MOST_NAME = 200
/** Two files of the largest size, as JSON. */
const MOST_INPUT = 24 * 1024 * 1024
/** A longer input is kept in part. The host has all of it. */
const MOST_KEPT = 64 * 1024
const isKeptWhole = (input: string): boolean => input.length <= MOST_KEPT

export function createJudgeCall(deps: JudgeCallDeps): JudgeCall {
  const { takeStep, judge, autoApproved, quorum, serverPaths, guard, assess, remembered } = deps

  /** What the call would do, for the policy and for the person. */
  async function lookAt(session: SupervisedSession, call: HostCall): Promise<Looked> {
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

  /** Puts on record that these grants decide about the call. False: one was revoked a moment ago. */
  async function uses(
    session: SupervisedSession,
    callId: string,
    { work, assessed }: Looked,
    grants: readonly Grant[],
  ): Promise<boolean> {
    try {
      await takeStep(session.id, (now) => {
        const about = { work, assessed, at: now.at, call: callId, approval: null }
        return grantUse(now.session, grants, about)
      })
      return true
    } catch (error) {
      if (hasCode(error, 'conflict')) return false
      throw error
    }
  }

  return {
    async judgeCall(session, callId, call) {
      check(call)
      const looked = await lookAt(session, call)
      const { work, assessed, request } = looked
      const grants = await remembered.find(session, work, assessed)
      const isRefused = grants[0]?.effect === 'refuse'
      if (isRefused && (await uses(session, callId, looked, grants))) {
        return { ruling: 'refuse', message: REFUSED_IN_ADVANCE }
      }
      const judgement = request === null ? null : await judge(session, request)
      if (request !== null && judgement?.autoApproved === true) {
        await takeStep(session.id, (now) => {
          const about = { at: now.at, call: callId, approval: null }
          return { audit: [autoApprovedRecord(now.session, request, judgement.matchedRule, about)] }
        })
        autoApproved.add(session, request, judgement)
        return { ruling: 'allow' }
      }
      // What only the host itself shows or plans is left to its own rules. So is what nobody was asked about, where an answer would overrule them.
      if (work.effect === 'host' || (assessed.risk === 'none' && overrules(call))) return { ruling: 'pass' }
      if (assessed.risk === 'none') return { ruling: 'allow' }
      const isAllowed = grants.length > 0 && !isRefused && (await uses(session, callId, looked, grants))
      return isAllowed ? { ruling: 'allow' } : { ruling: 'ask', looked }
    },
  }
}

/** What a person is asked about a call. */
export function questionOf({ toolName: tool, input }: HostCall, callId: string, looked: Looked) {
  const change = isChange(looked.change) ? looked.change : null
  const text = JSON.stringify(input)
  return {
    kind: 'permission' as const,
    tool,
    callId,
    title: titleOf({ toolName: tool }, looked),
    description: descriptionOf({ toolName: tool, input }, looked),
    ...weighed(looked.assessed),
    digest: callDigest({ callId, tool, arguments: { ...input }, policyVersion: ELSEWHERE }),
    arguments: isKeptWhole(text) ? text : JSON.stringify(shortened(input)),
    change: change === null ? null : summaryOf(change),
    beforeHash: change?.beforeHash ?? null,
    afterHash: change?.afterHash ?? null,
  }
}

export interface Looked {
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

export const isChange = (change: Looked['change']): change is ProposedChange => change !== null && 'diff' in change

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
function titleOf({ toolName }: Pick<HostCall, 'toolName'>, { change, work: { command }, path }: Looked): string {
  if (command !== null) return shownTitle(`Run ${command}`)
  if (isChange(change)) {
    const verb = { create: 'Create', modify: 'Change', delete: 'Delete' }[change.kind]
    return shownTitle(`${verb} ${change.path} (+${change.addedLines} −${change.removedLines})`)
  }
  return shownTitle(path === null ? `Call ${toolName}` : `${toolName} ${path}`)
}

function descriptionOf({ toolName, input }: Pick<HostCall, 'toolName' | 'input'>, looked: Looked): string {
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

const REFUSED_IN_ADVANCE =
  'A person refused calls like this one in advance. Do not make it again, and do not do the same in another way.'
