// What clients have seen, held against what is stored in the end. Knows nothing of how the servers work.

import { openSharedReads } from '../../../src/app/open-store.ts'
import { storedTrail } from '../../../src/cli/commands/audit/verify.ts'
import { createSystemClock } from '../../../src/domain/clock.ts'
import { silentLogger } from '../../../src/domain/logger.ts'
import type { StoredMessage } from '../../../src/domain/session/message.ts'
import { isFinished, type RunRecord } from '../../../src/domain/session/run.ts'
import { LOCAL_USER } from '../../../src/domain/session/session.ts'
import { verifyTrail } from '../../../src/store/verify-trail.ts'
import { type Frame, record } from '../../crash/support/sse-recorder.ts'
import type { Talk, View } from './talk.ts'
import type { Team } from './team.ts'

/**
 * It ended with `needs_review`, in the words of its door: a call that may have had its effect is not made again, and a model that was
 * answering while two servers died is not asked a third time.
 */
export const isForReview = ({ kind, failure }: Talk): boolean =>
  failure === (kind === 'thread' ? 'tool' : 'needs_review')

/** Everything that is wrong. */
export async function checkTalks(team: Team, talks: readonly Talk[]): Promise<string[]> {
  const views = talks.flatMap((talk) => talk.views)
  return [
    ...talks.flatMap(({ faults }) => faults),
    ...views.flatMap(orderFaults),
    ...(await differencesToTheLog(views)),
    ...(await storeFaults(team, talks)),
    ...effectFaults(team, talks),
    ...talks.flatMap((talk) => {
      const { name, failure } = talk
      return failure === null || isForReview(talk) ? [] : [`${name}: it ended with ${failure}`]
    }),
  ]
}

const seqOf = ({ id }: Frame): number => Number(id?.split('.')[1])

function orderFaults({ name, frames }: View): string[] {
  // Two frames of one event have one id at doors that cut an event into several frames.
  const seqs = frames.map(seqOf)
  return seqs.every((seq, i) => i === 0 || seq >= (seqs[i - 1] ?? 0)) ? [] : [`${name}: the ids do not rise: ${seqs}`]
}

/** What a client has seen piece by piece is what a new reader gets in one go. */
async function differencesToTheLog(views: readonly View[]): Promise<string[]> {
  const faults: string[] = []
  for (const { name, frames, again } of views) {
    const { frames: all, status } = await record(again).done
    const log = all.filter(({ id }) => id !== null)
    if (JSON.stringify(log) !== JSON.stringify(frames)) {
      const at = frames.findIndex((frame, i) => JSON.stringify(frame) !== JSON.stringify(log[i]))
      const shown = (list: readonly Frame[]) => JSON.stringify(list.slice(Math.max(0, at - 1), at + 2))
      faults.push(
        `${name}: saw ${frames.length} frames, the log (${status}) has ${log.length}; at ${at}: saw ${shown(frames)}, the log has ${shown(log)}`,
      )
    }
  }
  return faults
}

/** Each message is stored once if it was acknowledged, and never twice; each run has ended; the audit trail is whole. */
async function storeFaults(team: Team, talks: readonly Talk[]): Promise<string[]> {
  const { stored, close } = await openSharedReads({
    url: team.storeUrl(),
    clock: createSystemClock(),
    log: silentLogger,
  })
  try {
    return await stored.read(async (reads) => {
      const faults: string[] = []
      for (const talk of talks) {
        const session =
          (await reads.sessions.get(talk.session)) ?? (await reads.sessions.byAlias(LOCAL_USER, talk.session))
        if (session === null && !talk.acknowledged) continue
        if (session === null) faults.push(`${talk.name}: was acknowledged, and its session is lost`)
        else
          faults.push(...sessionFaults(talk, await reads.messages.all(session.id), await reads.runs.list(session.id)))
      }
      const { problems } = await verifyTrail(storedTrail(reads.audit))
      return [...faults, ...problems.map((problem) => `the audit trail: ${JSON.stringify(problem)}`)]
    })
  } finally {
    await close()
  }
}

function sessionFaults(
  { name, text, acknowledged }: Talk,
  messages: readonly StoredMessage[],
  runs: readonly RunRecord[],
): string[] {
  const faults: string[] = []
  const count = messages.filter(({ role, content }) => role === 'user' && content === text).length
  if (count > 1) faults.push(`${name}: its message is stored ${count} times`)
  if (acknowledged && count === 0) faults.push(`${name}: its message was acknowledged and is lost`)
  for (const { id, status } of runs) if (!isFinished(status)) faults.push(`${name}: run ${id} stays ${status}`)
  const begun = runs.filter(({ parentRunId, origin }) => parentRunId === null && origin !== 'answer').length
  if (begun > 1) faults.push(`${name}: it began ${begun} runs`)
  return faults
}

/** No call has had its effect twice. One whose result was stored has had it. */
function effectFaults(team: Team, talks: readonly Talk[]): string[] {
  const faults: string[] = []
  const calls = new Map<string, number>()
  const sessions = new Map<string, number>()
  for (const { call, session } of team.ledger()) {
    calls.set(call, (calls.get(call) ?? 0) + 1)
    sessions.set(session, (sessions.get(session) ?? 0) + 1)
  }
  for (const [call, n] of calls) if (n > 1) faults.push(`the call ${call} has had its effect ${n} times`)
  for (const [session, n] of sessions) if (n > 1) faults.push(`session ${session} has had ${n} effects`)
  const hasResult = talks.filter(({ kind, ended, failure }) => isEffect(kind) && ended && failure === null)
  if (sessions.size < hasResult.length) {
    faults.push(`${hasResult.length} calls were answered, but only ${sessions.size} have had their effect`)
  }
  return faults
}

export const isEffect = (kind: Talk['kind']): boolean => kind === 'charge' || kind === 'pay'
