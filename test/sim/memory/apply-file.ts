import { ServerError, sessionNotFound } from '../../../src/domain/errors.ts'
import type { AddFile } from '../../../src/store/ports/files.ts'
import { type Done, findSession, type MemoryState } from './memory-state.ts'

export function addFile(state: MemoryState, { file }: AddFile): Done {
  const { id, sessionId, owner } = file
  if (sessionId !== null && findSession(state, sessionId).record.owner !== owner) throw sessionNotFound(sessionId)
  if (state.files.has(id)) throw new ServerError('conflict', `There is a file ${id} already.`)
  state.files.set(id, file)
  return { ok: true, firstSeq: 0 }
}

/** Those that belong to no session belong to this one from now on. */
export function attachFiles(state: MemoryState, ids: readonly string[], sessionId: string): void {
  for (const id of ids) {
    const file = state.files.get(id)
    if (file?.sessionId === null) state.files.set(id, { ...file, sessionId })
  }
}

/** Those that came before and were never sent. */
export function removeUnsentFiles(state: MemoryState, before: number): void {
  for (const [id, file] of state.files) {
    if (file.sessionId === null && file.createdAt < before) state.files.delete(id)
  }
}
