// A client whose sessions are short-lived: it asks, reads, and deletes the session while the answer is still on its way.
// Nothing of it may be left, and nobody may wait for what is gone.

import { isTerminalText } from '../../src/domain/session/event.ts'
import { startRun } from './door.ts'
import type { History, Send } from './history.ts'
import type { Kernel } from './kernel.ts'
import type { Net } from './net.ts'
import type { Random } from './random.ts'

export interface LitterDeps {
  kernel: Kernel
  random: Random
  net: Net
  history: History
  isCalm: () => boolean
}

const again = new Set(['refused', 'lost', 'shutting_down', 'storage_full', 'storage_failed', 'too_many_runs'])
/** Answers that make sense where a session may be deleted at any time. */
const isFair = (code: string): boolean =>
  again.has(code) || ['session_not_found', 'run_not_found', 'events_gone', 'approval_pending'].includes(code)

/** Resolves when its sessions are deleted and its streams have ended. */
export async function litter(
  { kernel, random, net, history, isCalm }: LitterDeps,
  { name, owner, sessions }: { name: string; owner: string; sessions: number },
): Promise<void> {
  const complain = (message: string) => history.findings.push({ checker: 'deletions', message: `${name}: ${message}` })

  async function ask(thread: string, number: number): Promise<string | null> {
    const messageId = `${thread}-${number}`
    const send: Send = {
      client: name,
      number,
      owner,
      thread,
      messageId,
      text: `litter ${messageId}`,
      key: `key-${messageId}`,
      wireRunId: null,
      acks: [],
      refusals: [],
    }
    for (;;) {
      const reply = await net.request(`${messageId} send`, ({ engine }) =>
        startRun(engine, send, { origin: random.pick(['reader', 'background']), onBusy: 'queue' }),
      )
      if (reply.ok) {
        const { run } = reply.value
        if (random.chance(0.7)) streams.push(read(messageId, run.sessionId, run.id))
        return run.sessionId
      }
      if (!isFair(reply.code)) complain(`${messageId} was refused with ${reply.code}`)
      if (!again.has(reply.code)) return null
      await kernel.sleep(100)
    }
  }

  async function read(label: string, sessionId: string, runId: string): Promise<void> {
    for (let after = 0; ; ) {
      const connection = net.follow(label, { sessionId, runId, after })
      const leaves = !isCalm() && random.chance(0.7)
      let item = await connection.receive()
      for (; item.type === 'batch'; item = await connection.receive()) {
        const last = item.entries.at(-1)
        after = item.entries.findLast(({ kind }) => kind === 'event')?.seq ?? after
        if (last !== undefined && isTerminalText(last.data)) return connection.close()
        if (random.chance(0.2)) await kernel.sleep(random.float() * 1_000)
        if (leaves) break
      }
      connection.close()
      if (item.type === 'failed' && !isFair(item.code)) complain(`${label} could not be read: ${item.code}`)
      if (item.type === 'failed' && !again.has(item.code)) return
      await kernel.sleep(random.float() * 60)
    }
  }

  async function remove(sessionId: string): Promise<void> {
    history.deletions.push(sessionId)
    for (;;) {
      const reply = await net.request(`${sessionId.slice(-6)} delete`, async ({ engine }) => {
        await engine.sessions.remove(await engine.sessions.get(owner, sessionId))
      })
      if (reply.ok || reply.code === 'session_not_found') return
      if (!again.has(reply.code)) complain(`session ${sessionId} could not be deleted: ${reply.code}`)
      await kernel.sleep(100)
    }
  }

  const streams: Promise<void>[] = []
  for (let number = 1; number <= sessions && !isCalm(); number += 1) {
    const thread = `${name}-${number}`
    await kernel.sleep(random.float() * 1_500)
    const sessionId = await ask(thread, 1)
    if (sessionId === null) continue
    const more = random.chance(0.5) ? kernel.sleep(random.float() * 400).then(() => ask(thread, 2)) : null
    await kernel.sleep(random.float() * 500)
    await remove(sessionId)
    // What came between, or after, has made a session of the same name.
    const other = await more
    if (other !== null && other !== undefined) await remove(other)
  }
  await Promise.all(streams)
}
