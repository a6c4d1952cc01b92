import type { ApprovalSettings } from '../domain/approval-rule.ts'
import { canonicalJson, sha256 } from '../domain/digest.ts'
import type { GatedCall } from '../engine/gate.ts'

type RuledTool = Pick<GatedCall['tool'], 'approval' | 'risk' | 'effect' | 'description' | 'parameters'>

/**
 * Names the rules under which a person was asked, and the tool that they were asked about. Another one after a restart, or
 * after an MCP server has changed its tool, voids what was approved: the person would be saying yes to something else.
 */
export function policyVersion(settings: ApprovalSettings, tool: RuledTool): string {
  const { approval, risk, effect, description, parameters } = tool
  return sha256(canonicalJson(['policy', settings, { approval, risk, effect, description, parameters }]))
}
