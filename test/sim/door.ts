// What a protocol does with a message, in the engine's words: find the session, take what is new, start the run.

import { parseUuid } from '../../src/domain/ids.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { AcceptedRun } from '../../src/engine/ports/runs.ts'
import type { Send } from './history.ts'

export interface DoorOptions {
  origin: 'reader' | 'background'
  /** Null: nothing is said about it. */
  onBusy: 'queue' | 'reject' | 'interrupt' | null
  whenWaiting?: 'refuse' | 'abandon'
  clientAnswers?: 'none' | 'next_request' | 'in_stream'
  /** Another body under the same key. */
  otherDigest?: boolean
}

export async function startRun(engine: Engine, send: Send, options: DoorOptions): Promise<AcceptedRun> {
  const { owner, thread, messageId, text, key, wireRunId } = send
  const session = await engine.sessions.find(owner, thread)
  const create = parseUuid(thread) === null ? { alias: thread } : { id: thread }
  return engine.runs.start({
    owner,
    agent: null,
    session: session === null ? { create } : { existing: session },
    ...(wireRunId === null ? {} : { wireRunId }),
    input: {
      messages: [{ id: messageId, role: 'user', content: text }],
      instructions: [],
      context: [],
      clientTools: [],
      wireThreadId: thread,
      ...(options.clientAnswers === undefined ? {} : { clientAnswers: options.clientAnswers }),
    },
    origin: options.origin,
    ...(options.onBusy === null ? {} : { onBusy: options.onBusy }),
    ...(options.whenWaiting === undefined ? {} : { whenWaiting: options.whenWaiting }),
    ...(key === null ? {} : { idempotency: { key, digest: options.otherDigest === true ? `not ${text}` : text } }),
  })
}
