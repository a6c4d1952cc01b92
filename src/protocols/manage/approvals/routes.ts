// Approvals: list them and decide. Grants: list and revoke them.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { parseUuid } from '../../../domain/ids.ts'
import { present } from '../../../domain/present.ts'
import { type Approval, approvalStatuses } from '../../../domain/records/record.ts'
import type { Engine } from '../../../engine/engine.ts'
import { answer, listOf, page } from '../../../http/describe-answer.ts'
import { isConsole, type Reply, type Request, type Route } from '../../../http/route.ts'
import type { Approvals } from '../../../supervision/approvals/approvals.ts'
import { decideGroup } from '../../../supervision/approvals/decide-group.ts'
import type { NoteShown, RevealSecret } from '../../../supervision/approvals/looked-at.ts'
import type { ProposedDiff, ReadDiff } from '../../../supervision/approvals/read-diff.ts'
import { shownCall } from '../../../supervision/approvals/shown-call.ts'
import { createAnswerApproval } from '../../../supervision/records/answer-record.ts'
import type { ReadScenes } from '../../../supervision/records/record-scenes.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { decodePage, nextLink, queryProblem } from '../../shared/request/page.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { ApprovalSchema } from '../records/kinds/approval.ts'
import { createRecordViews, encodeRecord } from '../records/kinds-on-wire.ts'
import {
  decodeDecision,
  decodeEdit,
  decodeGroup,
  decodeInclude,
  decodeLines,
  decodePath,
  decodeReveal,
  decodeStatus,
} from './decode.ts'
import { editCheckView, grantView, shownView } from './encode.ts'
import {
  DecisionSchema,
  EditCheckSchema,
  EditSchema,
  FileLinesSchema,
  GrantSchema,
  GroupDecidedSchema,
  GroupDecisionSchema,
  RevealedSchema,
  RevealSchema,
  ShownApprovalSchema,
} from './schema.ts'

const PAGE = { max: 100, fallback: 50 }

interface ApprovalRoutesDeps {
  engine: Pick<Engine, 'sessions'>
  approvals: Approvals
  readScenes: ReadScenes
  readDiff: ReadDiff
  noteShown: NoteShown
  revealSecret: RevealSecret
}

const tag = 'Approvals'
const params = { id: z.string().describe('Id of the approval: a UUID or a ULID.') }

const onePath = z
  .string()
  .optional()
  .describe('With the kind `changes`: one file of it. Its diff, its text and its lines are then those of the answer.')

