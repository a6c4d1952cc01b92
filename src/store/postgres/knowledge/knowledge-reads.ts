// What is asked of knowledge in Postgres. Each question is one statement, so all of an answer is of one moment.

import { sha256 } from '../../../json/digest.ts'
import type { KnowledgeStore, KnownFile, NewPassage } from '../../ports/knowledge.ts'
import type { Statement } from '../../tables/statement.ts'
import type { Sql } from '../sql.ts'

type FileRow = [path: string, bytes: number, changedMs: number, document: string | null, problem: string | null]
type PassageRow = [id: string, data: string, continues: boolean, file: string, bytes: number, changedMs: number]
export type PassageData = Pick<NewPassage, 'place' | 'headings' | 'text'>

/** The number of the index with the name `$1`. */
const IDX = '(SELECT n FROM knowledge_indexes WHERE name = $1)'

const FILES = `SELECT path, bytes, changed, (SELECT name FROM knowledge_documents AS d WHERE d.document = f.document), problem
  FROM knowledge_files AS f WHERE idx = ${IDX}`

const statements = {
  files: { name: 'knowledge_files', text: `${FILES} AND path > $2 ORDER BY path LIMIT $3` },
  problems: { name: 'knowledge_problems', text: `${FILES} AND problem IS NOT NULL ORDER BY path LIMIT $2` },
  known: {
    name: 'knowledge_known',
    text: `SELECT name FROM knowledge_documents WHERE idx = ${IDX} AND name = ANY($2::text[])`,
  },
  /** Goes from one language to the next by the index, however many documents there are. */
  figures: {
    name: 'knowledge_figures',
    text: `SELECT files, problems, passages, length, embedded, ARRAY(
        WITH RECURSIVE found AS (
          SELECT min(language) AS language FROM knowledge_documents WHERE idx = i.n
          UNION ALL
          SELECT (SELECT min(d.language) FROM knowledge_documents AS d WHERE d.idx = i.n AND d.language > found.language)
            FROM found WHERE found.language IS NOT NULL)
        SELECT language FROM found WHERE language IS NOT NULL)
      FROM knowledge_indexes AS i WHERE name = $1`,
  },
  indexes: { name: 'knowledge_indexes', text: 'SELECT name FROM knowledge_indexes ORDER BY name' },
  frequencies: {
    name: 'knowledge_frequencies',
    text: `SELECT coalesce(f.n, 0) FROM unnest($2::integer[]) WITH ORDINALITY AS asked (term, place)
      LEFT JOIN knowledge_frequencies AS f ON f.idx = ${IDX} AND f.term = asked.term ORDER BY place`,
  },
  candidates: {
    name: 'knowledge_candidates',
    text: `SELECT best.id, p.length, ARRAY(
        SELECT coalesce(get_byte(p.counts, array_position(p.terms, counted.term) - 1), 0)
        FROM unnest($4::integer[]) WITH ORDINALITY AS counted (term, place) ORDER BY place)
      FROM (SELECT found.id, sum(asked.weight) AS weight
        FROM (SELECT array_agg(term) AS terms, weights[word] AS weight
            FROM unnest($2::integer[], $3::integer[]) AS form (term, word), (SELECT $6::bigint[] AS weights) AS given
            GROUP BY word, weights) AS asked
        CROSS JOIN LATERAL (
          SELECT id FROM knowledge_passages WHERE idx = ${IDX} AND terms && asked.terms) AS found
        GROUP BY found.id ORDER BY weight DESC, found.id LIMIT $5) AS best
      JOIN knowledge_passages AS p ON p.idx = ${IDX} AND p.id = best.id ORDER BY best.weight DESC, best.id`,
  },
  around: {
    name: 'knowledge_around',
    text: `SELECT p.id, t.data, near.continues, first.path, first.bytes, first.changed
      FROM unnest($2::text[]) WITH ORDINALITY AS asked (id, place)
      JOIN knowledge_passages AS q ON q.idx = ${IDX} AND q.id = asked.id
      CROSS JOIN LATERAL (
        SELECT said.document, said.n, f.path, f.bytes, f.changed FROM knowledge_places AS said CROSS JOIN LATERAL (
          SELECT path, bytes, changed FROM knowledge_files WHERE document = said.document ORDER BY path LIMIT 1) AS f
        WHERE said.passage = q.passage ORDER BY f.path, said.n LIMIT 1) AS first
      JOIN knowledge_places AS near ON near.document = first.document AND near.n BETWEEN first.n - $3 AND first.n + $4
      JOIN knowledge_passages AS p ON p.passage = near.passage
      JOIN knowledge_texts AS t ON t.passage = near.passage ORDER BY asked.place, near.n`,
  },
  unembedded: {
    name: 'knowledge_unembedded',
    text: `SELECT lacking.digest, (SELECT data FROM knowledge_passages AS q JOIN knowledge_texts AS t ON t.passage = q.passage
        WHERE q.idx = ${IDX} AND q.digest = lacking.digest ORDER BY q.id LIMIT 1)
      FROM (SELECT DISTINCT digest FROM knowledge_passages AS p WHERE idx = ${IDX}
        AND NOT EXISTS (SELECT 1 FROM knowledge_codes AS c WHERE c.idx = p.idx AND c.digest = p.digest)
        ORDER BY digest LIMIT $2) AS lacking ORDER BY lacking.digest`,
  },
  dimensions: {
    name: 'knowledge_dimensions',
    text: `SELECT octet_length(floats) / 4 FROM knowledge_vectors WHERE idx = ${IDX} LIMIT 1`,
  },
  /** The number in the last column says how many vectors were taken. Some may be of passages that are gone. */
  nearest: {
    name: 'knowledge_nearest',
    text: `WITH near AS (SELECT digest, bit_count(code # (SELECT ('x' || $2)::varbit)) AS distance FROM knowledge_codes
        WHERE idx = ${IDX} AND bit_length(code) = $3 ORDER BY distance FETCH FIRST $4 ROWS WITH TIES)
      SELECT p.id, (SELECT count(*) FROM near) FROM near LEFT JOIN knowledge_passages AS p ON p.idx = ${IDX} AND p.digest = near.digest
      ORDER BY near.distance, p.id`,
  },
  bytesOf: { name: 'knowledge_bytes', text: vectorsOf('bytes') },
  floatsOf: { name: 'knowledge_floats', text: vectorsOf('floats') },
} satisfies Record<string, Statement>

