// For operators: what waits for a person, as a list and as a stream.

import { z } from 'zod'
import { risks } from '../../../domain/agent/tool-settings.ts'
import { isoTime } from '../../../domain/clock.ts'
import { parseUuid, ulidOf } from '../../../domain/ids.ts'
import type { PersonRecord } from '../../../domain/records/record.ts'
import { personKinds, recordKinds, wireKinds, wireStatus } from '../../../domain/records/record-kinds.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Feed } from '../../../engine/feed.ts'
import { answer } from '../../../http/describe-answer.ts'
import { isConsole, type Reply, type Request, type Route } from '../../../http/route.ts'
import { type Inbox, type InboxPage, type InboxPlace, isInboxItem } from '../../../supervision/inbox/inbox.ts'
import { risksByUrgency } from '../../../supervision/inbox/urgency.ts'
import type { WhoLooks } from '../../../supervision/inbox/who-looks.ts'
import type { ReadScenes } from '../../../supervision/records/record-scenes.ts'
import { callerOf } from '../../shared/request/caller.ts'
import {
  agentIn,
  decodePage,
  linked,
  nextLink,
  parsePlace,
  printPlace,
  queryProblem,
  refusePlace,
  textIn,
  wordIn,
} from '../../shared/request/page.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { feedId, takenView } from '../events/feed-view.ts'
import { cursorHeaders, cursorOf, cursorQuery, feedStream, feedTag, openStream } from '../events/routes.ts'
import { FeedCursorSchema, FeedErrorSchema, FeedItemSchema, FeedTakenSchema } from '../events/schema.ts'
import { streamFeed } from '../events/stream-feed.ts'
import type { Look } from '../records/kind-on-wire.ts'
import { createRecordViews, encodeRecord } from '../records/kinds-on-wire.ts'
import type { RecordView } from '../records/schema.ts'
import { decodeBody, decodeOwner, decodeSession } from '../supervision/decode.ts'
import { NoBodySchema } from '../supervision/schema.ts'
import { type InboxItem, InboxSchema, type Taken, TakenSchema } from './schema.ts'

export interface InboxRoutesDeps {
  engine: Pick<Engine, 'runs' | 'sessions'>
  feed: Feed
  inbox: Inbox
  whoLooks: WhoLooks
  readScenes: ReadScenes
}

const PAGE = { max: 100, fallback: 50 }
const MOST_FOLDER = 4_096
const MOST_TEXT = 200

export function createInboxRoutes({ engine, feed, inbox, whoLooks, readScenes }: InboxRoutesDeps): Route[] {
  const recordViews = createRecordViews(readScenes)

  const others = (request: Request) => whoLooks.besides(callerOf(request).user)

  /** Who else looks at an item. */
  function takenBy(request: Request): (id: string | null) => Taken['taken_by'] {
    const looks = others(request).list()
    return (id) => {
      const look = looks.find((one) => one.id === id)
      return look === undefined ? null : takenView(look)
    }
  }

  async function list(request: Request, reply: Reply): Promise<void> {
    const { limit, before } = decodePage(request, PAGE)
    const filter = filterOf(request)
    const place = before === undefined ? {} : { before: placeIn(before, filter) }
    const { items, next, cursor, counts } = await inbox.list(callerOf(request), { limit, ...place, ...filter })
    const link = nextLink('/inbox', request.query, next === null ? null : printInboxPlace(next))
    const views = await recordViews.many(items)
    const isMasked = isConsole(request)
    const taken = takenBy(request)
    const shown = items.map((item) => ({
      ...itemView(item, { view: views(item), isMasked }),
      taken_by: taken(item.id),
    }))
    const total = counts === null ? null : counts.critical + counts.high + counts.low
    reply.json(200, { items: shown, total, counts, cursor: feedId(cursor) }, link)
  }

  async function events(request: Request, reply: Reply): Promise<void> {
    const cursor = cursorOf(request)
    if (cursor !== null) await feed.assertKept(cursor.feed)
    const after = cursor?.feed ?? (await feed.head())
    const stream = { after, sessions: [], wants: isInboxItem, looks: others(request), owner: request.principal.owner }
    await streamFeed({ feed, engine }, stream, openStream(request, reply))
  }

  async function take(request: Request, reply: Reply): Promise<void> {
    await decodeBody(request, NoBodySchema)
    const { id = '' } = request.params
    await whoLooks.take(id, callerOf(request).user)
    reply.json(200, { taken_by: takenBy(request)(parseUuid(id)) })
  }

  async function leave(request: Request, reply: Reply): Promise<void> {
    whoLooks.leave(request.params.id ?? '', callerOf(request).user)
    reply.empty(204)
  }

  const { post, del } = routeHeads(null, 'operator')
  const params = { id: z.string().describe('Id of the item.') }
  const shared = { method: 'GET', door: null, role: 'operator', body: 'none' } as const
  return [
    {
      ...shared,
      path: '/inbox',
      summary: 'Everything that waits or waited for a person',
      describe: () => ({
        tag: feedTag,
        description:
          'Everything that waits for a person, in all sessions: by risk, then by the time that is left, then by how long the agent has stood still. With `status=done` what nobody has to answer any more, the last decided first. Filters look at all of it, not only at a page.',
        query: {
          status: z.enum(['waiting', 'done']).optional().describe('`waiting` when left out.'),
          kind: z.enum(wireKinds).optional(),
          owner: z.string().optional().describe('Only in sessions of this owner.'),
          session: z.string().optional().describe('Only in this session: a UUID or a ULID.'),
          risk: z.enum(risks).optional().describe('Only of this risk. What is no approval counts as high.'),
          agent: z.string().max(128).optional().describe('Only of this agent, or of agents in this host.'),
          folder: z
            .string()
            .max(MOST_FOLDER)
            .optional()
            .describe('Only of agents that work in this folder: a path, or the end of one.'),
          q: z
            .string()
            .max(MOST_TEXT)
            .optional()
            .describe(
              'Only with this text in the title, the gist, the id, or the name of the agent, tool, owner, folder or session.',
            ),
          age: z.coerce
            .number()
            .int()
            .min(0)
            .optional()
            .describe('Only what has waited for at least this many seconds.'),
          limit: z.coerce.number().int().min(1).max(100).optional().describe('50 when left out.'),
          before: z.string().optional().describe('Where the page before ended; comes in the Link header.'),
        },
        responses: {
          200: linked(answer('What waits, or what is done.', InboxSchema), 'The next page, if there is one.'),
        },
        errors: ['invalid_request', 'storage_failed'],
      }),
      handle: list,
    },
    {
      ...shared,
      path: '/inbox/events',
      summary: 'Changes of the inbox: live, with resume',
      describe: () => ({
        tag: feedTag,
        description:
          'The feed, and of it only what waits for a person. Go on from the `cursor` of `GET /inbox`: nothing is missed, nothing comes twice.',
        query: cursorQuery,
        headers: cursorHeaders,
        responses: {
          200: feedStream(
            'The items of the inbox that are new or have a new status.',
            z.union([FeedItemSchema, FeedTakenSchema, FeedCursorSchema, FeedErrorSchema]),
          ),
        },
        errors: ['malformed_id', 'events_gone', 'storage_failed'],
      }),
      handle: events,
    },
    {
      ...post,
      path: '/inbox/:id/take',
      summary: 'Take an item',
      describe: () => ({
        tag: feedTag,
        description:
          'Other operators see your name at it for a minute; send it again while you look. It decides nothing and keeps nobody from deciding. It is in no log.',
        params,
        body: { schema: NoBodySchema, examples: { nothing: {} } },
        responses: { 200: answer('Who else looks at it.', TakenSchema) },
        errors: ['invalid_request', 'record_not_found', 'storage_failed'],
      }),
      handle: take,
    },
    {
      ...del,
      path: '/inbox/:id/take',
      summary: 'Leave an item',
      describe: () => ({
        tag: feedTag,
        params,
        responses: { 204: { description: 'Others do not see your name at it any more.' } },
        errors: [],
      }),
      handle: leave,
    },
  ]
}

