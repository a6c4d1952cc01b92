// Knowledge in Postgres: one server indexes, and all search. Writes are transactions on a connection of their own, each with a lock on its
// index, so the counts stay exact also if two servers write by accident.

import { refuseLongPath, refuseOtherDimensions, unknownDocument } from '../../knowledge-refusals.ts'
import type { KnowledgeStore, KnownFile, NewDocument, NewPassage, NewVector } from '../../ports/knowledge.ts'
import type { Statement } from '../../tables/statement.ts'
import type { Connection, Settings } from '../connection/connect.ts'
import type { Database } from '../connection/database.ts'
import { databaseError } from '../connection/database-error.ts'
import { createKnowledgeReads, hexOf, type PassageData, storedTerms } from './knowledge-reads.ts'

/** To clear a large index takes long. */
const PATIENCE_MS = 10 * 60_000

/** What a crash of Postgres takes is read again. Plans use the indexes, whatever the statistics say, which lag behind. */
const settings: Settings = {
  statement_timeout: PATIENCE_MS,
  lock_timeout: 60_000,
  idle_in_transaction_session_timeout: 10_000,
  default_transaction_isolation: 'read committed',
  synchronous_commit: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
}

const statements = {
  lock: { name: 'knowledge_lock', text: 'SELECT n FROM knowledge_indexes WHERE name = $1 FOR UPDATE' },
  make: {
    name: 'knowledge_make',
    text: 'INSERT INTO knowledge_indexes (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING n',
  },
  count: {
    name: 'knowledge_count',
    text: `UPDATE knowledge_indexes SET files = files + $2, problems = problems + $3, passages = passages + $4,
      length = length + $5, embedded = embedded + $6 WHERE n = $1`,
  },
  fileOf: {
    name: 'knowledge_file',
    text: 'SELECT document, problem FROM knowledge_files WHERE idx = $1 AND path = $2',
  },
  putFile: {
    name: 'knowledge_put_file',
    text: `INSERT INTO knowledge_files (idx, path, bytes, changed, document, problem) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (idx, path) DO UPDATE SET bytes = excluded.bytes, changed = excluded.changed, document = excluded.document,
        problem = excluded.problem`,
  },
  removeFiles: {
    name: 'knowledge_remove_files',
    text: 'DELETE FROM knowledge_files WHERE idx = $1 AND path = ANY($2::text[]) RETURNING document, problem',
  },
  documentOf: {
    name: 'knowledge_document',
    text: 'SELECT document FROM knowledge_documents WHERE idx = $1 AND name = $2',
  },
  addDocument: {
    name: 'knowledge_add_document',
    text: 'INSERT INTO knowledge_documents (idx, name, language) VALUES ($1, $2, $3) RETURNING document',
  },
  passagesOf: {
    name: 'knowledge_passages',
    text: 'SELECT id, passage FROM knowledge_passages WHERE idx = $1 AND id = ANY($2::text[])',
  },
  addPassage: {
    name: 'knowledge_add_passage',
    text: `WITH added AS (INSERT INTO knowledge_passages (idx, id, digest, length, terms, counts)
        VALUES ($1, $2, $3, $4, $5, $6) RETURNING passage),
      said AS (INSERT INTO knowledge_texts (passage, data) SELECT passage, $7 FROM added)
      SELECT passage, EXISTS (SELECT 1 FROM knowledge_codes WHERE idx = $1 AND digest = $3) FROM added`,
  },
  addPlaces: {
    name: 'knowledge_add_places',
    text: `INSERT INTO knowledge_places (document, n, passage, continues)
      SELECT $1, said.n - 1, said.passage, said.continues
      FROM unnest($2::bigint[], $3::boolean[]) WITH ORDINALITY AS said (passage, continues, n)`,
  },
  addFrequencies: {
    name: 'knowledge_add_frequencies',
    text: `INSERT INTO knowledge_frequencies AS f (idx, term, n)
      SELECT $1, t.term, t.n FROM unnest($2::integer[], $3::integer[]) AS t (term, n)
      ON CONFLICT (idx, term) DO UPDATE SET n = f.n + excluded.n`,
  },
  /** Removes those of these documents that no file has any more, and returns what they said. */
  removeDocuments: {
    name: 'knowledge_remove_documents',
    text: `WITH gone AS (DELETE FROM knowledge_documents AS d WHERE document = ANY($1::bigint[])
        AND NOT EXISTS (SELECT 1 FROM knowledge_files AS f WHERE f.document = d.document) RETURNING document),
      said AS (DELETE FROM knowledge_places AS p USING gone WHERE p.document = gone.document RETURNING p.passage)
      SELECT DISTINCT passage FROM said`,
  },
  /** Removes those of these passages that no document has any more. Returns the terms that no passage has any more. */
  removePassages: {
    name: 'knowledge_remove_passages',
    text: `WITH gone AS (DELETE FROM knowledge_passages AS p WHERE passage = ANY($2::bigint[])
        AND NOT EXISTS (SELECT 1 FROM knowledge_places AS s WHERE s.passage = p.passage) RETURNING passage, digest, length, terms),
      texts AS (DELETE FROM knowledge_texts AS t USING gone WHERE t.passage = gone.passage),
      less AS (SELECT term, count(*) AS n FROM gone CROSS JOIN LATERAL unnest(gone.terms) AS term GROUP BY term),
      counted AS (UPDATE knowledge_frequencies AS f SET n = f.n - less.n FROM less WHERE f.idx = $1 AND f.term = less.term
        RETURNING f.term, f.n)
      SELECT count(*), coalesce(sum(length), 0)::bigint,
        count(*) FILTER (WHERE EXISTS (SELECT 1 FROM knowledge_codes AS c WHERE c.idx = $1 AND c.digest = gone.digest)),
        ARRAY(SELECT term FROM counted WHERE n = 0)
      FROM gone`,
  },
  removeFrequencies: {
    name: 'knowledge_remove_frequencies',
    text: 'DELETE FROM knowledge_frequencies WHERE idx = $1 AND term = ANY($2::integer[]) AND n = 0',
  },
  dimensions: {
    name: 'knowledge_kept_dimensions',
    text: 'SELECT octet_length(floats) / 4 FROM knowledge_vectors WHERE idx = $1 LIMIT 1',
  },
  countLacking: {
    name: 'knowledge_count_lacking',
    text: `SELECT count(*) FROM knowledge_passages AS p WHERE idx = $1 AND digest = ANY($2::text[])
      AND NOT EXISTS (SELECT 1 FROM knowledge_codes AS c WHERE c.idx = p.idx AND c.digest = p.digest)`,
  },
  putCodes: {
    name: 'knowledge_put_codes',
    text: `INSERT INTO knowledge_codes (idx, digest, code)
      SELECT $1, v.digest, ('x' || v.code)::varbit FROM unnest($2::text[], $3::text[]) AS v (digest, code)
      ON CONFLICT (idx, digest) DO UPDATE SET code = excluded.code`,
  },
  putVectors: {
    name: 'knowledge_put_vectors',
    text: `INSERT INTO knowledge_vectors (idx, digest, bytes, floats)
      SELECT $1, v.digest, decode(v.bytes, 'hex'), decode(v.floats, 'hex')
      FROM unnest($2::text[], $3::text[], $4::text[]) AS v (digest, bytes, floats)
      ON CONFLICT (idx, digest) DO UPDATE SET bytes = excluded.bytes, floats = excluded.floats`,
  },
  sweepVectors: {
    name: 'knowledge_sweep_vectors',
    text: `WITH gone AS (DELETE FROM knowledge_codes AS c WHERE idx = $1 AND ($2
        OR NOT EXISTS (SELECT 1 FROM knowledge_passages AS p WHERE p.idx = c.idx AND p.digest = c.digest)) RETURNING digest)
      DELETE FROM knowledge_vectors AS v USING gone WHERE v.idx = $1 AND v.digest = gone.digest`,
  },
  forgetEmbedded: {
    name: 'knowledge_forget_embedded',
    text: 'UPDATE knowledge_indexes SET embedded = 0 WHERE n = $1',
  },
} satisfies Record<string, Statement>

