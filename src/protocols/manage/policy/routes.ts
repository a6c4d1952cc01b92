// Tries the policy of a workspace on a made-up request, for operators.

import type { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import { isSupervisedSession } from '../../../supervision/sessions/take-step.ts'
import type { Workspaces } from '../../../supervision/workspace/allowed-workspace.ts'
import type { TryRequest } from '../../../supervision/workspace-policy/try-request.ts'
import { viewerOf } from '../../shared/request/caller.ts'
import { validBody } from '../../shared/request/validate.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { supervisionTag } from '../supervision/schema.ts'
import { type PolicyVerdict, PolicyVerdictSchema, TriedPolicySchema } from './schema.ts'

export interface PolicyRoutesDeps {
  tryRequest: TryRequest
  workspaces: Pick<Workspaces, 'find'>
  oversight: Pick<Oversight, 'session'>
}

export function createPolicyRoutes({ tryRequest, workspaces, oversight }: PolicyRoutesDeps): Route[] {
  async function workspaceOf(request: Request, { workspace, session_id = '' }: z.infer<typeof TriedPolicySchema>) {
    if (workspace !== undefined) return workspaces.find(workspace).path
    const session = await oversight.session(viewerOf(request), session_id)
    if (isSupervisedSession(session)) return session.supervision.workspaceRoot
    throw new ServerError('invalid_request', 'This session has no workspace: its agent runs on this server.')
  }

  async function tryPolicy(request: Request, reply: Reply): Promise<void> {
    const sent = await request.json()
    const tried = validBody(TriedPolicySchema, sent, 'The body does not describe a request of an agent.')
    const { tool_name: toolName, file_path = null, command = null, risk_level: riskLevel } = tried
    const root = await workspaceOf(request, tried)
    const verdict = await tryRequest(root, { toolName, filePath: file_path, command, riskLevel })
    const body: PolicyVerdict = {
      auto_approved: verdict.autoApproved,
      matched_rule: verdict.matchedRule,
      why: verdict.why,
    }
    reply.json(200, body)
  }

  return [
    {
      ...routeHeads(null, 'operator').post,
      path: '/policy/try',
      summary: 'Try the policy of a workspace on a request',
      describe: () => ({
        tag: supervisionTag,
        description:
          'What the policy of a workspace would say about a request of an agent. The same evaluator that decides about real requests; it grants nothing and asks nobody.',
        body: {
          schema: TriedPolicySchema,
          examples: {
            command: { workspace: '/home/ada/shop', tool_name: 'Bash', command: 'npm test' },
            file: { workspace: '/home/ada/shop', tool_name: 'Write', file_path: 'src/cart.ts' },
          },
        },
        responses: { 200: answer('The verdict.', PolicyVerdictSchema) },
        errors: ['invalid_request', 'malformed_id', 'forbidden', 'session_not_found', 'storage_failed'],
      }),
      handle: tryPolicy,
    },
  ]
}
