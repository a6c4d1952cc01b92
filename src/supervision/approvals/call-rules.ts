// Which calls need an approval: the rules of the agent and the tool first, then the grants.

import type { AnswerableBy } from '../../domain/approval-rule.ts'
import type { Grant } from '../../domain/grant.ts'
import type { Risk } from '../../domain/tool-settings.ts'
import { hidesCharacters, visibleText } from '../../domain/visible-text.ts'
import type { GatedCall } from '../../engine/gate.ts'
import type { GrantReads } from '../../store/ports/waits.ts'
import type { BoundTool } from '../../tools/tool.ts'
import { applyPolicy, policyVersion } from '../policy/apply-policy.ts'
import { fits } from '../policy/argument-conditions.ts'
import type { PathContext } from '../policy/path-conditions.ts'
import { createRealPath } from '../policy/real-path.ts'
import { shownArguments } from './shown-arguments.ts'

export interface CallRules {
  judge(call: RuledCall): Promise<RuleVerdict>
  /** The question that a person would be asked about this call, whether or not the rules require an approval. */
  question(call: RuledCall): Question
}

export type RuledCall = Pick<GatedCall, 'agent' | 'arguments' | 'sessionId' | 'now'> & { tool: BoundTool }

type RuleVerdict =
  /** `grant`: the one that allowed the call. */
  { verdict: 'run'; grant: string | null } | ({ verdict: 'ask' } & Question) | { verdict: 'refuse'; reason: string }

export interface Question {
  /** Names the rules and the tool. An approval is bound to it. */
  policyVersion: string
  /** Risk of the tool, or a higher one because of the arguments. */
  risk: Risk
  answerableBy: AnswerableBy
  expiresAt: number
  title: string
  description: string
}

interface CallRulesDeps {
  grants: Pick<GrantReads, 'list'>
  /** Resolves links in a path. Left out: as the disk says. */
  realPath?: PathContext['realPath']
}

export function createCallRules({ grants, realPath }: CallRulesDeps): CallRules {
  return {
    async judge(call) {
      const { agent, tool, sessionId, now } = call
      const risk = riskOf(call)
      const paths: PathContext = {
        parameters: tool.parameters,
        roots: tool.roots ?? [agent.directory],
        realPath: realPath ?? createRealPath(),
      }
      const ruling = applyPolicy({
        rule: tool.approval ?? agent.approval.default,
        agentRule: agent.approval.default,
        policy: agent.approval.policy,
        tool: tool.name,
        risk,
        arguments: call.arguments,
        paths,
      })
      if (ruling === 'run') return { verdict: 'run', grant: null }
      if (ruling === 'refuse') {
        return { verdict: 'refuse', reason: `the policy of ${agent.name} refuses ${tool.name} with these arguments.` }
      }
      // Critical calls are asked about every time.
      if (risk !== 'critical') {
        const held = await grants.list({ agent: agent.name, sessionId, now })
        const grant = held.find((one) => covers(one, call, paths))
        if (grant !== undefined) return { verdict: 'run', grant: grant.id }
      }
      return { verdict: 'ask', ...question(call) }
    },
    question,
  }
}

function question(call: RuledCall): Question {
  const { agent, tool, now } = call
  const risk = riskOf(call)
  return {
    policyVersion: policyVersion(agent.approval, tool),
    risk,
    answerableBy: risk === 'critical' ? 'operator' : agent.approval.by,
    expiresAt: now + agent.approval.expiresSeconds * 1_000,
    title: `Call ${visibleText(tool.name)}`,
    description: shownArguments(call.arguments),
  }
}

/** A person may overlook a part of a call with hidden characters, so such a call is critical whatever its tool is. */
const riskOf = ({ tool, arguments: args }: RuledCall): Risk => (hidesCharacters(args) ? 'critical' : tool.risk)

function covers(
  grant: Grant,
  { agent, tool, sessionId, now, arguments: args }: RuledCall,
  paths: PathContext,
): boolean {
  if (grant.agent !== agent.name || grant.tool !== tool.name) return false
  if (grant.policyVersion !== policyVersion(agent.approval, tool)) return false
  if (grant.sessionId !== null && grant.sessionId !== sessionId) return false
  if (grant.expiresAt !== null && grant.expiresAt <= now) return false
  try {
    return fits(grant.where, args, paths, 'narrow')
  } catch {
    // A grant that cannot be read allows nothing. No grant allows a path that cannot be resolved.
    return false
  }
}
