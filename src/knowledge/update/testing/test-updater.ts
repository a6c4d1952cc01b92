import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSystemClock } from '../../../domain/clock.ts'
import { silentLogger } from '../../../domain/logger.ts'
import type { FileReader } from '../../../files/file-reader.ts'
import type { KnowledgeStore, KnownFile, NewDocument } from '../../../store/ports/knowledge.ts'
import { createMemoryKnowledge } from '../../../store/testing/memory-knowledge.ts'
import type { IndexSettings } from '../../knowledge.ts'
import { createDocumentReader, type DocumentReaderDeps } from '../read-document.ts'
import { createUpdater, type Prepare, type UpdateListener, type UpdaterDeps } from '../update-index.ts'

export const INDEX = 'test'
export const never = new AbortController().signal

/** Reads text in this process, and counts how often. */
export function plainReader(): { reads: string[]; read: FileReader['read'] } {
  const reads: string[] = []
  return {
    reads,
    async read({ path }) {
      const text = await readFile(path, 'utf8')
      reads.push(text)
      return { sections: [{ label: '', text }], notes: [] }
    },
  }
}

/** Each line is a passage, with its first character as its only term. */
export const byLine: Prepare = ({ sections }, { name }): NewDocument => ({
  language: 'en',
  passages: sections
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => line !== '')
    .map((text, i) => ({
      id: `${name} ${i} ${text}`,
      place: { page: null, sheet: null, slide: null, line: i + 1 },
      headings: [name],
      text,
      continues: i > 0,
      terms: Uint32Array.of(text.codePointAt(0) ?? 0),
      counts: Uint8Array.of(1),
      length: 1,
      digest: `${name}:${text}`,
    })),
})

export const settingsOf = (directory: string, sources = ['docs']): IndexSettings => ({
  directory,
  sources,
  folders: [directory],
  ignore: [],
  embedding: null,
})

export const deaf: UpdateListener = { walked() {}, progress() {} }

interface Parts extends Omit<UpdaterDeps, 'documents' | 'store'>, Omit<DocumentReaderDeps, 'folder'> {
  store: KnowledgeStore
}

export function testUpdater(directory: string, parts: Partial<Parts> = {}) {
  const plain = plainReader()
  const clock = createSystemClock()
  const store = parts.store ?? createMemoryKnowledge()
  const base = { clock, log: silentLogger, ...parts }
  const documents = createDocumentReader({
    reader: plain,
    folder: join(directory, 'copies'),
    newId: randomUUID,
    ...base,
  })
  const deps = { prepare: byLine, version: 1, excluded: [], ...base, store, documents }
  const updater = createUpdater(deps)
  const update = (signal = never, sources?: string[], listener = deaf) =>
    updater.update(INDEX, settingsOf(directory, sources), signal, listener)
  return { store, deps, documents, reads: plain.reads, update }
}

/** What an index has, without what differs from one reading to the next. */
export async function contentOf(store: Pick<KnowledgeStore, 'files' | 'figures' | 'candidates' | 'passages'>) {
  const files = await store.files(INDEX, '', 100_000)
  const terms = Array.from({ length: 128 }, (_, term) => ({ terms: [term], weight: 1 }))
  const ids = (await store.candidates(INDEX, terms, [], 100_000)).map(({ id }) => id)
  const passages = await store.passages(INDEX, ids)
  return {
    files: files.map(({ path, bytes, document, problem }: KnownFile) => ({ path, bytes, document, problem })),
    figures: await store.figures(INDEX),
    passages: passages.map(({ file, text }) => `${file}: ${text}`).sort(),
  }
}
