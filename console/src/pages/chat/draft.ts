// What somebody has written and not sent: kept in the tab for each session, over reloads and lost connections.

import { tabStorage } from '../../browser-storage.ts'
import type { SentFile } from '../../data/outbox.ts'

export interface Draft {
  text: string
  files: readonly SentFile[]
}

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Null: of a chat that has not begun. */
const keyOf = (sessionId: string | null): string => `quarterdeck.draft.${sessionId ?? 'new'}`

export function readDraft(sessionId: string | null, store: Store = tabStorage): Draft {
  try {
    const kept: unknown = JSON.parse(store.getItem(keyOf(sessionId)) ?? 'null')
    if (typeof kept !== 'object' || kept === null) return { text: '', files: [] }
    const { text, files } = { text: '', files: [], ...kept } as { text: unknown; files: unknown }
    return { text: typeof text === 'string' ? text : '', files: Array.isArray(files) ? files.filter(isFile) : [] }
  } catch {
    return { text: '', files: [] }
  }
}

export function writeDraft(sessionId: string | null, { text, files }: Draft, store: Store = tabStorage): void {
  if (text === '' && files.length === 0) store.removeItem(keyOf(sessionId))
  else store.setItem(keyOf(sessionId), JSON.stringify({ text, files }))
}

const isFile = (file: unknown): file is SentFile =>
  typeof file === 'object' && file !== null && 'file_id' in file && typeof file.file_id === 'string' && 'name' in file
