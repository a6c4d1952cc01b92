// The audit trail, for operators.

import { z } from 'zod'
import { isoTime } from '../../../domain/clock.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { ChainState } from '../../../domain/supervision/audit.ts'
import { visibleText } from '../../../domain/text/visible-text.ts'
import { answer, page } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { AuditQuery, AuditTrail, ReadEntry } from '../../../supervision/oversight/audit-trail.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { decodePage, linked, nextLink, older, queryProblem, sessionIn, timeIn } from '../../shared/request/page.ts'
import { type AuditChain, AuditChainSchema, type AuditEntry, AuditEntrySchema } from './schema.ts'

export interface AuditRoutesDeps {
  trail: AuditTrail
  /** The state of the chain. Waits a short time for a check that is under way. */
  chain(waitMs: number): Promise<ChainState>
}

const PAGE = { max: 500, fallback: 100 }
const WAIT_MS = 200
const tag = 'Audit'

export function createAuditRoutes({ trail, chain }: AuditRoutesDeps): Route[] {
  async function list(request: Request, reply: Reply): Promise<void> {
    const { entries, next } = await trail.list(callerOf(request), queryIn(request))
    const link = nextLink('/audit', request.query, next === null ? null : String(next))
    await reply.jsonPieces(200, { entries: entries.map(entryView) }, link)
  }

  async function showChain(_request: Request, reply: Reply): Promise<void> {
    const { brokenAt, checkedAt, chains, lastTie, ...state } = await chain(WAIT_MS)
    const body: AuditChain = {
      ...state,
      broken_at: brokenAt,
      checked_at: checkedAt === null ? null : isoTime(checkedAt),
      last_tie:
        lastTie === null ? null : { chain: lastTie.chain, seq: lastTie.n, hash: lastTie.hash, at: isoTime(lastTie.at) },
      chains: chains.map(({ isWhole, ...one }) => ({ ...one, is_whole: isWhole })),
    }
    await reply.jsonPieces(200, body)
  }

  const shared = { method: 'GET', door: null, role: 'operator', body: 'none' } as const
  return [
    {
      ...shared,
      path: '/audit',
      summary: 'The audit trail, newest first',
      describe: () => ({
        tag,
        description:
          'The audit trail, newest first. Characters that people do not see are marked, as in `<U+202E>`. Reading it is put on record, once an hour. A page may have fewer entries than asked for, or none, while there are more: follow the Link header.',
        query: {
          kind: z.string().optional().describe('Only this kind, or these kinds with commas between.'),
          by: z.string().optional().describe('Only what this person did.'),
          session: z.string().optional().describe('Only about this session: a UUID or a ULID.'),
          since: z.string().optional().describe('Only at or after this time, ISO 8601.'),
          until: z.string().optional().describe('Only at or before this time, ISO 8601.'),
          limit: z.coerce.number().int().min(1).max(500).optional().describe('100 when left out.'),
          before: z.coerce
            .number()
            .int()
            .min(1)
            .optional()
            .describe('Only entries before this `seq`; comes in the Link header.'),
        },
        responses: { 200: linked(page('entries', AuditEntrySchema, 'A page of entries.'), older('entries')) },
        errors: ['invalid_request', 'storage_full', 'storage_failed'],
      }),
      handle: list,
    },
    {
      ...shared,
      path: '/audit/chain',
      summary: 'Whether the audit trail is whole',
      describe: () => ({
        tag,
        description:
          'Whether the audit trail is whole. The server checks it in the background, from the entry that it checked last. It cannot notice that the newest entries were cut off while it did not run: compare `head` with a copy that you keep elsewhere.',
        responses: { 200: answer('The state of the check.', AuditChainSchema) },
        errors: ['storage_failed'],
      }),
      handle: showChain,
    },
  ]
}

function queryIn(request: Request): AuditQuery {
  const { query } = request
  const { limit, before } = decodePage(request, PAGE)
  return {
    limit,
    kinds: query.get('kind')?.split(','),
    by: query.get('by') ?? undefined,
    session: sessionIn(query, 'Send the id of a session: a UUID or a ULID.'),
    since: timeIn(query, 'since'),
    until: timeIn(query, 'until'),
    before: before === undefined ? undefined : seqIn(before),
  }
}

function seqIn(before: string): number {
  const seq = /^\d{1,15}$/.test(before) ? Number(before) : 0
  if (seq > 0) return seq
  throw queryProblem({ pointer: 'before', detail: 'Send what came in the Link header of the page before.' })
}

/** Names come from agents and their clients, so hidden characters are marked. */
function entryView({ seq, hash, record }: ReadEntry): AuditEntry {
  const details = isRecord(record.details) ? record.details : {}
  return {
    seq,
    at: timeOf(record.at),
    kind: textOf(record.kind),
    by: textOf(record.by),
    session_id: nameOf(record.session),
    run_id: nameOf(record.run),
    agent: textOf(record.agent),
    tool: textOf(record.tool),
    call_id: nameOf(record.call),
    details: Object.fromEntries(
      Object.entries(details).map(([name, value]) => [
        visibleText(name),
        typeof value === 'string' ? visibleText(value) : value,
      ]),
    ),
    hash,
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? visibleText(value) : '')
const nameOf = (value: unknown): string | null => (typeof value === 'string' ? visibleText(value) : null)

const timeOf = (at: unknown): string | null =>
  typeof at === 'number' && Number.isFinite(new Date(at).getTime()) ? isoTime(at) : null
