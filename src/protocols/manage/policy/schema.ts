import { z } from 'zod'

export const TriedPolicySchema = z
  .strictObject({
    workspace: z
      .string()
      .min(1)
      .max(4_096)
      .exactOptional()
      .describe('Absolute path or id of a workspace of this server.'),
    session_id: z.string().min(1).max(128).exactOptional().describe('Instead of `workspace`: a supervised session.'),
    tool_name: z.string().min(1).max(200),
    file_path: z.string().min(1).max(4_096).exactOptional().describe('Absolute, or relative to the workspace.'),
    command: z.string().min(1).max(20_000).exactOptional().describe('The command line of a shell tool.'),
    risk_level: z.enum(['low', 'high', 'critical']).default('low'),
  })
  .superRefine(({ workspace, session_id }, context) => {
    if ((workspace === undefined) !== (session_id === undefined)) return
    context.addIssue({ code: 'custom', path: ['workspace'], message: 'Send either workspace or session_id.' })
  })
/** A request that an agent might make. Send either `workspace` or `session_id`. */
export type TriedPolicy = z.input<typeof TriedPolicySchema>

export const PolicyVerdictSchema = z
  .strictObject({
    auto_approved: z.boolean(),
    matched_rule: z.string().nullable(),
    why: z.array(z.string()).describe('What counts in this workspace, then why the request passes or does not.'),
  })
  .meta({
    example: {
      auto_approved: true,
      matched_rule: 'command:npm test',
      why: ['An operator has accepted .quarterdeck/policy.json.', 'The policy allows it: command:npm test'],
    },
  })
export type PolicyVerdict = z.output<typeof PolicyVerdictSchema>
