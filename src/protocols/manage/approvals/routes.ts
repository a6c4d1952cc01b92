// Approvals: list them and decide. Grants: list and revoke them.

import { ServerError } from '../../../domain/errors.ts'
import { parseUuid } from '../../../domain/ids.ts'
import type { Approval } from '../../../domain/records/record.ts'
import type { Engine } from '../../../engine/engine.ts'
import { isConsole, type Reply, type Request, type Route } from '../../../http/route.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'
import type { NoteShown } from '../../../supervision/approvals/note-shown.ts'
import type { ReadDiff } from '../../../supervision/approvals/read-diff.ts'
import type { RevealSecret } from '../../../supervision/approvals/reveal-secret.ts'
import { shownCall } from '../../../supervision/approvals/shown-call.ts'
import { createAnswerApproval } from '../../../supervision/records/answer-record.ts'
import { channelOf } from '../../../supervision/sessions/may-command.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { decodePage, nextLink, queryProblem } from '../../shared/request/page.ts'
import { createRecordViews } from '../records/record-views.ts'
import { decodeDecision, decodeEdit, decodeInclude, decodeReveal, decodeStatus } from './decode.ts'
import {
  describeCheck,
  describeDecide,
  describeGrants,
  describeList,
  describeReveal,
  describeRevoke,
  describeShow,
} from './describe.ts'
import { approvalView, editCheckView, grantView, shownView } from './encode.ts'

const PAGE = { max: 100, fallback: 50 }

interface ApprovalRoutesDeps {
  engine: Pick<Engine, 'sessions'>
  approvals: Approvals
  readDiff: ReadDiff
  noteShown: NoteShown
  revealSecret: RevealSecret
}