const clearing: readonly Statement[] = [
  'places WHERE document IN (SELECT document FROM knowledge_documents WHERE idx = $1)',
  'texts WHERE passage IN (SELECT passage FROM knowledge_passages WHERE idx = $1)',
  ...['files', 'documents', 'passages', 'frequencies', 'codes', 'vectors'].map((table) => `${table} WHERE idx = $1`),
  'indexes WHERE n = $1',
].map((rows, i) => ({ name: `knowledge_clear_${i}`, text: `DELETE FROM knowledge_${rows}` }))

/** What a write adds to the figures of its index. */
interface Change {
  files: number
  problems: number
  passages: number
  length: number
  embedded: number
}

const noChange = (): Change => ({ files: 0, problems: 0, passages: 0, length: 0, embedded: 0 })

/** The tables must be up to date. Closing it leaves the database open. */
export function createPostgresKnowledge(database: Pick<Database, 'reads' | 'connect'>): KnowledgeStore {
  let connection: Connection | null = null
  /** One write after the other. */
  let last: Promise<unknown> = Promise.resolve()

  async function transact(work: (on: Connection) => Promise<void>): Promise<void> {
    try {
      if (connection?.isOpen !== true) connection = await database.connect(settings, PATIENCE_MS)
      await connection.run('BEGIN')
      await work(connection)
      await connection.run('COMMIT')
    } catch (error) {
      // Statements may still be under way. With the connection they end, and so does the transaction.
      connection?.destroy()
      throw databaseError(error)
    }
  }

  /** `work` gets the number of the index, which is locked. Without `make`, an index that is not there is left alone. */
  function write(index: string, make: boolean, work: (on: Connection, n: number) => Promise<void>): Promise<void> {
    const done = last.then(() =>
      transact(async (on) => {
        const [[n] = [null]] = await on.rows<[number]>(statements.lock, [index])
        if (n !== null) return work(on, n)
        const [[made] = [null]] = make ? await on.rows<[number]>(statements.make, [index]) : []
        if (made !== null) await work(on, made)
      }),
    )
    last = done.catch(() => {})
    return done
  }

  async function close(): Promise<void> {
    await last
    await connection?.close().catch(() => {})
  }

  return {
    ...createKnowledgeReads(database.reads),
    async put(index, file, document) {
      refuseLongPath(file.path)
      await write(index, true, (on, n) => putFile(on, { n, name: index }, file, document))
    },
    remove: (index, paths) => write(index, false, (on, n) => removeFiles(on, n, paths)),
    clear: (index) =>
      write(index, false, async (on, n) => {
        for (const statement of clearing) await on.rows(statement, [n])
      }),
    async putVectors(index, vectors) {
      if (vectors.length > 0) await write(index, true, (on, n) => putVectors(on, n, vectors))
    },
    sweepVectors: (index, all) =>
      write(index, false, async (on, n) => {
        await on.rows(statements.sweepVectors, [n, all])
        if (all) await on.rows(statements.forgetEmbedded, [n])
      }),
    rest: () => void close(),
    close,
  }
}

