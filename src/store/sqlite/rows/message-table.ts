import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { StoredMessage } from '../../../domain/session/message.ts'
import { type MessageReads, MOST_ASIDE_CHARS, MOST_ASIDES } from '../../ports/messages.ts'
import {
  createMessageLists,
  lastWordsOf,
  type MessageRow,
  messageColumns,
  messageStatements,
  messageValues,
  newMessageColumns,
  onKnownMessage,
  placeOf,
  takeChars,
  toMessage,
  type WordsRow,
  wordsIn,
} from '../../tables/messages.ts'
import { insertRow, type Reading } from '../../tables/statement.ts'
import type { Statements } from '../statements.ts'
import type { SessionIds } from './session-table.ts'

/** Writes the rows of messages. */
export function createMessageRows({ run }: Statements) {
  const columns = Object.keys({ sid: null, ...newMessageColumns }).join(', ')
  const insert = run(`${insertRow('messages', columns).text} ${onKnownMessage('sid')}`)
  // Two statements, one for each index: the session's own messages, and those of sub-agents.
  const supersedeWhere = (condition: string) =>
    run(
      `UPDATE messages SET superseded_by = $3 WHERE sid = $1 AND superseded_by IS NULL AND ${condition} > ifnull((SELECT mid FROM messages WHERE sid = $1 AND id = $2), 0)`,
    )
  const supersedeLanes = supersedeWhere('lane IS NOT NULL AND +mid')
  const supersede = supersedeWhere('lane IS NULL AND mid')

  return {
    insert(sid: number, messages: readonly StoredMessage[]): void {
      for (const message of messages) insert(sid, ...messageValues(message))
    },
    supersede(sid: number, after: string, byRun: string): void {
      supersedeLanes(sid, after, byRun)
      supersede(sid, after, byRun)
    },
  }
}

const SELECT_MESSAGES = `SELECT ${messageColumns('mid')} FROM messages`
const SHOWN = 'sid = ?1 AND superseded_by IS NULL AND lane IS NULL'
const OF_SESSION = 'sid = (SELECT sid FROM sessions WHERE id = $1)'
const SESSION_ID = '(SELECT id FROM sessions WHERE sessions.sid = messages.sid)'
/** What follows this message. */
const AFTER = 'mid > (SELECT mid FROM messages WHERE sid = ?1 AND id = ?2)'
export const LAST_USER_MESSAGE = `SELECT id FROM messages WHERE ${SHOWN} AND role = 'user' ORDER BY mid DESC LIMIT 1`
export const NEWEST_OF_LANE =
  'SELECT id FROM messages WHERE sid = ?1 AND lane = ?2 AND superseded_by IS NULL ORDER BY mid DESC LIMIT 1'
/** Without such a message, of all of them. */
export const ROLES_AFTER = `SELECT role FROM messages WHERE ${SHOWN} AND mid > ifnull((SELECT mid FROM messages WHERE sid = ?1 AND id = ?2), 0)`

export function createMessageReads(db: DatabaseSync, sid: SessionIds, reading: Reading): MessageReads {
  function rows(text: string): StatementSync {
    const statement = db.prepare(text)
    statement.setReturnArrays(true)
    return statement
  }
  const newestMessages = rows(`${SELECT_MESSAGES} WHERE ${SHOWN} ORDER BY mid DESC LIMIT ?2 + 0`)
  const olderMessages = rows(
    `${SELECT_MESSAGES} WHERE ${SHOWN} AND mid < (SELECT mid FROM messages WHERE sid = ?1 AND id = ?3) ORDER BY mid DESC LIMIT ?2 + 0`,
  )
  // The + makes SQLite use the index of lanes, which is empty for most sessions.
  const asides = rows(
    `${SELECT_MESSAGES} WHERE sid = ?1 AND lane IS NOT NULL AND superseded_by IS NULL
     AND +mid > ?2 AND +mid < ifnull((SELECT mid FROM messages WHERE sid = ?1 AND id = ?3), 9e18) ORDER BY +mid DESC LIMIT ?4 + 0`,
  )
  const laterUserMessage = db.prepare(`SELECT 1 FROM messages WHERE ${SHOWN} AND role = 'user' AND ${AFTER} LIMIT 1`)
  const lastOf = (role: 'user' | 'assistant') =>
    rows(lastWordsOf(role, { where: `${SHOWN} AND created_at <= ?2 AND mid > ?3`, place: 'mid' }))
  const [lastOfUser, lastOfAgent] = [lastOf('user'), lastOf('assistant')]
  const read = (statement: StatementSync, ...values: (string | number | null)[]) =>
    statement.iterate(...values) as Iterable<unknown> as Iterable<MessageRow>

  return {
    async page(sessionId, limit, { before, maxChars = Number.POSITIVE_INFINITY, asides: withAsides = false } = {}) {
      const id = sid(sessionId)
      if (id === null) return []
      const values = before === undefined ? [id, limit] : [id, limit, before]
      const found = takeChars(read(before === undefined ? newestMessages : olderMessages, ...values), maxChars)
      const oldest = found.at(-1)
      if (withAsides && oldest !== undefined) {
        found.push(...takeChars(read(asides, id, placeOf(oldest), before ?? null, MOST_ASIDES), MOST_ASIDE_CHARS))
        found.sort((a, b) => placeOf(b) - placeOf(a))
      }
      return found.reverse().map(toMessage)
    },
    ...createMessageLists(reading, messageStatements(OF_SESSION, SESSION_ID, 'mid')),
    async lastWords(of) {
      return of.map(({ sessionId, at }) => {
        const id = sid(sessionId)
        if (id === null) return { user: null, agent: null }
        const last = (statement: StatementSync, after: number) =>
          (statement.get(id, at, after) as WordsRow | undefined) ?? null
        const user = last(lastOfUser, 0)
        const agent = last(lastOfAgent, user?.[0] ?? 0)
        return { user: user && wordsIn(user), agent: agent && wordsIn(agent) }
      })
    },
    async userSpokeAfter(sessionId, messageId) {
      const id = sid(sessionId)
      return id !== null && laterUserMessage.get(id, messageId) !== undefined
    },
  }
}
