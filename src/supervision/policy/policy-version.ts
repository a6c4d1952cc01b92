import type { ApprovalSettings } from '../../domain/approval-rule.ts'
import { policyVersionOf } from '../../json/digest.ts'
import type { BoundTool } from '../../tools/tool.ts'

type RuledTool = Pick<BoundTool, 'approval' | 'risk' | 'effect' | 'description' | 'parameters' | 'binding'>

/**
 * Names the rules under which a person is asked, and the tool: its description and what it does. With another version an
 * approval is void, because the person approved something else.
 */
export function policyVersion(settings: ApprovalSettings, tool: RuledTool): string {
  const { approval, risk, effect, description, parameters, binding } = tool
  return policyVersionOf({ settings, approval, risk }, { effect, description, parameters, binding })
}
