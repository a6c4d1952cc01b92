import { type LastWords, type MessageReads, MOST_ASIDE_CHARS, MOST_ASIDES } from '../../ports/messages.ts'
import {
  charsOf,
  createMessageLists,
  lastWordsOf,
  type MessageRow,
  messageColumns,
  messageStatements,
  placeOf,
  takeChars,
  toMessage,
  type WordsRow,
  wordsIn,
} from '../../tables/messages.ts'
import type { Reading, Statement } from '../../tables/statement.ts'
import { bytesFor, isEverything, withinBytes } from './bounded-rows.ts'

export const MESSAGE_COLUMNS = messageColumns('ord')

const lists = messageStatements('session = $1', 'session', 'ord')
export const { known: knownMessages, marks: messageMarks } = lists

/** More than any place in the table. */
const END = Number.MAX_SAFE_INTEGER

/** At most `$3` of these messages and about `$4` bytes, newest first. */
const newestOf = (messages: string): string =>
  withinBytes({
    rows: `SELECT ${MESSAGE_COLUMNS} ${messages} ORDER BY ord DESC LIMIT $3`,
    columns: MESSAGE_COLUMNS,
    bytes: 'octet_length(content) + coalesce(octet_length(extra), 0)',
    order: 'ord DESC',
    limit: '$4',
  })

const SHOWN = 'FROM messages WHERE session = $1 AND superseded_by IS NULL AND lane IS NULL'

/** Before the place `$2`. */
const shown: Statement = { name: 'messages_shown', text: newestOf(`${SHOWN} AND ord < $2`) }

const asides: Statement = {
  name: 'messages_asides',
  text: newestOf(
    'FROM messages WHERE session = $1 AND superseded_by IS NULL AND lane IS NOT NULL AND ord < $2 AND ord > $5',
  ),
}

const placeOfId: Statement = {
  name: 'message_place',
  text: 'SELECT ord FROM messages WHERE session = $1 AND id = $2',
}

const laterUserMessage: Statement = {
  name: 'message_of_user_after',
  text: `SELECT 1 ${SHOWN} AND role = 'user'
    AND ord > (SELECT ord FROM messages WHERE session = $1 AND id = $2) ORDER BY ord LIMIT 1`,
}

const lastBefore = (role: 'user' | 'assistant', after: string): string =>
  lastWordsOf(role, {
    where: `session = wanted.session AND superseded_by IS NULL AND lane IS NULL AND created_at <= wanted.at AND ord > ${after}`,
    place: 'ord',
  })

const lastWords: Statement = {
  name: 'messages_last_words',
  text: `SELECT by_user.*, by_agent.* FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS wanted (session, at, nth)
    LEFT JOIN LATERAL (${lastBefore('user', '0')}) AS by_user ON true
    LEFT JOIN LATERAL (${lastBefore('assistant', 'coalesce(by_user.ord, 0)')}) AS by_agent ON true
    ORDER BY nth`,
}

export function createMessageReads(reading: Reading): MessageReads {
  const { one, many } = reading
  const asRead = (row: MessageRow): MessageRow => row
  const shownRows = many(shown, asRead)
  const asideRows = many(asides, asRead)
  const placeOfMessage = one(placeOfId, ([place]: [number]) => place)
  const words = many(lastWords, (row: [...WordsRow, ...WordsRow]): LastWords => {
    const [userPlace, user, isUserStructured, agentPlace, agent, isAgentStructured] = row
    return {
      user: wordsIn([userPlace, user, isUserStructured]),
      agent: wordsIn([agentPlace, agent, isAgentStructured]),
    }
  })
  const later = one(laterUserMessage, () => true)

  /** Reads on until there are `limit` messages or `maxChars` characters. It takes the message with which there are enough. */
  async function newest(sessionId: string, before: number, limit: number, maxChars: number): Promise<MessageRow[]> {
    const found: MessageRow[] = []
    let chars = 0
    let below = before
    while (found.length < limit && (found.length === 0 || chars < maxChars)) {
      const asked = { rows: limit - found.length, bytes: bytesFor(maxChars - chars) }
      const rows = await shownRows(sessionId, below, asked.rows, asked.bytes)
      const got = { rows: rows.length, chars: 0 }
      for (const row of rows) {
        found.push(row)
        got.chars += charsOf(row)
        below = placeOf(row)
      }
      if (isEverything(got, asked)) break
      chars += got.chars
    }
    return found
  }

  return {
    async page(sessionId, limit, { before, maxChars = Number.POSITIVE_INFINITY, asides: withAsides = false } = {}) {
      const place = before === undefined ? END : await placeOfMessage(sessionId, before)
      if (place === null) return []
      const found = await newest(sessionId, place, limit, maxChars)
      const oldest = found.at(-1)
      if (withAsides && oldest !== undefined) {
        const others = await asideRows(sessionId, place, MOST_ASIDES, MOST_ASIDE_CHARS, placeOf(oldest))
        found.push(...takeChars(others, MOST_ASIDE_CHARS))
        found.sort((a, b) => placeOf(b) - placeOf(a))
      }
      return found.reverse().map(toMessage)
    },
    ...createMessageLists(reading, lists),
    async lastWords(of) {
      if (of.length === 0) return []
      return words(
        of.map(({ sessionId }) => sessionId),
        of.map(({ at }) => at),
      )
    },
    userSpokeAfter: async (sessionId, messageId) => (await later(sessionId, messageId)) !== null,
  }
}
