// An index opened as the server does it, but in this process, so that its cost can be measured.

import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { openWork, type WorkSettings } from '../../src/app/knowledge/open-work.ts'
import { silentLogger } from '../../src/domain/logger.ts'
import type { WorkPlace } from '../../src/knowledge/create-knowledge.ts'
import type { Hit } from '../../src/knowledge/knowledge.ts'
import type { WorkListener } from '../../src/knowledge/knowledge-work.ts'

export const INDEX = 'corpus'

const noListener: WorkListener = {
  progress() {},
  embed: () => Promise.reject(new Error('no embedding is configured')),
}

export interface OpenIndex {
  /** Absolute path of the folder of documents. */
  documents: string
  /** Of the database. */
  path: string
  embedding?: WorkSettings['indexes'][number]['embedding']
  listener?: Partial<WorkListener>
}

export function workSettings({ documents, path, embedding = null }: OpenIndex): WorkSettings {
  const index = { id: INDEX, sources: ['.'], directory: documents, folders: [documents], ignore: [], embedding }
  return {
    store: { kind: 'sqlite', path, readOnly: false },
    cacheDir: `${path}-cache`,
    indexes: [index],
    excluded: [],
  }
}

export function openIndex(settings: OpenIndex): Promise<WorkPlace> {
  mkdirSync(dirname(settings.path), { recursive: true })
  const listener = { ...noListener, ...settings.listener }
  return openWork(workSettings(settings), { listener, log: silentLogger })
}

export const byWords = (text: string, most = 10) => ({ text, vector: null, most, checked: true })

export const hitsOf = async (work: WorkPlace, query: Parameters<WorkPlace['search']>[1]): Promise<Hit[]> =>
  (await work.search(INDEX, query)).hits
