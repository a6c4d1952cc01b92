import { ServerError } from '../../../src/domain/errors.ts'
import type { Command, Result } from '../../../src/store/ports/command.ts'
import { decide } from '../../../src/store/rules/decide.ts'
import { decideNow } from '../../../src/store/rules/rows.ts'
import { createRowReader, writeRow } from './memory-rows.ts'
import type { MemoryState } from './memory-state.ts'

/**
 * Depends only on its arguments: the same commands always give the same state. The state keeps parts of the command, so the
 * caller must not change the command afterwards. The result is a copy.
 */
export function applyCommand(state: MemoryState, command: Command): Result {
  try {
    const { result, changes } = decideNow(decide(command), createRowReader(state))
    for (const change of changes) writeRow(state, change)
    return structuredClone(result)
  } catch (error) {
    if (error instanceof ServerError) return { ok: false, error }
    throw error
  }
}