export function createApprovalRoutes(deps: ApprovalRoutesDeps): Route[] {
  const { engine, approvals, readDiff, noteShown, revealSecret } = deps
  const recordViews = createRecordViews(engine)
  const answerApproval = createAnswerApproval(approvals)

  /** An operator may name any session by id. Others may name their own sessions, by id or name. */
  async function sessionIn(request: Request): Promise<string | null> {
    const reference = request.query.get('session_id')
    if (reference === null) return null
    const id = parseUuid(reference)
    if (id !== null && request.principal.role === 'operator') return id
    return (await engine.sessions.get(request.principal.owner, reference)).id
  }

  async function list(request: Request, reply: Reply): Promise<void> {
    const by = callerOf(request.principal)
    const status = decodeStatus(request)
    const { limit, before } = decodePage(request, PAGE)
    const sessionId = await sessionIn(request)
    const place = before === undefined ? null : await approvals.get(by, before).catch(notThere)
    const found = await approvals.list({
      by,
      limit: limit + 1,
      ...(status === null ? {} : { status }),
      ...(sessionId === null ? {} : { sessionId }),
      ...(place === null ? {} : { before: place }),
    })
    const shown = found.slice(0, limit)
    const next = found.length > limit ? (shown.at(-1)?.id ?? null) : null
    const views = await recordViews.many(shown)
    const encoded = shown.map((one) => ({ ...encode(request, one), view: views(one) }))
    reply.json(200, { approvals: encoded }, nextLink('/approvals', request.query, next))
  }

  async function show(request: Request, reply: Reply): Promise<void> {
    const include = decodeInclude(request)
    const by = callerOf(request.principal, request.channel)
    const approval = await approvals.get(by, request.params.id ?? '')
    reply.note({ session_id: approval.sessionId })
    const found = await readDiff(approval)
    // Whoever could decide now has seen it: that is on record before they have it.
    const mayDecide = by.role === 'operator' || (by.role === 'user' && approval.answerableBy === 'owner')
    if (approval.status === 'pending' && mayDecide) await noteShown(by, approval.id, approval.digest, channelOf(by))
    const content = found !== null && include.content ? { content: found.content() } : {}
    reply.json(200, {
      ...encode(request, approval),
      ...(found === null ? {} : { diff: found.diff, shown_diff: found.shown, edit_diff: found.edit, ...content }),
      shown: shownView(shownCall(approval, { isWhole: include.all })),
      view: await recordViews.one(approval, found?.shown ?? null),
    })
  }

  async function decide(request: Request, reply: Reply): Promise<void> {
    const by = callerOf(request.principal, request.channel)
    const id = request.params.id ?? ''
    // First, so that the body is not read if there is nothing to decide.
    const { sessionId } = await approvals.get(by, id)
    reply.note({ session_id: sessionId })
    const { decision, reason, ...more } = decodeDecision(await request.json())
    const given = {
      action: decision === 'respond' ? 'answer' : decision,
      ...(reason === undefined ? {} : { text: reason }),
      decision: more,
    } as const
    const { record: approval, run } = await answerApproval(by, id, given, request.correlationId)
    reply.note({ session_id: approval.sessionId, ...(run === null ? {} : { run_id: run.id }) })
    reply.json(200, { ...encode(request, approval), view: await recordViews.one(approval) })
  }

  async function check(request: Request, reply: Reply): Promise<void> {
    const by = callerOf(request.principal, request.channel)
    const id = request.params.id ?? ''
    const { sessionId } = await approvals.get(by, id)
    reply.note({ session_id: sessionId })
    reply.json(200, editCheckView(await approvals.check(by, id, decodeEdit(await request.json()))))
  }

  async function reveal(request: Request, reply: Reply): Promise<void> {
    const by = callerOf(request.principal, request.channel)
    const id = request.params.id ?? ''
    const { sessionId } = await approvals.get(by, id)
    reply.note({ session_id: sessionId })
    const name = decodeReveal(await request.json())
    reply.json(200, { name, text: await revealSecret(by, id, name) })
  }

  async function grants(request: Request, reply: Reply): Promise<void> {
    const agent = request.query.get('agent')
    const sessionId = await sessionIn(request)
    const found = await approvals.grants({
      ...(agent === null ? {} : { agent }),
      ...(sessionId === null ? {} : { sessionId }),
    })
    const isMasked = isConsole(request)
    reply.json(200, { grants: found.map((grant) => grantView(grant, { isMasked })) })
  }

  async function revoke(request: Request, reply: Reply): Promise<void> {
    await approvals.revokeGrant(callerOf(request.principal), request.params.id ?? '')
    reply.empty(204)
  }

  return [
    {
      method: 'GET',
      path: '/approvals',
      door: null,
      role: 'user',
      body: 'none',
      summary: 'List approvals',
      describe: describeList,
      handle: list,
    },
    {
      method: 'GET',
      path: '/approvals/:id',
      door: null,
      role: 'user',
      body: 'none',
      summary: 'Show one approval',
      describe: describeShow,
      handle: show,
    },
    {
      method: 'POST',
      path: '/approvals/:id',
      door: null,
      // The approval says who may answer. Nobody may without a token.
      role: 'user',
      body: 'edit',
      summary: 'Approve or reject a call, or answer in its place',
      describe: describeDecide,
      handle: decide,
    },
    {
      method: 'POST',
      path: '/approvals/:id/check',
      door: null,
      role: 'user',
      body: 'edit',
      summary: 'What would come of an edit',
      describe: describeCheck,
      handle: check,
    },
    {
      method: 'POST',
      path: '/approvals/:id/reveal',
      door: null,
      role: 'user',
      body: 'control',
      summary: 'Show a masked secret',
      describe: describeReveal,
      handle: reveal,
    },
    {
      method: 'GET',
      path: '/grants',
      door: null,
      role: 'operator',
      body: 'none',
      summary: 'List grants: calls that are allowed or refused without asking',
      describe: describeGrants,
      handle: grants,
    },
    {
      method: 'DELETE',
      path: '/grants/:id',
      door: null,
      role: 'operator',
      body: 'none',
      summary: 'Revoke a grant',
      describe: describeRevoke,
      handle: revoke,
    },
  ]
}

const encode = (request: Request, approval: Approval) => approvalView(approval, { isMasked: isConsole(request) })

function notThere(error: unknown): never {
  if (!(error instanceof ServerError) || error.code !== 'approval_not_found') throw error
  throw queryProblem({ pointer: 'before', detail: 'Send the approval_id of the last approval of the previous page.' })
}
