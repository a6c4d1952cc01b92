// Tries the policy of a workspace on a made-up request, for operators.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import { isSupervisedSession } from '../../../supervision/sessions/take-step.ts'
import type { Workspaces } from '../../../supervision/workspace/allowed-workspace.ts'
import type { TryRequest } from '../../../supervision/workspace-policy/try-request.ts'
import { viewerOf } from '../../shared/request/caller.ts'
import { inputProblems, validate } from '../../shared/request/validate.ts'
import { supervisionTag } from '../supervision/describe-records.ts'

export interface PolicyRoutesDeps {
  tryRequest: TryRequest
  workspaces: Pick<Workspaces, 'find'>
  oversight: Pick<Oversight, 'session'>
}

const TrySchema = z
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

const describe: RouteDescription = {
  tag: supervisionTag,
  description:
    'What the policy of a workspace would say about a request of an agent. The same evaluator that decides about real requests; it grants nothing and asks nobody.',
  body: {
    schema: TrySchema,
    examples: {
      command: { workspace: '/home/ada/shop', tool_name: 'Bash', command: 'npm test' },
      file: { workspace: '/home/ada/shop', tool_name: 'Write', file_path: 'src/cart.ts' },
    },
  },
  responses: {
    200: {
      description: 'The verdict.',
      content: {
        'application/json': {
          schema: z.strictObject({
            auto_approved: z.boolean(),
            matched_rule: z.string().nullable(),
            why: z
              .array(z.string())
              .describe('What counts in this workspace, then why the request passes or does not.'),
          }),
          example: {
            auto_approved: true,
            matched_rule: 'command:npm test',
            why: ['An operator has accepted .quarterdeck/policy.json.', 'The policy allows it: command:npm test'],
          },
        },
      },
    },
  },
  errors: ['invalid_request', 'malformed_id', 'forbidden', 'session_not_found', 'storage_failed'],
}

export function createPolicyRoutes({ tryRequest, workspaces, oversight }: PolicyRoutesDeps): Route[] {
  async function workspaceOf(request: Request, { workspace, session_id = '' }: z.infer<typeof TrySchema>) {
    if (workspace !== undefined) return workspaces.find(workspace).path
    const session = await oversight.session(viewerOf(request.principal), session_id)
    if (isSupervisedSession(session)) return session.supervision.workspaceRoot
    throw new ServerError('invalid_request', 'This session has no workspace: its agent runs on this server.')
  }

  async function tryPolicy(request: Request, reply: Reply): Promise<void> {
    const parsed = validate(TrySchema, await request.json())
    if (!parsed.success) {
      throw new ServerError('invalid_request', 'The body does not describe a request of an agent.', {
        problems: inputProblems(parsed.issues),
      })
    }
    const { tool_name: toolName, file_path = null, command = null, risk_level: riskLevel } = parsed.data
    const root = await workspaceOf(request, parsed.data)
    const verdict = await tryRequest(root, { toolName, filePath: file_path, command, riskLevel })
    reply.json(200, {
      auto_approved: verdict.autoApproved,
      matched_rule: verdict.matchedRule,
      why: verdict.why,
    })
  }

  return [
    {
      method: 'POST',
      path: '/policy/try',
      door: null,
      role: 'operator',
      body: 'control',
      summary: 'Try the policy of a workspace on a request',
      describe,
      handle: tryPolicy,
    },
  ]
}
