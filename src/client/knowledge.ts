// The documents of agents: how they are doing, what a search finds in them, and the passages that answers cite.

import { at, type CallOptions, type Calls, queryOf } from './connection.ts'
import type { KnowledgeFound, KnowledgeIndex, KnowledgeQuery, Passage } from './wire.ts'

export interface PassageOptions extends CallOptions {
  /** The agent that cites it. */
  agent: string
  /** The tool that found it. Default: any that the agent, or one that it calls, has. */
  tool?: string
  /** How many passages before and after it come along, at most 10. */
  before?: number
  after?: number
}

export interface KnowledgeClient {
  knowledge: {
    list(options?: CallOptions): Promise<KnowledgeIndex[]>
    /** What the tool of an agent would find, with scores. */
    search(query: KnowledgeQuery, options?: CallOptions): Promise<KnowledgeFound>
    /** For everybody, also users. Throws `record_not_found` if the file does not say it any more. */
    passage(id: string, options: PassageOptions): Promise<Passage[]>
    /** Looks for changed files. Resolves when that has begun. */
    update(id: string, options?: CallOptions): Promise<KnowledgeIndex>
    /** All files are read again, and embedded again. */
    clear(id: string, options?: CallOptions): Promise<void>
  }
}

export const createKnowledgeClient = ({ get, post, remove }: Calls): KnowledgeClient => ({
  knowledge: {
    list: async (options) => (await get<{ indexes: KnowledgeIndex[] }>('/knowledge', options)).indexes,
    search: (query, options) => post('/knowledge/search', query, options),
    async passage(id, { signal, ...query }) {
      const path = at('knowledge/passages', id, queryOf({ ...query }))
      return (await get<{ passages: Passage[] }>(path, { signal })).passages
    },
    update: (id, options) => post(at('knowledge', id, '/update'), {}, options),
    clear: (id, options) => remove(at('knowledge', id), options),
  },
})
