// What operators wrote in the session's chat room, for the agent to read.

import { ServerError } from '../../domain/errors.ts'
import type { Messenger } from '../../supervision/messenger.ts'
import type { SupervisedSessions } from '../../supervision/sessions/supervised-sessions.ts'
import { agentIdentity, type McpResource } from './tool-table.ts'

interface RoomDeps {
  sessions: Pick<SupervisedSessions, 'attach'>
  messenger: Pick<Messenger, 'recent' | 'roomOf'>
}

const DEFAULT_LIMIT = 20
const MOST = 100

/** The room of the session alone: every other one is as if it were not there. */
export function createRoomResource({ sessions, messenger }: RoomDeps): McpResource {
  return {
    name: 'channel-recent',
    title: 'What operators wrote lately',
    description: `The newest messages of operators in the chat channel that your session reports to, oldest first. \`limit\` is 1 to ${MOST}, ${DEFAULT_LIMIT} if left out.`,
    mimeType: 'application/json',
    uriTemplates: ['slack://channel/{id}/recent{?limit}', 'slack://channel/{id}/recent'],
    async read(uri, { agent }) {
      const limit = readLimit(uri.searchParams.get('limit'))
      const session = await sessions.attach(agentIdentity(agent))
      const room = messenger.roomOf(session)
      if (room === null) {
        throw new ServerError('no_channel', 'Your session reports to no chat channel, so nobody writes to it there.')
      }
      const [, asked] = /^\/([^/]+)\/recent$/.exec(uri.pathname) ?? []
      if (asked !== room)
        throw new ServerError('record_not_found', `Your session has no channel ${JSON.stringify(asked ?? '')}.`)
      return JSON.stringify((await messenger.recent(room, limit)) ?? { messages: [], has_more: false })
    },
  }
}

function readLimit(text: string | null): number {
  const limit = text === null ? DEFAULT_LIMIT : Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST) return limit
  throw new ServerError('invalid_request', `limit must be a whole number from 1 to ${MOST}.`)
}
