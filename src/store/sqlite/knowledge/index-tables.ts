// The tables of one index. Each index has its own, so no search sees another's terms, and to clear one is to drop them.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { unknownDocument } from '../../knowledge-refusals.ts'
import type { IndexFigures, KnownFile, KnownPassage, NewDocument, NewPassage } from '../../ports/knowledge.ts'
import { fromStored, toStored } from '../../tables/stored-text.ts'
import { headOf, packTerms } from './packed-terms.ts'

type PassageData = Pick<NewPassage, 'place' | 'headings' | 'text'>
type FileRow = [path: string, bytes: number, changedMs: number, document: string | null, problem: string | null]
type PlaceRow = [document: number, n: number, path: string]
type PassageRow = [id: string, data: string, continues: number]

const TABLES = ['files', 'documents', 'places', 'passages', 'terms', 'texts', 'words', 'free', 'codes', 'vectors']

/**
 * A passage has one number, its row. `passages` is narrow, because it is read as a whole; `terms` and `texts` are read row by row. `words`
 * knows which rows have a term. `free` are numbers below the highest that nothing has any more: searches hold arrays of that length.
 *
 * Vectors are read one by one, their codes all at once.
 */
export const createTables = (db: DatabaseSync, n: number): void =>
  db.exec(`
  CREATE TABLE files_${n} (
    path TEXT PRIMARY KEY,
    bytes REAL NOT NULL,
    changed REAL NOT NULL,
    document INTEGER,
    problem TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX files_document_${n} ON files_${n} (document, path) WHERE document IS NOT NULL;
  CREATE INDEX files_problem_${n} ON files_${n} (path) WHERE problem IS NOT NULL;
  CREATE TABLE documents_${n} (document INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, language TEXT NOT NULL) STRICT;
  CREATE TABLE places_${n} (
    document INTEGER NOT NULL,
    n INTEGER NOT NULL,
    passage INTEGER NOT NULL,
    continues INTEGER NOT NULL,
    PRIMARY KEY (document, n)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX places_passage_${n} ON places_${n} (passage);
  CREATE TABLE passages_${n} (
    passage INTEGER PRIMARY KEY,
    head INTEGER NOT NULL,
    length INTEGER NOT NULL,
    embedded INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL
  ) STRICT;
  CREATE INDEX passages_digest_${n} ON passages_${n} (digest, id);
  CREATE INDEX passages_unembedded_${n} ON passages_${n} (digest) WHERE embedded = 0;
  CREATE TABLE terms_${n} (passage INTEGER PRIMARY KEY, terms BLOB NOT NULL) STRICT;
  CREATE TABLE texts_${n} (passage INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;
  CREATE VIRTUAL TABLE words_${n} USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii');
  CREATE TABLE free_${n} (passage INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE codes_${n} (vector INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, code BLOB NOT NULL) STRICT;
  CREATE TABLE vectors_${n} (vector INTEGER PRIMARY KEY, bytes BLOB NOT NULL, floats BLOB NOT NULL) STRICT;
`)

export const dropTables = (db: DatabaseSync, n: number): void =>
  db.exec(TABLES.map((table) => `DROP TABLE ${table}_${n};`).join(' '))

/** Names the tables of the index as `files_`, `documents_`, …. Rows are arrays. */
export const preparing =
  (db: DatabaseSync, n: number) =>
  (text: string): StatementSync => {
    const statement = db.prepare(text.replaceAll(new RegExp(`\\b(${TABLES.join('|')})_\\b`, 'g'), `$1_${n}`))
    statement.setReturnArrays(true)
    return statement
  }

export type Prepare = ReturnType<typeof preparing>

const FILES = `SELECT path, bytes, changed, (SELECT name FROM documents_ WHERE documents_.document = files_.document), problem FROM files_`

