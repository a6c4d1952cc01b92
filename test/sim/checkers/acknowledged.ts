// P1, P2: what was acknowledged is stored, once, in the order in which its client said it.

import { isFinished } from '../../../src/domain/session/run.ts'
import { type Checker, type Evidence, entriesOf, factsIn } from '../evidence.ts'
import type { Send } from '../history.ts'

export const acknowledged: Checker = {
  name: 'acknowledged',
  check: (evidence) => [
    ...evidence.history.sends.flatMap((send) => checkSend(evidence, send)),
    ...checkOrder(evidence),
    ...checkModelInput(evidence),
    ...checkStatuses(evidence),
  ],
}

function checkSend({ runs, sessions }: Evidence, send: Send): string[] {
  const { messageId, acks } = send
  const holders = [...runs.values()].filter((run) => run.input.messages.some(({ id }) => id === messageId))
  const problems: string[] = []
  if (holders.length > 1) problems.push(`${messageId} was taken ${holders.length} times`)
  if (acks.filter(({ existing }) => !existing).length > 1) problems.push(`${messageId} was acknowledged as new twice`)
  for (const { runId, sessionId } of acks) {
    const run = runs.get(runId)
    if (run === undefined || run.sessionId !== sessionId || holders[0]?.id !== runId) {
      problems.push(`${messageId} was acknowledged as run ${runId}, which the store does not have`)
      continue
    }
    const session = sessions.get(sessionId)
    const facts = factsIn(entriesOf(session?.log ?? [], runId))
    if (facts.filter(({ fact }) => fact === 'run_accepted').length !== 1) {
      problems.push(`${messageId}: the log of run ${runId} does not say once that it was accepted`)
    }
    if (run.startedAt === null) continue
    const stored = session?.messages.filter(({ id }) => id === messageId) ?? []
    if (stored.length !== 1 || stored[0]?.content !== send.text || stored[0].runId !== runId) {
      problems.push(`${messageId} is not among the messages of run ${runId}, which has begun`)
    }
    const first = session?.log.find((entry) => entry.seq === run.firstSeq)
    const started = first?.kind === 'event' ? first.event : null
    if (started?.type !== 'RUN_STARTED' || started.input?.messages?.[0]?.id !== messageId) {
      problems.push(`${messageId} is not in the RUN_STARTED of run ${runId}`)
    }
  }
  return problems
}

/** A client sends the next message when the one before is acknowledged, so the log has them in that order. */
function checkOrder({ history, sessions }: Evidence): string[] {
  return [...sessions.values()].flatMap(({ id, log }) => {
    const order = factsIn(log).flatMap((fact) => (fact.fact === 'run_accepted' ? fact.message_ids : []))
    const clients = Map.groupBy(
      history.sends.filter(({ acks }) => acks[0]?.sessionId === id),
      ({ client }) => client,
    )
    return [...clients].flatMap(([client, sends]) => {
      const places = sends.map(({ messageId }) => order.indexOf(messageId))
      const sorted = places.toSorted((a, b) => a - b)
      return places.join() === sorted.join() ? [] : [`the messages of ${client} are stored in the order ${places}`]
    })
  })
}

/** The user's message is on disk before the model is called. */
function checkModelInput({ history, sessions }: Evidence): string[] {
  const stored = new Set([...sessions.values()].flatMap(({ messages }) => messages.map(({ content }) => content)))
  return (
    [...history.modelSaw]
      // Litter is deleted with its session.
      .filter((text) => !stored.has(text) && !text.startsWith('litter '))
      .map((text) => `the model was shown "${text}", which is not stored`)
  )
}

function checkStatuses({ history, runs }: Evidence): string[] {
  return history.statuses
    .filter(({ runId, status }) => isFinished(status) && runs.get(runId)?.status !== status)
    .map(({ runId, status }) => `run ${runId} was said to be ${status} and is ${runs.get(runId)?.status} now`)
}
