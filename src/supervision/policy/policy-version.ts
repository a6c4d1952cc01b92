import type { ApprovalSettings } from '../../domain/approval-rule.ts'
import { policyVersionOf } from '../../json/digest.ts'
import type { BoundTool } from '../../tools/tool.ts'

type RuledTool = Pick<BoundTool, 'approval' | 'risk' | 'effect' | 'description' | 'parameters' | 'binding'>

/**
 * Names the rules under which a person was asked, and the tool that they were asked about: what it says of itself and what it
 * does. Another one voids what was approved: the person would be saying yes to something else.
 */
export function policyVersion(settings: ApprovalSettings, tool: RuledTool): string {
  const { approval, risk, effect, description, parameters, binding } = tool
  return policyVersionOf({ settings, approval, risk }, { effect, description, parameters, binding })
}
