// Which calls need an approval: what people refused in advance, then the rules of the agent and the tool, then the tool's own
// opinion, then the grants.

import type { ApprovalSettings } from '../../domain/agent/approval-rule.ts'
import { isAtLeast, type Risk } from '../../domain/agent/tool-settings.ts'
import type { Clock } from '../../domain/clock.ts'
import { present } from '../../domain/present.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import { hidesCharacters, visibleText } from '../../domain/text/visible-text.ts'
import type { GatedCall } from '../../engine/gate.ts'
import { toolEffect } from '../../hosts/tool-effect.ts'
import type { GrantReads } from '../../store/ports/waits.ts'
import type { BoundTool } from '../../tools/tool.ts'
import { applyPolicy, policyVersion } from '../policy/apply-policy.ts'
import { fits } from '../policy/argument-conditions.ts'
import type { PathContext } from '../policy/path-conditions.ts'
import { oneLine } from '../records/record-words.ts'
import type { AssessWorkLater } from '../risk/risk.ts'
import { COMMANDS, requestOfCall } from '../workspace-policy/request-of-call.ts'
import { actionOf, type Need, needOf, previewOf } from './ask-tool.ts'
import { shownArguments } from './shown-arguments.ts'

export interface CallRules {
  judge(call: RuledCall): Promise<RuleVerdict>
  /** The question that a person would be asked about this call, whether or not the rules require an approval. */
  question(call: RuledCall): Promise<Question>
  /** What the tool itself shows the person who decides. Null: it shows nothing. Never throws. */
  preview(call: RuledCall): Promise<string | null>
}

export type RuledCall = Pick<GatedCall, 'agent' | 'arguments' | 'sessionId' | 'owner' | 'now' | 'log'> & {
  tool: BoundTool
}

type RuleVerdict =
  /** `grant`: the one that allowed the call. */
  { verdict: 'run'; grant: string | null } | ({ verdict: 'ask' } & Question) | { verdict: 'refuse'; reason: string }

type Asked =
  | 'policyVersion'
  | 'risk'
  | 'riskWhy'
  | 'answerableBy'
  | 'quorum'
  | 'title'
  | 'description'
  | 'action'
  | 'toolSays'
  | 'preview'

export interface Question extends Pick<Approval, Asked> {
  expiresAt: number
}

interface CallRulesDeps {
  grants: Pick<GrantReads, 'list'>
  /** Resolves links in the paths of one call. */
  realPath: () => PathContext['realPath']
  /** Limits the time of a tool's own code. */
  clock: Clock
  /** Looks into the commands of tools that are shells. */
  assess: AssessWorkLater
}

export function createCallRules({ grants, realPath, clock, assess }: CallRulesDeps): CallRules {
  return {
    async judge(call) {
      const { agent, tool, sessionId, now } = call
      const paths: PathContext = {
        parameters: tool.parameters,
        roots: tool.roots ?? [agent.directory],
        realPath: realPath(),
      }
      // A host may have the name of one of our agents. What people allow its agents is not for ours.
      const found = await grants.list({ agent: agent.name, sessionId, now })
      const held = found.filter(({ elsewhere }) => elsewhere === undefined)
      const refused = held.find((one) => one.effect === 'refuse' && covers(one, call, paths))
      if (refused !== undefined) return { verdict: 'refuse', reason: refusedInAdvance }
      const earned = await earnedRisk(call, assess)
      const ruling = applyPolicy({
        rule: ruleOf(call),
        agentRule: agent.approval.default,
        policy: agent.approval.policy,
        tool: tool.name,
        risk: earned.risk,
        arguments: call.arguments,
        paths,
      })
      if (ruling === 'refuse') {
        return { verdict: 'refuse', reason: `the policy of ${agent.name} refuses ${tool.name} with these arguments.` }
      }
      const need = await needOf(clock, call)
      if (!asks(call, earned.risk, ruling, need)) return { verdict: 'run', grant: null }
      const asked = question(call, earned, need)
      // Critical calls are asked about every time.
      if (asked.risk !== 'critical') {
        const grant = held.find((one) => one.effect !== 'refuse' && covers(one, call, paths))
        if (grant !== undefined) return { verdict: 'run', grant: grant.id }
      }
      const preview = await previewOf(clock, call)
      return present({ verdict: 'ask' as const, ...asked, preview: preview ?? undefined })
    },
    question: async (call) => question(call, await earnedRisk(call, assess)),
    preview: (call) => previewOf(clock, call),
  }
}

