// CopilotKit's own runtime ends a stopped run as finished, and so do we for readers of AG-UI 0.x: it has no word for a stopped run,
// and CopilotKit would show a RUN_ERROR as a failure to the person who has just pressed stop.

import type { Entry } from '../../../domain/entry.ts'
import { type RunEventOf, typeOfEventText } from '../../../domain/event.ts'
import type { Runs } from '../../../engine/ports/runs.ts'

/** Reads a run for such a reader. The stored outcome stays `cancelled`. */
export const stopAsFinish =
  (follow: Runs['follow']): Runs['follow'] =>
  (target, signal) =>
    rewritten(follow(target, signal))

async function* rewritten(source: AsyncIterable<readonly Entry[]>): AsyncGenerator<readonly Entry[]> {
  for await (const batch of source) yield batch.some(endsRun) ? batch.map(withoutCancelled) : batch
}

const endsRun = ({ kind, data }: Entry): boolean => kind === 'event' && typeOfEventText(data) === 'RUN_FINISHED'

function withoutCancelled(entry: Entry): Entry {
  if (!endsRun(entry)) return entry
  const { outcome, ...finished }: RunEventOf<'RUN_FINISHED'> = JSON.parse(entry.data)
  return outcome?.type === 'cancelled' ? { ...entry, data: JSON.stringify(finished) } : entry
}
