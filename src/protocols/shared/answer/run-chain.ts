// A chain: a run, and the runs that continued it after answers. For the engine each wait ends a run; for some protocols the chain is
// one answer.

import type { RunRecord } from '../../../domain/session/run.ts'
import type { Engine } from '../../../engine/engine.ts'

/** The runs of a chain in order, up to the run that a reader is at. */
export type RunChain = readonly [RunRecord, ...RunRecord[]]

/** The run with those that it continues before it. */
export async function chainOf(engine: Pick<Engine, 'runs'>, run: RunRecord): Promise<RunChain> {
  let chain: RunChain = [run]
  for (let parent = await parentOf(engine, run); parent !== null; parent = await parentOf(engine, parent)) {
    chain = [parent, ...chain]
  }
  return chain
}

/** The same, with those that continue it behind it. */
export async function wholeChain(engine: Pick<Engine, 'runs'>, run: RunRecord): Promise<RunChain> {
  const next = await engine.runs.continuation(run)
  return next === null || (await parentOf(engine, next))?.id !== run.id
    ? chainOf(engine, run)
    : wholeChain(engine, next)
}

/** The run that this one continues; null for a run that began with a user message. */
async function parentOf(engine: Pick<Engine, 'runs'>, run: RunRecord): Promise<RunRecord | null> {
  const { parentRunId, input, sessionId } = run
  if (parentRunId === null || input.messages.some(({ role }) => role === 'user')) return null
  const parent = await engine.runs.byWireId(sessionId, parentRunId)
  return parent === null || parent.createdAt > run.createdAt || parent.id === run.id ? null : parent
}

/** The first run of the chain. */
export async function firstRun(engine: Pick<Engine, 'runs'>, run: RunRecord): Promise<RunRecord> {
  const parent = await parentOf(engine, run)
  return parent === null ? run : firstRun(engine, parent)
}