export function createIndexTables(prepare: Prepare) {
  const files = prepare(`${FILES} WHERE path > ? ORDER BY path LIMIT ? + 0`)
  const problems = prepare(`${FILES} WHERE problem IS NOT NULL ORDER BY path LIMIT ? + 0`)
  const putFile = prepare(
    'INSERT OR REPLACE INTO files_ (path, bytes, changed, document, problem) VALUES (?, ?, ?, ?, ?)',
  )
  const removeFile = prepare('DELETE FROM files_ WHERE path = ?')
  const fileOf = prepare('SELECT document, bytes, changed FROM files_ WHERE path = ?')
  const isUsed = prepare('SELECT 1 FROM files_ WHERE document = ? LIMIT 1')
  const documentOf = prepare('SELECT document FROM documents_ WHERE name = ?')
  const addDocumentRow = prepare('INSERT INTO documents_ (name, language) VALUES (?, ?)')
  const removeDocumentRow = prepare('DELETE FROM documents_ WHERE document = ?')
  const addPlace = prepare('INSERT INTO places_ (document, n, passage, continues) VALUES (?, ?, ?, ?)')
  const removePlaces = prepare('DELETE FROM places_ WHERE document = ? RETURNING passage')
  const hasPlace = prepare('SELECT 1 FROM places_ WHERE passage = ? LIMIT 1')
  const passageOf = prepare('SELECT passage FROM passages_ WHERE id = ?')
  const highest = prepare('SELECT max(passage) FROM passages_')
  const takeFree = prepare('DELETE FROM free_ WHERE passage = (SELECT min(passage) FROM free_) RETURNING passage')
  const free = prepare('INSERT INTO free_ (passage) VALUES (?)')
  const additions = [
    prepare(`INSERT INTO passages_ (passage, head, length, id, digest, embedded)
      VALUES (?1, ?2, ?3, ?4, ?5, EXISTS (SELECT 1 FROM codes_ WHERE digest = ?5))`),
    prepare('INSERT INTO terms_ (passage, terms) VALUES (?, ?)'),
    prepare('INSERT INTO texts_ (passage, data) VALUES (?, ?)'),
    prepare('INSERT INTO words_ (rowid, words) VALUES (?, ?)'),
  ] as const
  const removals = [
    prepare('DELETE FROM passages_ WHERE passage = ?'),
    prepare('DELETE FROM terms_ WHERE passage = ?'),
    prepare('DELETE FROM texts_ WHERE passage = ?'),
    prepare('DELETE FROM words_ WHERE rowid = ?'),
  ]
  const fileFigures = prepare('SELECT count(*), count(problem) FROM files_')
  const passageFigures = prepare('SELECT count(*), coalesce(sum(length), 0), coalesce(sum(embedded), 0) FROM passages_')
  const languages = prepare('SELECT DISTINCT language FROM documents_ ORDER BY language')
  /** The first file that says the passage, and where in it. */
  const placeOf = prepare(
    `SELECT document, n, (SELECT min(path) FROM files_ WHERE files_.document = places_.document) AS path
     FROM passages_ CROSS JOIN places_ ON places_.passage = passages_.passage WHERE id = ? ORDER BY path, n LIMIT 1`,
  )
  const placed = prepare(
    `SELECT id, data, continues FROM places_ CROSS JOIN passages_ ON passages_.passage = places_.passage
     CROSS JOIN texts_ ON texts_.passage = places_.passage WHERE document = ? AND n BETWEEN ? AND ? ORDER BY n`,
  )

  /** Adds passages with the lowest numbers that are free: FTS5 takes rising ones best. */
  function addDocument(name: string, { language, passages }: NewDocument): number {
    const document = Number(addDocumentRow.run(name, toStored(language)).lastInsertRowid)
    let next = (numberIn(highest.get()) ?? 0) + 1
    for (const [n, one] of passages.entries()) {
      let row = numberIn(passageOf.get(one.id))
      if (row === null) {
        row = numberIn(takeFree.get()) ?? next
        next = Math.max(next, row + 1)
        addPassage(row, one)
      }
      addPlace.run(document, n, row, one.continues ? 1 : 0)
    }
    return document
  }

  function addPassage(row: number, { id, digest, length, place, headings, text, terms, counts }: NewPassage): void {
    const [passages, packed, texts, words] = additions
    passages.run(row, headOf(id), length, id, digest)
    packed.run(row, packTerms(terms, counts))
    texts.run(row, JSON.stringify({ place, headings, text } satisfies PassageData))
    words.run(row, Array.from(terms, (term) => term.toString(36)).join(' '))
  }

  /** Removes a document that no file has any more, and its passages that no other document has. */
  function leave(document: number | null): void {
    if (document === null || isUsed.get(document) !== undefined) return
    removeDocumentRow.run(document)
    const passages = new Set(removePlaces.all(document).map(numberIn))
    for (const row of passages) {
      if (row === null || hasPlace.get(row) !== undefined) continue
      for (const removal of removals) removal.run(row)
      free.run(row)
    }
  }

  function around(id: string, before: number, after: number): KnownPassage[] {
    const place = placeOf.get(id) as PlaceRow | undefined
    if (place === undefined) return []
    const [document, n, path] = place
    const [, bytes, changedMs] = fileOf.get(path) as unknown as [number, number, number]
    const rows = placed.all(document, n - before, n + after) as unknown as PassageRow[]
    return rows.map(([id, data, continues]) => {
      const { place, headings, text } = JSON.parse(data) as PassageData
      return { id, file: fromStored(path), place, headings, text, continues: continues === 1, bytes, changedMs }
    })
  }

  return {
    files: (after: string, limit: number): KnownFile[] => toFiles(files.all(toStored(after), limit)),
    problems: (limit: number): KnownFile[] => toFiles(problems.all(limit)),
    known: (documents: readonly string[]): Set<string> =>
      new Set(documents.filter((name) => documentOf.get(toStored(name)) !== undefined)),
    put(file: KnownFile, document: NewDocument | null): void {
      const path = toStored(file.path)
      const name = file.document === null ? null : toStored(file.document)
      const before = numberIn(fileOf.get(path))
      let now = name === null ? null : numberIn(documentOf.get(name))
      if (name !== null && now === null) {
        if (document === null) throw unknownDocument(file.path)
        now = addDocument(name, document)
      }
      putFile.run(path, file.bytes, file.changedMs, now, file.problem === null ? null : toStored(file.problem))
      leave(before)
    },
    remove(paths: readonly string[]): void {
      for (const path of paths.map(toStored)) {
        const before = numberIn(fileOf.get(path))
        removeFile.run(path)
        leave(before)
      }
    },
    figures(): IndexFigures {
      const [files, problems] = fileFigures.get() as unknown as number[]
      const [passages, length, embedded] = passageFigures.get() as unknown as number[]
      const found = (languages.all() as unknown as [string][]).map(([language]) => fromStored(language))
      return {
        files: files ?? 0,
        problems: problems ?? 0,
        passages: passages ?? 0,
        length: length ?? 0,
        embedded: embedded ?? 0,
        languages: found,
      }
    },
    around,
  }
}

/** The first column of a row. Null: there is no row, or nothing in it. */
export function numberIn(row: unknown): number | null {
  const [value = null] = (row ?? []) as [(number | null)?]
  return value
}

const toFiles = (rows: unknown[]): KnownFile[] =>
  (rows as FileRow[]).map(([path, bytes, changedMs, document, problem]) => ({
    path: fromStored(path),
    bytes,
    changedMs,
    document: document === null ? null : fromStored(document),
    problem: problem === null ? null : fromStored(problem),
  }))
