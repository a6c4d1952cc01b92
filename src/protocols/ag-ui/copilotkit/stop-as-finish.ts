// How CopilotKit's own runtime ends a run that somebody stopped: as finished. AG-UI 0.x has no word for it, and CopilotKit shows
// any RUN_ERROR as a failure, up to a red banner for the person who has just pressed stop.

import type { Entry } from '../../../domain/entry.ts'
import { type RunEventOf, typeOfEventText } from '../../../domain/event.ts'
import type { Engine } from '../../../engine/engine.ts'

/** The same engine for a reader that cannot be told of a stop. What is stored stays `cancelled`. */
export function stopAsFinish(engine: Engine): Engine {
  return {
    ...engine,
    runs: { ...engine.runs, follow: (target, signal) => rewritten(engine.runs.follow(target, signal)) },
  }
}

async function* rewritten(source: AsyncIterable<readonly Entry[]>): AsyncGenerator<readonly Entry[]> {
  for await (const batch of source) yield batch.some(endsRun) ? batch.map(withoutCancelled) : batch
}

const endsRun = ({ kind, data }: Entry): boolean => kind === 'event' && typeOfEventText(data) === 'RUN_FINISHED'

function withoutCancelled(entry: Entry): Entry {
  if (!endsRun(entry)) return entry
  const { outcome, ...finished }: RunEventOf<'RUN_FINISHED'> = JSON.parse(entry.data)
  return outcome?.type === 'cancelled' ? { ...entry, data: JSON.stringify(finished) } : entry
}
