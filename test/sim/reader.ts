// A client that reads a run or a whole session: leaves, stalls, comes back with its last id or an older one, gives up.

import type { Entry } from '../../src/domain/session/entry.ts'
import { isTerminalText } from '../../src/domain/session/event.ts'
import type { Faults } from './faults.ts'
import type { History, ReaderRecord, View } from './history.ts'
import type { Kernel } from './kernel.ts'
import type { Net } from './net.ts'
import type { Random } from './random.ts'

/** While the end of a run cannot be written because the disk is full, its readers are told so (`stuck-runs.ts`). */
const FAIR = ['refused', 'storage_failed', 'storage_full']

export interface ReaderDeps {
  kernel: Kernel
  random: Random
  net: Net
  faults: Faults['reader']
  history: History
  isCalm: () => boolean
}

/** Resolves when it has seen the end of its run or has given up; who reads a session without giving up never stops. */
export async function readEntries(
  { kernel, random, net, faults, history, isCalm }: ReaderDeps,
  target: Pick<ReaderRecord, 'name' | 'sessionId' | 'runId'>,
): Promise<void> {
  const { name, sessionId, runId } = target
  const reader: ReaderRecord = { ...target, views: [], end: null }
  history.readers.push(reader)
  let view = newView(reader)

  /** Ids on the wire are those of events, so a reader never comes back behind a fact. */
  function chooseCursor(): number {
    const events = view.entries.filter(({ kind }) => kind === 'event')
    const older = !isCalm() && random.chance(faults.rewinds) ? events[random.below(events.length)] : undefined
    const cursor = (older ?? events.at(-1))?.seq ?? 0
    view.entries = view.entries.filter(({ seq }) => seq <= cursor)
    return cursor
  }

  /** One connection. Says whether it saw the end of its run. */
  async function readOnce(): Promise<boolean> {
    const after = chooseCursor()
    const readSince = kernel.time
    const resume: View['resumes'][number] = { after, at: readSince, answer: null }
    if (after > 0) view.resumes.push(resume)
    const connection = net.follow(name, { sessionId, after, ...(runId === null ? {} : { runId }) })
    for (;;) {
      const item = await connection.receive()
      switch (item.type) {
        case 'lost':
          return false
        case 'end':
          return hasEnd(view.entries)
        case 'failed':
          if (item.code === 'events_gone') {
            resume.answer = 'gone'
            view = newView(reader)
          } else if (!FAIR.includes(item.code)) {
            history.findings.push({ checker: 'reader', message: `${name} after ${after} was refused: ${item.code}` })
          }
          return false
        case 'batch': {
          resume.answer = 'served'
          const leaves = !isCalm() && random.chance(faults.leaves)
          // Who leaves may do so in the middle of what was sent together.
          const taken = leaves ? item.entries.slice(0, random.below(item.entries.length + 1)) : item.entries
          const seen = taken.map((entry) => ({ ...entry, readSince }))
          view.entries.push(...seen)
          view.shown.push(...seen)
          if (!isCalm() && random.chance(faults.stalls)) await kernel.sleep(random.between(200, 4_000))
          if (!leaves && !hasEnd(taken)) break
          connection.close()
          return hasEnd(taken)
        }
      }
    }
  }

  const hasEnd = (entries: readonly Entry[]): boolean =>
    runId !== null && entries.some(({ kind, data }) => kind === 'event' && isTerminalText(data))

  while (!(await readOnce())) {
    if (!isCalm() && random.chance(faults.givesUp)) {
      reader.end = 'gave up'
      return
    }
    await kernel.sleep(random.float() * (isCalm() ? 100 : 800))
  }
  reader.end = 'saw the end'
}

function newView(reader: ReaderRecord): View {
  const view: View = { entries: [], shown: [], resumes: [] }
  reader.views.push(view)
  return view
}
