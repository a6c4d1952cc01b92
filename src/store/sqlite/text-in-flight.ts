import type { DatabaseSync } from 'node:sqlite'

/** Consecutive entries of one run, as packed lines. */
interface TextPiece {
  sid: number
  firstSeq: number
  count: number
  runId: string
  data: string
}

/** The text that is only in `tail` so far, in order. A consumer may move a piece to `entries` before it asks for the next one. */
export function* textInFlight(db: DatabaseSync): Generator<TextPiece> {
  // A missing run was deleted with its session, after its text had moved to `entries`.
  const headOf = db.prepare(
    'SELECT (SELECT max(last_seq) FROM entries WHERE entries.sid = runs.sid) AS head FROM runs WHERE id = ? AND sid = ?',
  )
  const heads = new Map<string, number>()
  const head = (runId: string, sid: number): number => {
    const known = heads.get(runId)
    if (known !== undefined) return known
    const row = headOf.get(runId, sid)
    return row === undefined ? Number.POSITIVE_INFINITY : Number(row.head ?? 0)
  }
  for (const row of db.prepare('SELECT data FROM tail ORDER BY tid').all()) {
    const lines = String(row.data).split('\n')
    for (let i = 0; i < lines.length; ) {
      const [sid = '', first, length, runId = ''] = (lines[i] ?? '').slice(1).split(' ')
      const [firstSeq, count] = [Number(first), Number(length)]
      const body = lines.slice(i + 1, i + 1 + count)
      i += 1 + count
      // A segment moves as a whole, so a piece is in `entries` completely or not at all.
      if (firstSeq <= head(runId, Number(sid))) continue
      yield { sid: Number(sid), firstSeq, count, runId, data: body.join('\n') }
      heads.set(runId, firstSeq + count - 1)
    }
  }
}
