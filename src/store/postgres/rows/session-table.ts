import { textOf } from '../../../domain/session/message.ts'
import { activityOf, type SessionOverview, titleOf } from '../../../domain/session/session-overview.ts'
import { type SupervisedStatus, type Supervision, supervisedStatuses } from '../../../domain/supervision/supervision.ts'
import type { SessionReads } from '../../ports/sessions.ts'
import type { SupervisedReads } from '../../ports/supervised.ts'
import { activityConditions, OPEN_RECORD, OPEN_RECORD_OF_ANY_KIND } from '../../tables/conditions.ts'
import { type MessageRow, toMessage } from '../../tables/messages.ts'
import { OPEN } from '../../tables/runs.ts'
import { createSessionLists, LISTED_COLUMNS, SESSION_COLUMNS, toSession } from '../../tables/sessions.ts'
import { asked, type Reading, type Statement, select } from '../../tables/statement.ts'
import type { Sql } from '../sql.ts'
import { knownMessages, MESSAGE_COLUMNS } from './message-table.ts'
import { aliasId, sessionOfRoute } from './route.ts'

/** The id of the alias is `aliasId`. */
export const sessionByAlias: Statement = {
  name: 'session_by_alias',
  text: `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ${sessionOfRoute('alias', '$1')}`,
}

const toCompact: Statement = {
  name: 'sessions_to_compact',
  text: `SELECT id FROM sessions WHERE NOT compacted AND last_activity < $1 AND status <> 'terminated'
    AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session = sessions.id AND runs.${OPEN})
    ORDER BY last_activity LIMIT $2`,
}

export function createSessionReads(sql: Sql, reading: Reading): SessionReads {
  const { one, many } = reading
  const byAlias = one(sessionByAlias, toSession)

  return {
    ...createSessionLists(reading, WITH_ACTIVITY),
    byAlias: (owner, alias) => byAlias(aliasId(owner, alias)),
    overview: createOverviews(sql),
    toCompact: many(toCompact, ([id]: [string]) => id),
  }
}

export function createSupervisedSessions({ list }: Reading): SupervisedReads['sessions'] {
  const found = list('supervised_list', toSession)
  return ({ owner, workspaceRoot, tokenId, mcpConnection, connectionFrom, statuses = supervisedStatuses, limit }) =>
    found(
      select(
        `SELECT ${LISTED_COLUMNS} FROM sessions`,
        [
          ['supervised_status IS NOT NULL AND NOT unlisted'],
          // All statuses are not a condition, so the list is read in its order.
          statuses !== supervisedStatuses && ['supervised_status = ANY($::text[])', statuses],
          asked('owner = $', owner),
          asked('workspace = $', workspaceRoot),
          asked('token_id = $', tokenId),
          asked('$ = ANY(mcp_ids)', mcpConnection),
          asked("starts_with(supervision::json ->> 'connectionId', $)", connectionFrom),
        ],
        { order: 'last_activity DESC, id DESC', limit },
      ),
    )
}

const WITH_ACTIVITY = activityConditions({
  supervised: 'supervised_status',
  running: (is) => `id ${is} (SELECT session FROM runs WHERE status = 'running')`,
  queued: (is) => `id ${is} (SELECT session FROM runs WHERE status = 'queued')`,
  waiting: (is) => `id ${is} (SELECT session FROM waits WHERE ${OPEN_RECORD_OF_ANY_KIND})`,
  failure: 'failure',
})

type OverviewRow = [
  id: string,
  tokens: number,
  supervised: SupervisedStatus | null,
  supervision: string | null,
  running: boolean,
  queued: boolean,
  pending: number,
  title: string | null,
  failure: string | null,
  ...first: MessageRow,
]

/** All sessions of a page may begin with a message of megabytes. Those are read one by one. */
const SHORT_CONTENT = MESSAGE_COLUMNS.replace('content', 'CASE WHEN octet_length(content) <= 65536 THEN content END')

/** A conversation begins with what its user says, or with a few words to the model before it. */
const overview: Statement = {
  name: 'sessions_overview',
  text: `SELECT sessions.id, tokens, supervised_status, supervision,
      EXISTS (SELECT 1 FROM runs WHERE runs.session = sessions.id AND runs.status = 'running' AND runs.${OPEN}),
      EXISTS (SELECT 1 FROM runs WHERE runs.session = sessions.id AND runs.status = 'queued' AND runs.${OPEN}),
      (SELECT count(*) FROM waits WHERE waits.session = sessions.id AND waits.${OPEN_RECORD}),
      sessions.title, sessions.failure, first.*
    FROM unnest($1::text[]) WITH ORDINALITY AS wanted (id, place) JOIN sessions ON sessions.id = wanted.id
    LEFT JOIN LATERAL (
      SELECT ${SHORT_CONTENT} FROM (
        SELECT ${MESSAGE_COLUMNS} FROM messages
        WHERE session = sessions.id AND superseded_by IS NULL AND lane IS NULL ORDER BY ord LIMIT 10) AS beginning
      WHERE role = 'user' ORDER BY ord LIMIT 1) AS first
      ON (supervised_status IS NULL OR (supervision::json -> 'hosted') IS NOT NULL) AND sessions.title IS NULL
    WHERE sessions.status <> 'terminated' ORDER BY place`,
}

function createOverviews(sql: Sql): SessionReads['overview'] {
  /** Without a message, all its columns are null. */
  async function wordsOf(session: string, first: MessageRow): Promise<string | null> {
    const [messageId, , , , content]: unknown[] = first
    if (messageId === null) return null
    const [row] = content === null ? await sql.rows<MessageRow>(knownMessages, [session, [messageId]]) : [first]
    return row === undefined ? null : textOf(toMessage(row).content)
  }

  return async (ids) => {
    if (ids.length === 0) return []
    const overviews: SessionOverview[] = []
    for (const row of await sql.rows<OverviewRow>(overview, [ids])) {
      const [id, tokens, supervised, supervision, isRunning, hasQueued, pending, title, failure, ...first] = row
      const elsewhere = supervision === null ? null : (JSON.parse(supervision) as Supervision)
      const words = (await wordsOf(id, first)) ?? elsewhere?.title ?? ''
      const activity = activityOf({ supervised, isRunning, hasQueued, pending, failure })
      overviews.push({ id, title: title ?? titleOf(words), activity, failure, pending, tokens, elsewhere })
    }
    return overviews
  }
}