export function createApprovalRoutes(deps: ApprovalRoutesDeps): Route[] {
  const { engine, approvals, readScenes, readDiff, noteShown, revealSecret } = deps
  const recordViews = createRecordViews(readScenes)
  const answerApproval = createAnswerApproval(approvals)

  /** An operator may name any session by id. Others may name their own sessions, by id or name. */
  async function sessionIn(request: Request): Promise<string | undefined> {
    const reference = request.query.get('session_id')
    if (reference === null) return undefined
    const id = parseUuid(reference)
    if (id !== null && request.principal.role === 'operator') return id
    return (await engine.sessions.get(request.principal.owner, reference)).id
  }

  async function list(request: Request, reply: Reply): Promise<void> {
    const by = callerOf(request)
    const { limit, before } = decodePage(request, PAGE)
    const found = await approvals.list({
      by,
      limit: limit + 1,
      status: decodeStatus(request),
      sessionId: await sessionIn(request),
      before: before === undefined ? undefined : await approvals.get(by, before).catch(notThere),
    })
    const shown = found.slice(0, limit)
    const next = found.length > limit ? (shown.at(-1)?.id ?? null) : null
    const views = await recordViews.many(shown)
    const encoded = shown.map((one) => ({ ...encode(request, one), view: views(one) }))
    reply.json(200, { approvals: encoded }, nextLink('/approvals', request.query, next))
  }

  async function show(request: Request, reply: Reply): Promise<void> {
    const include = decodeInclude(request)
    const by = callerOf(request)
    const approval = await approvals.get(by, request.params.id ?? '')
    reply.note({ session_id: approval.sessionId })
    const all = await readDiff(approval)
    const path = decodePath(request)
    const found = path === undefined || all === null ? all : fileOf(all, path)
    // Whoever could decide now has seen it: that is on record before they have it.
    const mayDecide = by.role === 'operator' || (by.role === 'user' && approval.answerableBy === 'owner')
    if (approval.status === 'pending' && mayDecide) await noteShown(by, approval.id, approval.digest, by.via)
    const content = found !== null && include.content ? { content: found.content() } : {}
    reply.json(200, {
      ...encode(request, approval),
      // Of several files, each has its own part of the view.
      ...(found === null || (path === undefined && all?.file !== undefined)
        ? present({ edit_diff: found?.edit })
        : { diff: found.diff, shown_diff: found.shown, edit_diff: found.edit, ...content }),
      shown: shownView(shownCall(approval, { isWhole: include.all })),
      view: await recordViews.one(approval, all),
    })
  }

  /** The caller and the approval of the path. Before the body is read, so that nobody sends one where there is nothing to decide. */
  async function approvalIn(request: Request, reply: Reply) {
    const by = callerOf(request)
    const { id, sessionId } = await approvals.get(by, request.params.id ?? '')
    reply.note({ session_id: sessionId })
    return { by, id }
  }

  async function decide(request: Request, reply: Reply): Promise<void> {
    const { by, id } = await approvalIn(request, reply)
    const { decision, reason, ...more } = decodeDecision(await request.json())
    const given = { action: decision === 'respond' ? 'answer' : decision, text: reason, decision: more } as const
    const { record: approval, run } = await answerApproval(by, id, given, request.correlationId)
    reply.note({ session_id: approval.sessionId, ...(run === null ? {} : { run_id: run.id }) })
    reply.json(200, { ...encode(request, approval), view: await recordViews.one(approval) })
  }

  async function decideMany(request: Request, reply: Reply): Promise<void> {
    const given = decodeGroup(await request.json())
    const decided = await decideGroup(deps, callerOf(request), given, request.correlationId)
    const items = decided.map(({ approval: { id: approval_id, status }, error }) =>
      present({
        approval_id,
        status,
        error: error === null ? undefined : { code: error.code, message: error.message },
      }),
    )
    reply.json(200, { items })
  }

  async function check(request: Request, reply: Reply): Promise<void> {
    const { by, id } = await approvalIn(request, reply)
    reply.json(200, editCheckView(await approvals.check(by, id, decodeEdit(await request.json()))))
  }

  async function reveal(request: Request, reply: Reply): Promise<void> {
    const { by, id } = await approvalIn(request, reply)
    const name = decodeReveal(await request.json())
    reply.json(200, { name, text: await revealSecret(by, id, name) })
  }

  async function fileLines(request: Request, reply: Reply): Promise<void> {
    const range = { ...decodeLines(request), ...present({ path: decodePath(request) }) }
    const approval = await approvals.get(callerOf(request), request.params.id ?? '')
    reply.note({ session_id: approval.sessionId })
    const found = await readDiff(approval)
    if (found === null) throw new ServerError('file_not_found', 'This approval changes no file.')
    const { from, lines, totalLines: total_lines, leftOut: left_out } = found.lines(range)
    reply.json(200, { from, lines, total_lines, left_out })
  }

  async function grants(request: Request, reply: Reply): Promise<void> {
    const agent = request.query.get('agent') ?? undefined
    const found = await approvals.grants({ agent, sessionId: await sessionIn(request) })
    const isMasked = isConsole(request)
    reply.json(200, { grants: found.map((grant) => grantView(grant, { isMasked })) })
  }

  async function revoke(request: Request, reply: Reply): Promise<void> {
    await approvals.revokeGrant(callerOf(request), request.params.id ?? '')
    reply.empty(204)
  }

  const user = routeHeads(null, 'user')
  const operator = routeHeads(null, 'operator')
  return [
    {
      ...user.get,
      path: '/approvals',
      summary: 'List approvals',
      describe: () => ({
        tag,
        description: 'Newest first. An operator sees all approvals, others see those of their own sessions.',
        query: {
          status: z
            .enum([...approvalStatuses, 'all'])
            .optional()
            .describe('Default: `pending`.'),
          session_id: z.string().optional(),
          limit: z.coerce.number().int().min(1).max(100).optional().describe('Default: 50.'),
          before: z.string().optional().describe('`approval_id` of the last approval of the previous page.'),
        },
        responses: { 200: page('approvals', ApprovalSchema, 'A page of approvals.') },
        errors: ['invalid_request', 'session_not_found', 'malformed_id', 'storage_failed'],
      }),
      handle: list,
    },
    {
      ...user.get,
      path: '/approvals/:id',
      summary: 'Show one approval',
      describe: () => ({
        tag,
        params,
        description:
          '`shown` is what a person has to see before they decide: never cut without saying so, and with secrets masked. The console gets secrets masked in `arguments` too.',
        query: {
          include: z
            .string()
            .regex(/^(content|all)(,(content|all))*$/)
            .optional()
            .describe(
              '`content`: also the whole text after a change. `all`: `shown` cuts nothing; otherwise each value ends after 200,000 bytes.',
            ),
          path: onePath,
        },
        responses: { 200: answer('The approval, with the diff of a change.', ShownApprovalSchema) },
        errors: ['invalid_request', 'approval_not_found', 'file_not_found', 'invalid_diff', 'storage_failed'],
      }),
      handle: show,
    },
    {
      ...user.post,
      path: '/approvals/:id',
      // The approval says who may answer. Nobody may without a token.
      body: 'edit',
      summary: 'Approve or reject a call, or answer in its place',
      describe: () => ({
        tag,
        description:
          'The first answer counts. A later answer is refused and told who decided what and when. An approved call runs at most once. The run continues by itself as `continuation_run_id`.',
        params,
        body: {
          schema: DecisionSchema,
          examples: {
            approve: { decision: 'approve' },
            'with what was on the screen': {
              decision: 'approve',
              digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
              looked_at: { whole: false, not_seen: [{ name: 'body', shown: 200_000, total: 1_200_000 }] },
            },
            reject: { decision: 'reject', reason: 'Not on a Friday.' },
            'with other arguments': { decision: 'approve', arguments: { to: 'eve@example.com' } },
            'changes of several files': {
              decision: 'approve',
              arguments: {
                leave: ['src/a.ts'],
                discard: ['notes.txt'],
                edit: { 'src/b.ts': 'export const limit = 20\n' },
              },
            },
            'a result in its place': { decision: 'respond', result: 'Bob has it already.' },
            'the answer to a question': { decision: 'respond', result: { size: 'L' } },
            'a change, edited': { decision: 'approve', content: 'export const limit = 20\n' },
            'a change, over a changed file': { decision: 'approve', force: true },
            'refuse such calls': { decision: 'reject', remember: 'session' },
            'and remember': {
              decision: 'approve',
              remember: 'session',
              grant: { where: { to: '*@example.com' }, seconds: 900 },
            },
          },
        },
        responses: {
          200: answer('The decided approval.', ApprovalSchema, {
            status: 'approved',
            continuation_run_id: '0192f3a1-7b2c-7def-8abc-0123456789b0',
            decided_at: '2026-11-15T09:01:00.000Z',
            decided_by: 'operator',
          }),
        },
        errors: [
          'invalid_request',
          'forbidden',
          'conflict',
          'invalid_diff',
          'path_violation',
          'patch_conflict',
          'file_too_large',
          'passphrase_required',
          'passphrase_wrong',
          'passkey_required',
          'approval_not_found',
          'approval_expired',
          'approval_decided',
          'approval_changed',
          'tool_unavailable',
          'shutting_down',
          'storage_full',
          'storage_failed',
        ],
      }),
      handle: decide,
    },
    {
      ...operator.post,
      path: '/approvals',
      summary: 'Decide about a group after one look',
      describe: () => ({
        tag,
        description:
          'For pending approvals of agents elsewhere that are alike (`view.group`) and of low risk; otherwise nothing is decided. Each is decided by itself, with its own digest and its own entry in the audit trail. One that somebody else has decided meanwhile says so, and the others go on.',
        body: {
          schema: GroupDecisionSchema,
          examples: {
            approve: {
              decision: 'approve',
              items: [
                {
                  id: '0192f3a1-7b2c-7def-8abc-0123456789ae',
                  digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
                },
              ],
            },
          },
        },
        responses: { 200: answer('What became of each, in the same order.', GroupDecidedSchema) },
        errors: [
          'invalid_request',
          'forbidden',
          'approval_not_found',
          'shutting_down',
          'storage_full',
          'storage_failed',
        ],
      }),
      handle: decideMany,
    },
    {
      ...user.post,
      path: '/approvals/:id/check',
      body: 'edit',
      summary: 'What would come of an edit',
      describe: () => ({
        tag,
        description:
          'Checks an edit and shows what would run. It decides nothing and keeps nothing. For those who may decide.',
        params,
        body: {
          schema: EditSchema,
          examples: {
            'of arguments': { arguments: { to: 'eve@example.com', api_key: '[masked]' } },
            'of a file': { content: 'export const limit = 20\n' },
          },
        },
        responses: { 200: answer('What would come of it.', EditCheckSchema) },
        errors: [
          'invalid_request',
          'forbidden',
          'approval_not_found',
          'approval_expired',
          'approval_decided',
          'approval_changed',
          'session_not_found',
          'storage_failed',
        ],
      }),
      handle: check,
    },
    {
      ...user.post,
      path: '/approvals/:id/reveal',
      summary: 'Show a masked secret',
      describe: () => ({
        tag,
        description:
          'The value of one argument without masks. The audit trail has who looked, each time. For those who may decide.',
        params,
        body: { schema: RevealSchema, examples: { 'an argument': { name: 'api_key' } } },
        responses: { 200: answer('The value, with hidden characters marked.', RevealedSchema) },
        errors: ['invalid_request', 'forbidden', 'approval_not_found', 'storage_full', 'storage_failed'],
      }),
      handle: reveal,
    },
    {
      ...operator.get,
      path: '/approvals/:id/lines',
      summary: 'Lines between the parts of a diff',
      describe: () => ({
        tag,
        description:
          'For what stands between the parts of a diff: lines of the file after the change, as the server keeps it with the approval, whatever the disk has by now. A file that usually holds secrets is refused.',
        params,
        query: {
          from: z.coerce.number().int().min(1).optional().describe('The first line. Default: 1.'),
          to: z.coerce.number().int().min(1).optional().describe('The last line. Default: the end of the file.'),
          path: onePath,
        },
        responses: { 200: answer('The lines.', FileLinesSchema) },
        errors: ['invalid_request', 'forbidden', 'approval_not_found', 'file_not_found', 'storage_failed'],
      }),
      handle: fileLines,
    },
    {
      ...operator.get,
      path: '/grants',
      summary: 'List grants: calls that are allowed or refused without asking',
      describe: () => ({
        tag,
        description: 'Calls that are allowed or refused without asking, because an operator or owner said so.',
        query: { agent: z.string().optional(), session_id: z.string().optional() },
        responses: { 200: listOf('grants', GrantSchema, 'The grants that have not expired, oldest first.') },
        errors: ['malformed_id', 'storage_failed'],
      }),
      handle: grants,
    },
    {
      ...operator.del,
      path: '/grants/:id',
      summary: 'Revoke a grant',
      describe: () => ({
        tag,
        description: 'The next such call asks again.',
        params: { id: z.string().describe('Id of the grant.') },
        responses: { 204: { description: 'The grant is revoked.' } },
        errors: ['forbidden', 'grant_not_found', 'storage_full', 'storage_failed'],
      }),
      handle: revoke,
    },
  ]
}

function fileOf(all: ProposedDiff, path: string) {
  if (all.file !== undefined) return all.file(path)
  throw queryProblem({ pointer: 'path', detail: 'This approval is about one file. Ask without a path.' })
}

const encode = (request: Request, approval: Approval) => encodeRecord(approval, { isMasked: isConsole(request) })

function notThere(error: unknown): never {
  if (!(error instanceof ServerError) || error.code !== 'approval_not_found') throw error
  throw queryProblem({ pointer: 'before', detail: 'Send the approval_id of the last approval of the previous page.' })
}
