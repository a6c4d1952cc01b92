import { typeOfEventText } from '../../../domain/event.ts'
import { isFinished, type RunRecord } from '../../../domain/run.ts'
import { createRunFold, foldedTypes, type RunAnswer } from '../../../domain/run-answer.ts'
import type { Engine } from '../../../engine/engine.ts'
import { entriesUpTo } from './stream-answer.ts'

/**
 * The answer of a run as the log has it, with what the runs said that went on from it; null while one of them is at work or
 * waits. `goesOn` tells, by the answer so far, whether the next one is part of it.
 */
export async function readAnswer(
  engine: Pick<Engine, 'sessions' | 'runs'>,
  first: RunRecord,
  goesOn: (soFar: RunAnswer) => boolean = () => true,
): Promise<RunAnswer | null> {
  const fold = createRunFold()
  for (let run = first; ; ) {
    // On the wire a waiting run has ended, and has said what it waits for.
    if (!isFinished(run.status) && run.status !== 'waiting') return null
    for await (const { kind, data } of entriesUpTo(engine, [run], run.lastSeq ?? 0)) {
      if (kind === 'event' && foldedTypes.has(typeOfEventText(data))) fold.add(JSON.parse(data))
    }
    const answer = fold.answer()
    if (answer === null || answer.outcome !== 'waiting' || !goesOn(answer)) return answer
    const next = await engine.runs.continuation(run)
    if (next === null) return run.status === 'waiting' ? null : answer
    run = next
  }
}
