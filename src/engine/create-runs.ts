// Every door starts, watches and stops work here.

import { sleep } from '../domain/clock.ts'
import { hasCode, runNotFound, ServerError } from '../domain/errors.ts'
import { parseUuid } from '../domain/ids.ts'
import { isFinished } from '../domain/session/run.ts'
import { refuseOtherAgent } from '../domain/supervision/token-role.ts'
import { type AcceptRun, agentOf, knownSession, refuseWhileDraining } from './accept-run.ts'
import type { CancelRun } from './cancel-run.ts'
import type { EngineParts } from './create-engine.ts'
import type { Agents } from './engine.ts'
import type { AcceptedRun, Admit, Runs, StartRequest } from './ports/runs.ts'
import { type FollowDeps, followEntries } from './sessions/follow.ts'
import { isUserMessage } from './waits/continuation.ts'
import { answersOf, type RequestAnswersDeps } from './waits/request-answers.ts'
import { MOST_WAITS } from './waits/synced-waits.ts'

interface RunsDeps
  extends RequestAnswersDeps,
    FollowDeps,
    Pick<EngineParts, 'store' | 'limits' | 'clock' | 'isOnlyProcess' | 'admit'> {
  served: Agents
  accept: AcceptRun
  cancel: CancelRun
}

export function createRuns(deps: RunsDeps): Runs {
  const { store, log, cancel } = deps
  return {
    handsOver: !deps.isOnlyProcess,
    start: (request) => startRun(deps, request),
    open: store.runs.open,
    byWireId: store.runs.byWireId,
    follow: (target, signal) => followEntries(deps, target, signal),
    cancel: async (run, by) => (isFinished(run.status) ? run : cancel(run, by)),

    async get(owner, runId) {
      const id = parseUuid(runId)
      const run = (id === null ? null : await store.runs.get(id)) ?? (await store.runs.ofOwner(owner, runId))
      if (run === null || run.owner !== owner) throw runNotFound(runId)
      // Whoever hears that a run has ended must never find it running again.
      if (isFinished(run.status)) await log.synced(run.sessionId)
      return run
    },

    async list(sessionId, limit, before) {
      const runs = await store.runs.latest(sessionId, limit, before)
      await log.synced(sessionId)
      return runs
    },

    async continuation(run) {
      const waits = await store.waits.list({ sessionId: run.sessionId, runId: run.id, limit: MOST_WAITS })
      // An answer that came while the run was running was taken by the run itself.
      const next = waits.find((wait) => wait.continuationRunId !== null && wait.continuationRunId !== run.id)
      const id = next?.continuationRunId ?? null
      return id === null ? null : store.runs.get(id)
    },
  }
}

async function startRun(deps: RunsDeps, request: StartRequest): Promise<AcceptedRun> {
  const { served, runner, gate, limits } = deps
  refuseWhileDraining(runner)
  // Throws for an unknown agent, or a session of an agent elsewhere, before anything is answered.
  refuseOtherAgent(request.onlyAgent, agentOf(served, request).name)
  const session = knownSession(request)
  const continuation = session === null ? null : await answersOf(deps, request, session)
  // Work that was begun may go on: only new work is refused.
  if (continuation === null && runner.active >= limits.activeRuns) throw tooManyRuns(limits.activeRuns)
  // What was begun may go on: an answer to what an agent asked is never refused.
  const accept = deps.admit === null || continuation !== null ? deps.accept : await admitted(deps, deps.admit, request)
  const accepted = await accept(request, continuation)
  for (const { applied, wait } of accepted.answered ?? []) {
    // It was asked again just now, so there is no run to attach to.
    if (!applied && wait?.wait === 'approval') await gate.refuseReplaced(wait)
  }
  const userMessages = request.input.messages.filter(isUserMessage)
  const isRepeat = accepted.run.wireId === request.wireRunId
  if (continuation === null || !accepted.existing || isRepeat || userMessages.length === 0) return accepted
  // Somebody else answered just now, or a running run took the answer. The new message becomes the next run.
  return accept({ ...request, input: { ...request.input, messages: userMessages } }, null)
}

/** Takes a run if `admit` lets it. A request that is sent again is not refused. Throws what `admit` throws. */
async function admitted({ accept, clock }: RunsDeps, admit: Admit, starter: StartRequest): Promise<AcceptRun> {
  try {
    const settle = await admit(starter)
    return async (...args) => {
      try {
        const accepted = await accept(...args)
        settle(!accepted.existing)
        return accepted
      } catch (error) {
        settle(false)
        throw error
      }
    }
  } catch (refusal) {
    if (starter.wireRunId === undefined && starter.idempotency === undefined) throw refusal
    return async (request, continuation) => {
      const repeat = () => accept({ ...request, onlyRepeat: true }, continuation)
      return repeat()
        .catch(unlessNew(() => sleep(clock, FIRST_TRY_MS).then(repeat)))
        .catch(unlessNew(() => Promise.reject(refusal)))
    }
  }
}

/** Another process may be taking the same request at this moment. It counts already, and is stored within this time. */
const FIRST_TRY_MS = 250

const unlessNew =
  <T>(then: () => Promise<T>) =>
  (error: unknown): Promise<T> => {
    if (hasCode(error, 'conflict')) return then()
    throw error
  }

const tooManyRuns = (limit: number): ServerError =>
  new ServerError('too_many_runs', `${limit} runs are active, the server's limit. Try again soon.`, {
    details: { retry_after_seconds: 1 },
  })
