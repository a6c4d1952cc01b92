// The tools of type knowledge over passages in memory, which a test can change and take away.

import type { KnowledgeToolSettings } from '../../domain/agent/tool-settings.ts'
import type { Passage } from '../../domain/knowledge/passage.ts'
import type { KnowledgeIndex } from '../../knowledge/knowledge.ts'
import { createKnowledgeTools } from '../create-knowledge-tools.ts'

export const handbookSettings: KnowledgeToolSettings = {
  type: 'knowledge',
  name: 'handbook',
  description: null,
  sources: ['./handbook'],
  directory: '/',
  folders: ['/'],
  ignore: [],
  embedding: null,
  ...{ effect: 'read', risk: 'low', timeoutMs: 30_000, retries: 0, approval: { ask: 'never' }, predictState: [] },
}

export const handbookPassage = (id: string, text: string, more: Partial<Passage> = {}): Passage => ({
  id,
  file: 'leave.md',
  place: { page: null, sheet: null, slide: null, line: 3 },
  headings: ['Leave', 'Parental leave'],
  text,
  ...more,
})

/** A search finds every passage whose text has the query. */
export function createFakeHandbook(given: readonly Passage[], settings = handbookSettings) {
  const passages = new Map(given.map((passage) => [passage.id, passage]))
  /** The ids that answers have asked for, one list for each time. */
  const asked: (readonly string[])[] = []
  const unused = () => Promise.reject(new Error('no test needs it'))
  const index: KnowledgeIndex = {
    id: 'fake',
    settings,
    search: async (query, most) => {
      const found = [...passages.values()].filter(({ text }) => text.includes(query)).slice(0, most)
      const hits = found.map((passage) => ({ passage, score: 1, byWords: 1, byMeaning: null }))
      return { hits, usage: [], lacks: [] }
    },
    around: async (id) => [passages.get(id)].filter((passage) => passage !== undefined),
    now: async (ids) => {
      asked.push(ids)
      return new Map(ids.flatMap((id) => (passages.has(id) ? [[id, passages.get(id) as Passage]] : [])))
    },
    status: unused,
    update: unused,
    clear: unused,
  }
  const tools = createKnowledgeTools([settings], { of: () => index, all: [index] })
  return { passages, asked, index, tools }
}