type FileRow = [document: number | null, problem: string | null]

async function putFile(
  on: Connection,
  index: { n: number; name: string },
  { path, bytes, changedMs, document: name, problem }: KnownFile,
  document: NewDocument | null,
): Promise<void> {
  const { n } = index
  const change = noChange()
  const [[before], [known]] = await Promise.all([
    on.rows<FileRow>(statements.fileOf, [n, path]),
    on.rows<[number]>(statements.documentOf, [n, name]),
  ])
  let now = known?.[0] ?? null
  if (name !== null && now === null) {
    if (document === null) throw unknownDocument(path)
    now = await addDocument(on, index, name, document, change)
  }
  // As a text, because a time may have a fraction.
  await on.rows(statements.putFile, [n, path, bytes, String(changedMs), now, problem])
  change.files += before === undefined ? 1 : 0
  change.problems += (problem === null ? 0 : 1) - ((before?.[1] ?? null) === null ? 0 : 1)
  const old = before?.[0] ?? null
  await leave(on, n, old === null || old === now ? [] : [old], change)
}

async function removeFiles(on: Connection, n: number, paths: readonly string[]): Promise<void> {
  const change = noChange()
  const files = await on.rows<FileRow>(statements.removeFiles, [n, paths])
  change.files -= files.length
  change.problems -= files.filter(([, problem]) => problem !== null).length
  const documents = files.flatMap(([document]) => (document === null ? [] : [document]))
  await leave(on, n, documents, change)
}

