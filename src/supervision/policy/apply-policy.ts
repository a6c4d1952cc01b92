// What the rules say about a call. A pure function; in doubt it asks.

import type { ApprovalRule, ApprovalSettings, PolicyRule } from '../../domain/agent/approval-rule.ts'
import { isAtLeast, type Risk, risks } from '../../domain/agent/tool-settings.ts'
import { globMatches } from '../../domain/text/glob.ts'
import { policyVersionOf } from '../../json/digest.ts'
import type { BoundTool } from '../../tools/tool.ts'
import { fits } from './argument-conditions.ts'
import type { PathContext } from './path-conditions.ts'

export interface RuledCall {
  /** The tool's own rule, or else the agent's rule for all tools. */
  rule: ApprovalRule
  /** The agent's rule for all tools. A tool's own `when` adds to it. */
  agentRule: ApprovalRule
  policy: readonly PolicyRule[]
  tool: string
  risk: Risk
  arguments: Record<string, unknown>
  paths: PathContext
}

type Ruling = 'run' | 'ask' | 'refuse'

export function applyPolicy(call: RuledCall): Ruling {
  try {
    return ruling(call)
  } catch {
    // A rule that this version cannot read, or a path that cannot be resolved, must not let a call through.
    return 'ask'
  }
}

const byRisk: ApprovalRule = { ask: 'risk', atLeast: 'high' }

function ruling(call: RuledCall): Ruling {
  const { rule, agentRule, policy, tool, risk, arguments: args, paths } = call
  switch (rule.ask) {
    case 'never':
      return 'run'
    case 'risk':
      return risks.includes(risk) && !isAtLeast(risk, rule.atLeast) ? 'run' : 'ask'
    case 'when': {
      const rest = rule === agentRule ? byRisk : agentRule
      const base = rule.otherwise === 'run' ? 'run' : ruling({ ...call, rule: rest })
      if (base !== 'run') return base
      return rule.any.some((conditions) => fits(conditions, args, paths, 'wide')) ? 'ask' : 'run'
    }
    case 'policy': {
      const first = policy.find(
        (one) =>
          one.tools.some((name) => globMatches(name, tool)) &&
          (one.where === null || fits(one.where, args, paths, one.then === 'allow' ? 'narrow' : 'wide')),
      )
      if (first?.then === 'allow') return 'run'
      return first?.then === 'refuse' ? 'refuse' : 'ask'
    }
    default:
      return 'ask'
  }
}

type RuledTool = Pick<BoundTool, 'approval' | 'risk' | 'effect' | 'description' | 'parameters' | 'binding'>

/**
 * Names the rules under which a person is asked, and the tool: its description and what it does. With another version an
 * approval is void, because the person approved something else.
 */
export function policyVersion(settings: ApprovalSettings, tool: RuledTool): string {
  const { approval, risk, effect, description, parameters, binding } = tool
  return policyVersionOf({ settings, approval, risk }, { effect, description, parameters, binding })
}
