import type { DatabaseSync } from 'node:sqlite'
import type { Command, Done } from '../ports/command.ts'
import { decide } from '../rules/decide.ts'
import { decideNow } from '../rules/rows.ts'
import { isTextAlone, ownedRun } from '../rules/run-rules.ts'
import type { EntryWriter } from './entry-writer.ts'
import type { LiveState } from './live-sessions.ts'
import { createRowReader } from './rows/row-reader.ts'
import { createRowWriter } from './rows/row-writer.ts'
import { createCommandSession, createSessionIds } from './rows/session-table.ts'

/** Applies commands inside the transaction of `sqlite-store.ts`. Throws a `ServerError` if one is refused, before anything is written. */
export function createApplyCommand(
  db: DatabaseSync,
  state: LiveState,
  writer: EntryWriter,
): (command: Command) => Done {
  const session = createCommandSession(createSessionIds(db, state))
  const rows = createRowReader(db, state, writer, session)
  const write = createRowWriter(db, state, writer, session)

  return (command) => {
    // Text in flight takes a shortcut: every chunk of a model is a command.
    if (command.type === 'append' && isTextAlone(command)) {
      const live = state.runs.get(command.runId)
      if (live !== undefined) {
        const { id, sessionId } = ownedRun(live.record, command)
        return { ok: true, firstSeq: writer.appendText(writer.live(sessionId, live.sid), id, command.entries) }
      }
    }
    session.forget()
    const { result, changes } = decideNow(decide(command), rows)
    write(changes)
    return result
  }
}
