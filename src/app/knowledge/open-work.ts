// The work on indexes, put together: a store, the readers of files, and what cuts, ranks and searches.

import type { Logger } from '../../domain/logger.ts'
import type { IndexSettings } from '../../knowledge/knowledge.ts'
import type { WorkPlace } from '../../knowledge/create-knowledge.ts'
import type { WorkListener } from '../../knowledge/knowledge-work.ts'

/** Plain data, because it goes to a thread. */
export interface WorkSettings {
  store: { kind: 'sqlite'; path: string } | { kind: 'memory' } | { kind: 'postgres'; url: string; waitMs: number }
  /** Of the readers of files. */
  cacheDir: string
  indexes: readonly (readonly [id: string, settings: IndexSettings])[]
  /** Absolute paths of folders that are never read, such as the data directory. */
  ignored: readonly string[]
}

export function openWork(_settings: WorkSettings, _parts: { listener: WorkListener; log: Logger }): WorkPlace {
  throw new Error('not here yet')
}
