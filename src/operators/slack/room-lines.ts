// What a room is told without being asked: lines of agents, and what the server says about them. They come through an outbox of their own.

import { DeliveryFailed, type OperatorChannel } from '../operator.ts'
import { logLine, notice } from './cards/messages.ts'
import { createEarlierPosts } from './earlier-posts.ts'
import type { PostReply } from './room-cards.ts'
import type { SessionThreads } from './session-threads.ts'
import { SlackFailure } from './slack-failure.ts'
import type { RoomDeps } from './slack-room.ts'
import type { AttachFiles } from './thread-files.ts'

interface LineDeps extends RoomDeps {
  /** Under which the room itself has its outbox. */
  channel: string
  threads: SessionThreads
  reply: PostReply
  attach: AttachFiles
}

export const linesName = (channel: string): string => `${channel}:lines`

export function createRoomLines(deps: LineDeps): OperatorChannel {
  const { room, api, desk, looks, threads, reply, attach } = deps
  const name = linesName(deps.channel)
  const earlier = createEarlierPosts({ ...deps, channel: name, threads })

  return {
    name,
    surface: 'remote',
    room,
    concerns: () => false,
    takeOver: earlier.takeOver,
    // A line that Slack will never take is in the log of the server, and nobody has to answer it.
    deliver: async () => null,

    say: (delivery, signal) =>
      earlier.attempt(delivery, signal, async () => {
        const { item: line } = delivery
        const session = line === null ? null : await desk.session(line.sessionId)
        if (line === null || session === null) return
        const key = `line/${line.id}`
        const message =
          line.by === 'agent' ? logLine(looks.session(session), line.level, line.text, line.id) : notice(line.text)
        const { thread } = line
        const isOurs = thread !== null && (await threads.sessionOf(thread)) === session.id
        if ((await earlier.inThread(delivery, session, key, isOurs ? thread : null)) === null) {
          const how = { urgency: 'line', signal } as const
          if (isOurs) await api.post(room, message, { ...how, thread, key })
          else await reply(session, message, key, how)
        }
        await attach(session, message.files).catch((error: unknown) => {
          // The line is there. The next try finds it, and uploads the rest.
          const { retryAfterMs } = error instanceof SlackFailure ? error : { retryAfterMs: 0 }
          throw new DeliveryFailed('The rest of a line did not get to Slack.', { retryAfterMs, cause: error })
        })
      }),
    close: async () => {},
  }
}