function filterOf(request: Request): Omit<InboxPage, 'limit' | 'before'> {
  const word = oneOf(request, 'kind', wireKinds)
  const age = request.query.get('age')
  if (age !== null && !/^\d{1,9}$/.test(age)) {
    throw queryProblem({ pointer: 'age', detail: 'Send a whole number of seconds.' })
  }
  return {
    owner: decodeOwner(request),
    sessionId: decodeSession(request),
    kind: personKinds.find((one) => recordKinds[one].wire.kind === word),
    risk: oneOf(request, 'risk', risks),
    status: oneOf(request, 'status', ['waiting', 'done'] as const),
    minAgeMs: age === null ? undefined : Number(age) * 1_000,
    agent: agentIn(request.query),
    folder: textIn(request.query, 'folder', MOST_FOLDER),
    q: textIn(request.query, 'q', MOST_TEXT),
  }
}

/** A place in the order of urgency holds the whole key, so that it is known where to go on when the item is gone. */
function printInboxPlace(place: InboxPlace): string {
  if (!('risk' in place)) return printPlace(place)
  return `${place.risk}.${place.expiresAt ?? 'never'}.${place.stillSince}.${ulidOf(place.id)}`
}

const PLACE = new RegExp(`^(${risksByUrgency.join('|')})\\.(\\d{1,15}|never)\\.(\\d{1,15})\\.(.{1,40})$`)

/** Throws `invalid_request`. */
function placeIn(text: string, { status }: Pick<InboxPage, 'status'>): InboxPlace {
  if (status === 'done') return parsePlace(text)
  const [, word, expires, still, name = ''] = PLACE.exec(text) ?? []
  const risk = risks.find((one) => one === word)
  const id = parseUuid(name)
  if (risk === undefined || id === null) return refusePlace()
  return { risk, expiresAt: expires === 'never' ? null : Number(expires), stillSince: Number(still), id }
}

const oneOf = <Word extends string>({ query }: Request, name: string, words: readonly Word[]): Word | undefined =>
  wordIn(query, name, words, `Send one of ${words.join(', ')}.`)

/** One item of the inbox: what all kinds have, and the record itself under the name of its kind. */
function itemView(
  item: PersonRecord,
  { view, isMasked }: Required<Look> & { view: RecordView },
): Omit<InboxItem, 'taken_by'> {
  const shared = {
    id: item.id,
    session_id: item.sessionId,
    owner: item.owner,
    agent: item.agent,
    title: 'title' in item ? item.title : `${view.title} ${view.gist}`.trimEnd(),
    status: wireStatus(item.wait, item.status),
    risk: item.wait === 'approval' ? item.risk : null,
    tool: item.wait === 'approval' ? item.tool : null,
    host: item.supervised?.host ?? null,
    session_title: view.session.title,
    created_at: isoTime(item.createdAt),
    expires_at: item.expiresAt === null ? null : isoTime(item.expiresAt),
    decided_at: item.decidedAt === null ? null : isoTime(item.decidedAt),
    decided_by: item.decidedBy,
    decided_channel: item.decidedVia,
    view,
  }
  const { kind } = recordKinds[item.wait].wire
  return { ...shared, kind, [kind]: encodeRecord(item, { isMasked }) } as InboxItem
}
