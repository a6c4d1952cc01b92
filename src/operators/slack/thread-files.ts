// Files in the threads of sessions: what is too long for a message. Each is uploaded once.

import type { SessionRecord } from '../../domain/session/session.ts'
import { createTurns } from '../../supervision/sessions/turns.ts'
import type { ThreadFile } from './cards/blocks.ts'
import { type FailureKind, kindOf, SlackFailure } from './slack-failure.ts'
import type { RoomParts } from './slack-room.ts'

/** A file that Slack refuses for good is left out, and the log says so. */
export type AttachFiles = (session: SessionRecord, files: readonly ThreadFile[]) => Promise<void>

const FOR_GOOD: readonly FailureKind[] = ['content', 'scope', 'gone', 'other']

export function createAttachFiles(deps: Omit<RoomParts, 'reply'>): AttachFiles {
  const { room, channel, api, threads, outbox, log, clock, logger } = deps
  const turns = createTurns()

  async function attach(sessionId: string, thread: string, file: ThreadFile): Promise<void> {
    const key = `file/${sessionId}/${file.name}`
    const write = (value: string) =>
      log.commit({ type: 'note_for_channel', channel, key, value, session: sessionId, at: clock.now() })
    const before = await outbox.note(channel, key)
    if (before?.value === 'there') return
    // A try before this one may have worked.
    const isThere = before !== null && (await api.keys(room, thread)).has(`file/${file.name}`)
    if (before === null) await write('begun')
    if (!isThere) await api.upload(room, thread, file)
    await write('there')
  }

  return async (session, files) => {
    if (files.length === 0) return
    const thread = await threads.begin(session, { urgency: 'delivery' })
    for (const file of files) {
      try {
        await turns(`${session.id} ${file.name}`, () => attach(session.id, thread, file))
      } catch (error) {
        if (!(error instanceof SlackFailure) || !FOR_GOOD.includes(kindOf(error))) throw error
        logger.error('a file could not be put into a thread of Slack', { room, error })
      }
    }
  }
}