async function addDocument(
  on: Connection,
  { n, name: index }: { n: number; name: string },
  name: string,
  { language, passages }: NewDocument,
  change: Change,
): Promise<number | null> {
  const ids = passages.map(({ id }) => id)
  const [[[document] = [null]], known] = await Promise.all([
    on.rows<[number]>(statements.addDocument, [n, name, language]),
    on.rows<[string, number]>(statements.passagesOf, [n, ids]),
  ])
  const rows = new Map(known)
  const missing = new Map(passages.filter(({ id }) => !rows.has(id)).map((one) => [one.id, one]))
  const frequencies = new Map<number, number>()
  // All are sent at once.
  const added = [...missing.values()].map((one: NewPassage) => {
    const { id, digest, length, counts, place, headings, text } = one
    const terms = storedTerms(index, one.terms)
    for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
    const data = JSON.stringify({ place, headings, text } satisfies PassageData)
    return on.rows<[number, boolean]>(statements.addPassage, [n, id, digest, length, terms, counts, data])
  })
  const ofMissing = await Promise.all(added)
  for (const [i, { id, length }] of [...missing.values()].entries()) {
    const [[row, isEmbedded] = [0, false]] = ofMissing[i] ?? []
    rows.set(id, row)
    change.passages += 1
    change.length += length
    change.embedded += isEmbedded ? 1 : 0
  }
  await Promise.all([
    on.rows(statements.addPlaces, [document, ids.map((id) => rows.get(id)), passages.map((one) => one.continues)]),
    on.rows(statements.addFrequencies, [n, [...frequencies.keys()], [...frequencies.values()]]),
  ])
  return document
}

/** Removes what files no longer have, and counts. */
async function leave(on: Connection, n: number, documents: readonly number[], change: Change): Promise<void> {
  const said = documents.length === 0 ? [] : await on.rows<[number]>(statements.removeDocuments, [documents])
  if (said.length > 0) {
    type Gone = [passages: number, length: number, embedded: number, terms: number[]]
    const passages = said.map(([passage]) => passage)
    const [gone] = await on.rows<Gone>(statements.removePassages, [n, passages])
    const [count, length, embedded, terms] = gone ?? [0, 0, 0, []]
    if (terms.length > 0) await on.rows(statements.removeFrequencies, [n, terms])
    change.passages -= count
    change.length -= length
    change.embedded -= embedded
  }
  const { files, problems, passages, length, embedded } = change
  await on.rows(statements.count, [n, files, problems, passages, length, embedded])
}

async function putVectors(on: Connection, n: number, vectors: readonly NewVector[]): Promise<void> {
  const [[kept] = [null]] = await on.rows<[number]>(statements.dimensions, [n])
  refuseOtherDimensions(kept, vectors)
  const each = [...new Map(vectors.map((one) => [one.digest, one])).values()]
  const digests = each.map(({ digest }) => digest)
  const [[lacking] = [0]] = await on.rows<[number]>(statements.countLacking, [n, digests])
  const codes = each.map(({ code }) => hexOf(code))
  const bytes = each.map((one) => hexOf(viewOf(one.bytes)))
  const floats = each.map((one) => hexOf(viewOf(one.floats)))
  await Promise.all([
    on.rows(statements.putCodes, [n, digests, codes]),
    on.rows(statements.putVectors, [n, digests, bytes, floats]),
    on.rows(statements.count, [n, 0, 0, 0, 0, lacking]),
  ])
}

const viewOf = ({ buffer, byteOffset, byteLength }: Int8Array | Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
