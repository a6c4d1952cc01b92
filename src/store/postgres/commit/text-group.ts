// Text in flight: most commands are a few tokens of a model. A group of nothing else is one statement, which checks the fences, takes
// the seqs and writes the entries of all sessions.

import type { Result } from '../../ports/command.ts'
import type { AppendEntries } from '../../ports/runs.ts'
import { fenced } from '../../rules/run-rules.ts'
import { packLines } from '../../tables/packed-rows.ts'
import type { Statement } from '../../tables/statement.ts'
import { NEXT_NUMBER } from './decision-group.ts'
import { SEQ_BLOCK } from './heads.ts'

/** The text of one run. */
export interface TextRow {
  session: string
  run: string
  fence: number
  count: number
  data: string
}

export type TextGroup = ReturnType<typeof gatherText>

/** Where the text of a row ended up. No answer: the fence is old, and nothing was written. */
export interface TextAnswer {
  lastSeq: number
  ceiling: number
}

/** JSON contains no raw control characters, so this one can stand between the rows. */
export const BETWEEN = '\x1e'

/**
 * `$1` writer, `$2` the number of this transaction. The answer is kept with the number, because the connection may be lost before it
 * arrives.
 */
export const appendText: Statement = {
  name: 'append_text',
  text: `WITH given AS (
      SELECT * FROM unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], string_to_array($7, E'\\x1e'))
        WITH ORDINALITY AS g (session, run, fence, count, data, i)),
    moved AS (
      UPDATE heads SET head = heads.head + given.count,
        ceiling = CASE WHEN heads.head + given.count > heads.ceiling - ${SEQ_BLOCK / 2} THEN heads.head + given.count + ${SEQ_BLOCK} ELSE heads.ceiling END
      FROM given WHERE heads.session = given.session AND heads.run = given.run AND heads.fence = given.fence
      RETURNING given.i, heads.session, heads.run, heads.head, heads.ceiling, given.count, given.data),
    added AS (
      INSERT INTO entries (session, last_seq, first_seq, run_id, data)
      SELECT session, head, head - count + 1, run, data FROM moved),
    answer AS (SELECT coalesce(string_agg(i || ' ' || head || ' ' || ceiling, ','), '') AS text FROM moved)
    INSERT INTO writers (id, n, answer) SELECT $1, $2, text FROM answer
    ON CONFLICT (id) DO UPDATE SET ${NEXT_NUMBER}, at = now(), answer = excluded.answer RETURNING answer`,
}

/**
 * Several commands of one run become one row. `rows` are sorted by session, because every transaction locks sessions in this order.
 * `places` says for each command its row, and how many entries of the row come before its own.
 */
export function gatherText(commands: readonly AppendEntries[]) {
  const rows = new Map<string, TextRow & { pieces: string[] }>()
  const places = commands.map(({ sessionId, runId, fence, entries }) => {
    const key = `${fence} ${runId} ${sessionId}`
    const known = rows.get(key)
    const row = known ?? { session: sessionId, run: runId, fence, count: 0, data: '', pieces: [] }
    if (known === undefined) rows.set(key, row)
    const before = row.count
    row.count += entries.length
    row.pieces.push(packLines(entries))
    return { row, before }
  })
  const sorted = [...rows.values()].sort((a, b) => (a.session < b.session ? -1 : 1))
  for (const row of sorted) row.data = row.pieces.length === 1 ? (row.pieces[0] ?? '') : row.pieces.join('\n')
  return { rows: sorted, places }
}

export const textValues = (writerId: string, n: number, rows: readonly TextRow[]): unknown[] => [
  writerId,
  n,
  rows.map(({ session }) => session),
  rows.map(({ run }) => run),
  rows.map(({ fence }) => fence),
  rows.map(({ count }) => count),
  rows.map(({ data }) => data).join(BETWEEN),
]

/** Reads what the statement says about each row. */
export function readAnswer(rows: readonly TextRow[], text: string): Map<TextRow, TextAnswer> {
  const answers = new Map<TextRow, TextAnswer>()
  if (text === '') return answers
  for (const part of text.split(',')) {
    const [i = 0, lastSeq = 0, ceiling = 0] = part.split(' ').map(Number)
    const row = rows[i - 1]
    if (row !== undefined) answers.set(row, { lastSeq, ceiling })
  }
  return answers
}

export function textResults({ places }: TextGroup, answers: ReadonlyMap<TextRow, TextAnswer>): Result[] {
  return places.map(({ row, before }) => {
    const answer = answers.get(row)
    if (answer === undefined) return { ok: false, error: fenced(row.run) }
    return { ok: true, firstSeq: answer.lastSeq - row.count + 1 + before }
  })
}
