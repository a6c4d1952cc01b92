// A store at a distance: every call takes its time on the way there and on the way back, so that the process can die between
// any two of them and whatever else is under way can come first.

import { ServerError } from '../../src/domain/errors.ts'
import { type Command, needsSync, type Result } from '../../src/store/ports/command.ts'
import type { Committed, NewEntry } from '../../src/store/ports/journal.ts'
import { type Store, wrapReads } from '../../src/store/store.ts'
import type { SimProcess } from './process.ts'
import type { Random } from './random.ts'

export interface SimStoreDeps {
  inner: Store
  process: SimProcess
  random: Random
  /** Longest way of a call, and again of its answer. */
  callMs: number
  /** Says whether this call fails, before it has done anything. */
  fails: () => boolean
  /** Told when entries may be shown to readers: on disk, or written if they need no more. */
  onShowable: (sessionId: string, runId: string, firstSeq: number, entries: readonly NewEntry[]) => void
}

export function createSimStore({ inner, process, random, callMs, fails, onShowable }: SimStoreDeps): Store {
  const way = () => process.pause(random.chance(0.5) ? 0 : random.float() * callMs)

  async function far<T>(work: () => Promise<T> | T): Promise<T> {
    if (random.chance(0.3)) await way()
    try {
      if (fails()) throw new ServerError('storage_failed', 'The store did not answer.')
      return await work()
    } finally {
      await way()
    }
  }

  async function commit(commands: readonly Command[]): Promise<Committed> {
    const { results, synced } = await inner.commit(commands)
    for (const [i, command] of commands.entries()) {
      const result = results[i]
      const added = result === undefined ? null : addedBy(command, result)
      if (added === null) continue
      const show = () => onShowable(added.sessionId, added.runId, added.firstSeq, added.entries)
      if (needsSync(command)) void synced.then(show)
      else show()
    }
    return { results, synced }
  }

  return {
    ...wrapReads(inner, far),
    commit: (commands) => far(() => commit(commands)),
    check: () => far(() => inner.check()),
    figures: () => far(() => inner.figures()),
    rest: () => inner.rest(),
    close: () => far(() => inner.close()),
  }
}

interface Added {
  sessionId: string
  runId: string
  firstSeq: number
  entries: readonly NewEntry[]
}

/** The entries that a command appended, or null. */
export function addedBy(command: Command, result: Result): Added | null {
  if (!result.ok || result.firstSeq === 0) return null
  const { firstSeq } = result
  switch (command.type) {
    case 'accept_run': {
      const begun = result.run?.status === 'running' ? command.start.entries : []
      return {
        sessionId: result.run?.sessionId ?? command.session.id,
        runId: command.run.id,
        firstSeq,
        entries: [...command.acceptEntries, ...begun],
      }
    }
    case 'append':
      return { sessionId: command.sessionId, runId: command.runId, firstSeq, entries: command.entries }
    case 'start_run':
    case 'finish_run':
    case 'claim_run':
    case 'request_cancel': {
      const entries = command.type === 'start_run' ? command.start.entries : command.entries
      return result.run === undefined
        ? null
        : { sessionId: result.run.sessionId, runId: command.runId, firstSeq, entries }
    }
    default:
      return null
  }
}
