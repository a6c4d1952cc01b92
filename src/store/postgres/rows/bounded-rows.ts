// Reads of rows that may be long or short, in few round trips and without filling the memory.

/** A read brings at most about so much text. */
export const MOST_BYTES = 1024 * 1024

/**
 * The rows of a query (an alias `rows` with these columns), in this order, up to the one with which there are `limit` bytes. `bytes` is
 * the size of a row as an expression. Postgres knows the size of a long text without reading it.
 */
export const withinBytes = (parts: {
  rows: string
  columns: string
  bytes: string
  order: string
  limit: string
}): string =>
  `SELECT ${parts.columns} FROM (
     SELECT *, sum(${parts.bytes}) OVER (ORDER BY ${parts.order}) - (${parts.bytes}) AS bytes_before FROM (${parts.rows}) AS rows) AS counted
   WHERE bytes_before < ${parts.limit} ORDER BY ${parts.order}`

/** How many bytes to ask for, if the caller wants so many characters more. Text has no fewer bytes than characters. */
export const bytesFor = (chars: number): number => Math.min(MOST_BYTES, Math.max(1, chars))

/** Whether a read that was bounded by rows and bytes has certainly got everything. Saves a read that finds nothing. */
export const isEverything = (got: { rows: number; chars: number }, asked: { rows: number; bytes: number }): boolean =>
  got.rows === 0 || (got.rows < asked.rows && got.chars * MOST_BYTES_OF_A_UNIT < asked.bytes)

/** UTF-8 needs three bytes for a UTF-16 unit, or fewer. */
const MOST_BYTES_OF_A_UNIT = 3