const refusedInAdvance =
  'a person refused calls like this one in advance. Do not send it again unless you are asked to.'

const ruleOf = ({ tool, agent }: RuledCall) => tool.approval ?? agent.approval.default

/** The risk of a tool is an estimate, so a tool that has looked at the arguments may overrule it. It overrules no other rule. */
function asks(call: RuledCall, risk: Risk, ruling: 'run' | 'ask', need: Need): boolean {
  if (need.asks === true) return true
  if (need.asks === false && ruleOf(call).ask === 'risk' && risk !== 'critical') return false
  return ruling === 'ask'
}

function question(call: RuledCall, earned: EarnedRisk, need: Need = { asks: null }): Question {
  const { agent, tool, now } = call
  const risk = highest(earned.risk, need.risk ?? 'low')
  const action = actionOf(call)
  return present({
    policyVersion: policyVersion(agent.approval, tool),
    risk,
    riskWhy: risk === earned.risk ? earned.why : undefined,
    answerableBy: risk === 'critical' ? ('operator' as const) : agent.approval.by,
    quorum: neededFor(agent.approval, risk),
    expiresAt: now + agent.approval.expiresSeconds * 1_000,
    title: action === null ? `Call ${visibleText(tool.name)}` : `${visibleText(tool.name)}: ${action}`,
    description: [...(need.reason === undefined ? [] : [need.reason]), shownArguments(call.arguments)].join('\n'),
    action,
    toolSays: tool.description === '' ? undefined : oneLine(tool.description),
  })
}

/** Undefined: one yes is enough. */
export const neededFor = ({ quorum }: Pick<ApprovalSettings, 'quorum'>, risk: Risk): number | undefined =>
  quorum === undefined || quorum[risk] === 1 ? undefined : quorum[risk]

export const highest = (one: Risk, other: Risk): Risk => (isAtLeast(one, other) ? one : other)

interface EarnedRisk {
  risk: Risk
  /** Undefined: the tool's own settings say so. */
  why: string | undefined
}

/** What a shell would run says how risky the call is. The tool's own settings are never lowered by it. */
async function earnedRisk({ agent, tool, arguments: args }: RuledCall, assess: AssessWorkLater): Promise<EarnedRisk> {
  // A person may overlook a part of a call with hidden characters, so such a call is critical whatever its tool is.
  if (hidesCharacters(args)) return { risk: 'critical', why: 'uses characters that people do not see' }
  const [root = agent.directory] = tool.roots ?? []
  const effect = toolEffect(null, tool.name, args)
  if (effect !== 'runs' || !Object.keys(args).some((name) => COMMANDS.has(name)))
    return { risk: tool.risk, why: undefined }
  const command = requestOfCall(tool.name, args, 'low', root)?.command ?? null
  const { risk, why } = await assess({
    toolName: tool.name,
    effect,
    input: args,
    command,
    workspaceRoot: root,
    cwd: root,
  })
  return risk === 'none' || !isAtLeast(risk, tool.risk) ? { risk: tool.risk, why: undefined } : { risk, why }
}

function covers(
  grant: Grant,
  { agent, tool, sessionId, now, arguments: args }: RuledCall,
  paths: PathContext,
): boolean {
  const isRefusal = grant.effect === 'refuse'
  if (grant.agent !== agent.name || grant.tool !== tool.name) return false
  // A yes is to the tool as it was. A no stays a no when the tool changes.
  if (!isRefusal && grant.policyVersion !== policyVersion(agent.approval, tool)) return false
  if (grant.sessionId !== null && grant.sessionId !== sessionId) return false
  if (grant.expiresAt !== null && grant.expiresAt <= now) return false
  try {
    return fits(grant.where, args, paths, isRefusal ? 'wide' : 'narrow')
  } catch {
    // A grant that cannot be read allows nothing, and a refusal refuses. No grant allows a path that cannot be resolved.
    return isRefusal
  }
}
