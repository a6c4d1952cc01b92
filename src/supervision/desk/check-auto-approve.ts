// check_auto_approve: whether a request would be let through. The same evaluator as for the request itself, and it grants nothing.

import { type Risk, risks } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { GuardArguments } from '../workspace/guard-arguments.ts'
import { accessOf } from '../workspace-policy/judge-request.ts'
import type { AgentDesk } from './agent-desk.ts'
import type { AnswerCall } from './answer-call.ts'
import { workspacePath } from './host-tools.ts'
import type { WorkJudge } from './judge-work.ts'

export function createCheckAutoApprove({
  answerCall,
  judge,
  guard,
}: {
  answerCall: AnswerCall
  judge: WorkJudge
  guard: GuardArguments
}): Pick<AgentDesk, 'check_auto_approve'> {
  return {
    check_auto_approve: (call, input) =>
      answerCall(call, 'check_auto_approve', { ...input }, async ({ session }) => {
        const { tool_name: toolName, context = {} } = input
        if (!isRecord(context)) throw new ServerError('invalid_request', 'context must be an object.')
        const { file_path, command, risk_level: riskLevel = 'low' } = context
        if (toolName === '' || !isRisk(riskLevel)) {
          throw new ServerError('invalid_request', `Send tool_name, and a risk_level of ${risks.join(', ')}.`)
        }
        const { workspaceRoot } = session.supervision
        const filePath = file_path === undefined ? null : await workspacePath(workspaceRoot, file_path)
        if (file_path !== undefined && filePath === null) {
          return { auto_approved: false, matched_rule: null, why: 'The path does not lead to a file of the workspace.' }
        }
        const guarded = guard({ workspaceRoot, access: accessOf(toolName), input: context, without: NO_PATHS })
        const request = { toolName, filePath, command: command ?? null, riskLevel, guarded }
        const judged = await judge.judge(session, request)
        return { auto_approved: judged.autoApproved, matched_rule: judged.matchedRule, why: judged.why }
      }),
  }
}

/** The policy itself says which commands pass. */
const NO_PATHS: ReadonlySet<string> = new Set(['command', 'risk_level'])

const isRisk = (risk: string): risk is Risk => (risks as readonly string[]).includes(risk)
