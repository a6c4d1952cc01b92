// A client that talks: sends messages one after the other, again when no answer came, reads what it asked for, changes its mind.

import { isFinished } from '../../src/domain/session/run.ts'
import { type DoorOptions, startRun } from './door.ts'
import type { Faults } from './faults.ts'
import type { History, Send } from './history.ts'
import type { Kernel } from './kernel.ts'
import type { Net } from './net.ts'
import type { Random } from './random.ts'
import { readEntries } from './reader.ts'

export interface ClientDeps {
  kernel: Kernel
  random: Random
  net: Net
  faults: Faults
  history: History
  isCalm: () => boolean
}

export interface ClientOptions {
  name: string
  owner: string
  threads: readonly [string, ...string[]]
  messages: number
}

/** Whoever gets one of these tries again: nothing was done, or nobody knows. */
const again = new Set(['refused', 'lost', 'shutting_down', 'storage_full', 'storage_failed', 'too_many_runs'])
/** The session was busy and the client had said what to do then, it waits for an answer, or its operator has paused or ended it. */
const busy = new Set(['run_in_progress', 'queue_full', 'approval_pending', 'session_paused', 'session_ended'])

/** Resolves when it has nothing more to say and its readers are through. */
export async function talk(deps: ClientDeps, { name, owner, threads, messages }: ClientOptions): Promise<void> {
  const { kernel, random, net, faults, history, isCalm } = deps
  const readers: Promise<void>[] = []
  const readerDeps = { ...deps, faults: faults.reader }

  function newSend(number: number): Send {
    const id = `${name}-${number}`
    const proof = random.pick(['key', 'run', 'both', 'none'])
    const send: Send = {
      client: name,
      number,
      owner,
      thread: random.pick(threads),
      messageId: id,
      text: `say ${id}`,
      key: proof === 'key' || proof === 'both' ? `key-${id}` : null,
      wireRunId: proof === 'run' || proof === 'both' ? `run-${id}` : null,
      acks: [],
      refusals: [],
    }
    history.sends.push(send)
    return send
  }

  async function sendOnce(send: Send, options: DoorOptions): Promise<string | null> {
    const reply = await net.request(`${send.messageId} send`, ({ engine }) => startRun(engine, send, options))
    if (!reply.ok) {
      send.refusals.push(reply.code)
      return reply.code
    }
    const { run, existing } = reply.value
    send.acks.push({ at: kernel.time, runId: run.id, sessionId: run.sessionId, existing })
    return null
  }

  async function sendUntilAnswered(send: Send, options: DoorOptions): Promise<void> {
    const isProven = send.key !== null || send.wireRunId !== null
    for (;;) {
      const code = await sendOnce(send, options)
      if (code === null || busy.has(code)) return
      if (!again.has(code)) {
        history.findings.push({ checker: 'client', message: `${send.messageId} was refused with ${code}` })
        return
      }
      // Without a key the client cannot know whether its message was taken, and must not say it twice.
      if (code === 'lost' && !isProven) return
      await kernel.sleep(50 + random.float() * (isCalm() ? 50 : 400))
    }
  }

  async function sendAnotherBody(send: Send, options: DoorOptions): Promise<void> {
    const reply = await net.request(`${send.messageId} other body`, ({ engine }) =>
      startRun(engine, send, { ...options, otherDigest: true }),
    )
    if (!reply.ok && (reply.code === 'idempotency_mismatch' || again.has(reply.code))) return
    const answer = reply.ok ? 'accepted' : `refused with ${reply.code}`
    history.findings.push({ checker: 'acknowledged', message: `${send.messageId}: another body was ${answer}` })
  }

  async function cancelLater(runId: string): Promise<void> {
    await kernel.sleep(random.float() * 1_500)
    const reply = await net.request(`${runId.slice(-6)} cancel`, async ({ engine, process }) => {
      const run = await engine.runs.cancel(await engine.runs.get(owner, runId), name)
      return { run, life: process.number }
    })
    if (!reply.ok) return
    const { run, life } = reply.value
    history.cancels.push({ runId, sessionId: run.sessionId, at: kernel.time, life, status: run.status })
  }

  /** Asks for the run's status until it has ended. */
  async function poll(runId: string): Promise<void> {
    while (!isCalm()) {
      await kernel.sleep(random.float() * 120)
      const reply = await net.request(`${runId.slice(-6)} look`, ({ engine }) => engine.runs.get(owner, runId))
      if (reply.ok) history.statuses.push({ runId, status: reply.value.status, at: kernel.time })
      else if (reply.code === 'run_not_found') {
        history.findings.push({ checker: 'acknowledged', message: `the accepted run ${runId} was not found` })
      }
      if (reply.ok && isFinished(reply.value.status)) return
    }
  }

  for (let number = 1; number <= messages; number += 1) {
    await kernel.sleep(random.float() * 1_200)
    if (isCalm()) break
    const send = newSend(number)
    const options: DoorOptions = {
      origin: random.pick(['reader', 'background']),
      onBusy: random.pick([null, 'queue', 'reject', 'interrupt']),
      whenWaiting: random.pick(['refuse', 'abandon']),
      clientAnswers: random.pick(['none', 'next_request', 'in_stream']),
    }
    const isProven = send.key !== null || send.wireRunId !== null
    const twice = isProven && random.chance(faults.net.twice)
    await Promise.all([sendUntilAnswered(send, options), ...(twice ? [sendUntilAnswered(send, options)] : [])])
    const ack = send.acks[0]
    if (ack === undefined) continue
    const { runId, sessionId } = ack
    const read = (name: string, target: string | null) =>
      readEntries(readerDeps, { name: `${send.messageId}/${name}`, sessionId, runId: target })
    const runReaders = random.pick([0, 1, 1, 2])
    for (let i = 1; i <= runReaders; i += 1) readers.push(read(String(i), runId))
    if (random.chance(0.2)) readers.push(kernel.sleep(random.float() * 6_000).then(() => read('late', runId)))
    // Who reads a whole session has no end to wait for.
    if (random.chance(0.15)) void read('all', null)
    if (random.chance(0.1)) void kernel.sleep(random.float() * 6_000).then(() => read('all late', null))
    if (random.chance(faults.cancels)) readers.push(cancelLater(runId))
    if (random.chance(0.3)) readers.push(poll(runId))
    if (isProven && random.chance(0.2)) await sendUntilAnswered(send, options)
    if (send.key !== null && random.chance(0.1)) await sendAnotherBody(send, options)
  }
  await Promise.all(readers)
}
