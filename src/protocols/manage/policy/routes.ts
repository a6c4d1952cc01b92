// The policy of a workspace, for operators: try it on a made-up request, draft one from history, accept a text.

import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import { isSupervisedSession } from '../../../supervision/sessions/take-step.ts'
import type { Workspaces } from '../../../supervision/workspace/allowed-workspace.ts'
import type { AcceptPolicy } from '../../../supervision/workspace-policy/accept-policy.ts'
import type { DraftFromHistory } from '../../../supervision/workspace-policy/draft-policy.ts'
import type { TryRequest } from '../../../supervision/workspace-policy/try-request.ts'
import { callerOf, viewerOf } from '../../shared/request/caller.ts'
import { validBody } from '../../shared/request/validate.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { supervisionTag } from '../supervision/schema.ts'
import {
  type AcceptedPolicy,
  AcceptedPolicySchema,
  AcceptPolicySchema,
  DraftPolicySchema,
  type PolicyDraft,
  PolicyDraftSchema,
  type PolicyVerdict,
  PolicyVerdictSchema,
  type TriedPolicy,
  TriedPolicySchema,
} from './schema.ts'

export interface PolicyRoutesDeps {
  tryRequest: TryRequest
  draftPolicy: DraftFromHistory
  acceptPolicy: AcceptPolicy
  workspaces: Pick<Workspaces, 'find'>
  oversight: Pick<Oversight, 'session' | 'listing'>
  clock: Pick<Clock, 'now'>
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 }

export function createPolicyRoutes(deps: PolicyRoutesDeps): Route[] {
  const { tryRequest, draftPolicy, acceptPolicy, workspaces, oversight, clock } = deps

  async function workspaceOf(request: Request, { workspace, session_id = '' }: TriedPolicy): Promise<string> {
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

  async function draft(request: Request, reply: Reply): Promise<void> {
    const asked = validBody(DraftPolicySchema, await request.json(), 'The body asks for no draft.')
    const { path: workspace } = workspaces.find(asked.workspace)
    // It says what others decided.
    await oversight.listing(viewerOf(request), '*')
    const unit = UNIT_MS[asked.since.slice(-1) as keyof typeof UNIT_MS]
    const since = clock.now() - Number.parseInt(asked.since, 10) * unit
    const { base: base_sha256, ...drafted } = await draftPolicy(workspace, since, asked.text)
    reply.json(200, { workspace, base_sha256, ...drafted } satisfies PolicyDraft)
  }

  async function accept(request: Request, reply: Reply): Promise<void> {
    const asked = validBody(AcceptPolicySchema, await request.json(), 'The body has no text of a policy.')
    const workspace = workspaces.find(asked.workspace)
    const { file, waitsFor } = await acceptPolicy(callerOf(request), workspace, asked.text, asked.base_sha256)
    reply.json(200, { file, approval_id: waitsFor } satisfies AcceptedPolicy)
  }

  const { post } = routeHeads(null, 'operator')
  return [
    {
      ...post,
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
    {
      ...post,
      path: '/policy/draft',
      summary: 'Draft a policy from what people decided',
      describe: () => ({
        tag: supervisionTag,
        description:
          'A line for what people allowed at least three times and never refused, with its counts; what it leaves open; what it would have changed. It never allows what somebody refused. With `text`, the same about an edited draft. It keeps nothing. The audit trail says who looked.',
        body: {
          schema: DraftPolicySchema,
          examples: {
            draft: { workspace: '/home/ada/shop', since: '7d' },
            edited: { workspace: '/home/ada/shop', text: '{"enabled": true}' },
          },
        },
        responses: { 200: answer('The draft. Nothing of it counts yet.', PolicyDraftSchema) },
        errors: ['invalid_request', 'forbidden', 'storage_failed'],
      }),
      handle: draft,
    },
    {
      ...post,
      path: '/policy/accept',
      summary: 'Write a policy, and accept it',
      describe: () => ({
        tag: supervisionTag,
        description:
          'Writes `.quarterdeck/policy.json` and approves it, as its approval in the inbox would: with the same rules about who may, quorum and passkeys. If the server dies in between, that approval waits in the inbox.',
        body: {
          schema: AcceptPolicySchema,
          examples: { 'a draft': { workspace: '/home/ada/shop', text: '{"enabled": true}', base_sha256: null } },
        },
        responses: { 200: answer('The file is written.', AcceptedPolicySchema) },
        errors: [
          'invalid_request',
          'forbidden',
          'conflict',
          'path_violation',
          'patch_conflict',
          'approval_decided',
          'storage_full',
          'storage_failed',
        ],
      }),
      handle: accept,
    },
  ]
}
