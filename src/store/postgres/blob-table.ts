// The bytes of attached files as rows. Parts are named by the hash of the whole and their place in it, so processes that put the same bytes
// at once write the same rows, and no transaction has to hold them together. The row in `blobs` says that all parts are there.

import { ServerError } from '../../domain/errors.ts'
import type { SharedBlobs } from '../../domain/shared-blobs.ts'
import { NOW, type Sql } from './sql.ts'

/** Never change it: the parts of one file may come from processes of two versions. */
const PART_BYTES = 1024 * 1024
const HASHES_AT_ONCE = 500
/** Somebody may remove what a paused process has half put. It then begins again. */
const TRIES = 3

// Waits for a removal that is under way, and keeps the next one away: the row is young again.
const begin = {
  name: 'blob_begin',
  text: `INSERT INTO blobs (sha256, bytes, created_at) VALUES ($1, -1, ${NOW})
    ON CONFLICT (sha256) DO UPDATE SET created_at = ${NOW} RETURNING bytes`,
}
const addPart = {
  name: 'blob_part',
  text: 'INSERT INTO blob_parts (sha256, n, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
}
const end = {
  name: 'blob_end',
  text: `UPDATE blobs SET bytes = $2, created_at = ${NOW} WHERE sha256 = $1
    AND (SELECT count(*) = $3 AND sum(octet_length(data)) = $2 FROM blob_parts WHERE sha256 = $1) RETURNING bytes`,
}
const find = { name: 'blob_find', text: 'SELECT bytes FROM blobs WHERE sha256 = $1 AND bytes >= 0' }
const part = { name: 'blob_read', text: 'SELECT data FROM blob_parts WHERE sha256 = $1 AND n = $2' }
const list = { name: 'blob_list', text: 'SELECT sha256 FROM blobs WHERE sha256 > $1 ORDER BY sha256 LIMIT $2' }
const remove = {
  name: 'blob_remove',
  text: `WITH gone AS (DELETE FROM blobs WHERE sha256 = $1 AND created_at < ${NOW} - $2 RETURNING sha256),
      parts AS (DELETE FROM blob_parts USING gone WHERE blob_parts.sha256 = gone.sha256)
    SELECT 1 FROM gone`,
}

/** Every statement may be repeated, so `sql` may ask again after a lost connection. It must sync its commits. */
export function createPostgresBlobs(sql: Sql): SharedBlobs {
  async function putOnce(sha256: string, bytes: number, content: () => AsyncIterable<Uint8Array>): Promise<boolean> {
    const [[known] = [-1]] = await sql.rows<[number]>(begin, [sha256])
    if (known >= 0) return true
    let n = 0
    for await (const data of partsOf(content())) {
      await sql.rows(addPart, [sha256, n, data])
      n += 1
    }
    return (await sql.rows(end, [sha256, bytes, n])).length > 0
  }

  return {
    async put(sha256, bytes, content) {
      for (let tries = 0; tries < TRIES; tries += 1) if (await putOnce(sha256, bytes, content)) return
      throw new ServerError('storage_failed', 'The file was not saved: its parts in the database do not fit together.')
    },
    async *get(sha256) {
      const [[bytes] = [0]] = await sql.rows<[number]>(find, [sha256])
      let read = 0
      for (let n = 0; read < bytes; n += 1) {
        const [[data] = [null]] = await sql.rows<[Buffer | null]>(part, [sha256, n])
        if (data === null) return
        read += data.length
        yield data
      }
    },
    has: async (sha256) => (await sql.rows(find, [sha256])).length > 0,
    async *hashes() {
      let after = ''
      for (;;) {
        const page = (await sql.rows<[string]>(list, [after, HASHES_AT_ONCE])).map(([sha256]) => sha256)
        const last = page.at(-1)
        if (last === undefined) return
        yield page
        after = last
      }
    },
    remove: async (sha256, olderMs) => (await sql.rows(remove, [sha256, olderMs])).length > 0,
  }
}

/** The same bytes in parts of one size. Only the last is shorter. */
async function* partsOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = []
  let length = 0
  for await (const chunk of content) {
    let rest = chunk
    while (length + rest.length >= PART_BYTES) {
      const space = PART_BYTES - length
      yield Buffer.concat([...waiting, rest.subarray(0, space)], PART_BYTES)
      rest = rest.subarray(space)
      waiting = []
      length = 0
    }
    // The caller may use its buffer again.
    if (rest.length > 0) waiting.push(Uint8Array.from(rest))
    length += rest.length
  }
  if (length > 0) yield Buffer.concat(waiting, length)
}