function vectorsOf(column: 'bytes' | 'floats'): string {
  return `SELECT p.id, v.${column} FROM knowledge_passages AS p JOIN knowledge_vectors AS v ON v.idx = p.idx AND v.digest = p.digest
    WHERE p.idx = ${IDX} AND p.id = ANY($2::text[])`
}

/** How the terms of an index are stored. Two indexes have other numbers for the same term, and none has one number for two. */
export function storedTerms(index: string, terms: Iterable<number>): number[] {
  const mixed = Number.parseInt(sha256(index).slice(0, 8), 16)
  return Array.from(terms, (term) => term ^ mixed)
}

export const hexOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('hex')

type Writes = 'put' | 'remove' | 'clear' | 'putVectors' | 'sweepVectors' | 'rest' | 'close'

export function createKnowledgeReads(sql: Sql): Omit<KnowledgeStore, Writes> {
  async function around(index: string, ids: readonly string[], before: number, after: number) {
    const rows = await sql.rows<PassageRow>(statements.around, [index, ids, before, after])
    return rows.map(([id, data, continues, file, bytes, changedMs]) => {
      const { place, headings, text } = JSON.parse(data) as PassageData
      return { id, file, place, headings, text, continues, bytes, changedMs }
    })
  }

  return {
    files: async (index, after, limit) =>
      (await sql.rows<FileRow>(statements.files, [index, after, limit])).map(toFile),
    problems: async (index, limit) => (await sql.rows<FileRow>(statements.problems, [index, limit])).map(toFile),
    known: async (index, documents) =>
      new Set((await sql.rows<[string]>(statements.known, [index, documents])).map(([name]) => name)),
    async figures(index) {
      type Row = [
        files: number,
        problems: number,
        passages: number,
        length: number,
        embedded: number,
        languages: string[],
      ]
      const [row] = await sql.rows<Row>(statements.figures, [index])
      const [files, problems, passages, length, embedded, languages] = row ?? [0, 0, 0, 0, 0, []]
      return { files, problems, passages, length, embedded, languages }
    },
    indexes: async () => (await sql.rows<[string]>(statements.indexes)).map(([name]) => name),

    frequencies: async (index, terms) =>
      (await sql.rows<[number]>(statements.frequencies, [index, storedTerms(index, terms)])).map(([n]) => n),
    async candidates(index, words, counted, most) {
      const forms = words.flatMap(({ terms }, word) => terms.map((term) => ({ term, word: word + 1 })))
      const rows = await sql.rows<[string, number, number[]]>(statements.candidates, [
        index,
        storedTerms(
          index,
          forms.map(({ term }) => term),
        ),
        forms.map(({ word }) => word),
        storedTerms(index, counted),
        most,
        words.map(({ weight }) => weight),
      ])
      return rows.map(([id, length, counts]) => ({ id, length, counts }))
    },
    passages: (index, ids) => around(index, ids, 0, 0),
    around: (index, id, before, after) => around(index, [id], before, after),

    unembedded: async (index, limit) =>
      (await sql.rows<[string, string]>(statements.unembedded, [index, limit])).map(([digest, data]) => {
        const { headings, text } = JSON.parse(data) as PassageData
        return { digest, headings, text }
      }),
    async dimensions(index) {
      const [[dimensions] = [null]] = await sql.rows<[number]>(statements.dimensions, [index])
      return dimensions
    },
    async nearest(index, code, most) {
      for (let n = most; ; n *= 4) {
        const values = [index, hexOf(code), code.length * 8, n]
        const rows = await sql.rows<[id: string | null, taken: number]>(statements.nearest, values)
        const ids = rows.flatMap(([id]) => (id === null ? [] : [id]))
        if (ids.length >= most || (rows[0]?.[1] ?? 0) < n) return ids.slice(0, most)
      }
    },
    async bytesOf(index, ids) {
      const rows = await sql.rows<[string, Buffer]>(statements.bytesOf, [index, ids])
      return new Map(rows.map(([id, bytes]) => [id, new Int8Array(copyOf(bytes))]))
    },
    async floatsOf(index, ids) {
      const rows = await sql.rows<[string, Buffer]>(statements.floatsOf, [index, ids])
      return new Map(rows.map(([id, bytes]) => [id, new Float32Array(copyOf(bytes))]))
    },
  }
}

/** A buffer of Node is often a part of a larger one, and may begin anywhere in it. */
const copyOf = (bytes: Buffer): ArrayBuffer => Uint8Array.from(bytes).buffer

const toFile = ([path, bytes, changedMs, document, problem]: FileRow): KnownFile => ({
  path,
  bytes,
  changedMs,
  document,
  problem,
})
