// The next message of a conversation, as long as it is not sent.

import { type DraftStore, keepDraft, keptDraft } from '../../data/drafts.ts'
import type { SentFile } from '../../data/outbox.ts'

export interface Draft {
  text: string
  files: readonly SentFile[]
}

/** Null: of a chat that has not begun. */
const nameOf = (sessionId: string | null): string => sessionId ?? 'new'

export function readDraft(sessionId: string | null, store?: DraftStore): Draft {
  const { text, files } = keptDraft(nameOf(sessionId), store)
  return { text: typeof text === 'string' ? text : '', files: Array.isArray(files) ? files.filter(isFile) : [] }
}

export function writeDraft(sessionId: string | null, { text, files }: Draft, store?: DraftStore): void {
  keepDraft(nameOf(sessionId), text === '' && files.length === 0 ? null : { text, files }, store)
}

const isFile = (file: unknown): file is SentFile =>
  typeof file === 'object' && file !== null && 'file_id' in file && typeof file.file_id === 'string' && 'name' in file
