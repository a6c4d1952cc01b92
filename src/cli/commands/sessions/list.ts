import { pageByPage } from '../../../domain/page-by-page.ts'
import { present } from '../../../domain/present.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { ReadOnlyStore, StoreReads } from '../../../store/store.ts'
import { countFlag } from '../../command.ts'
import type { Io } from '../../terminal/io.ts'
import { localMinute, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'

const PAGE = 200

/** The most recently used first, of all users unless `owner` is set. Lists hide some: `unlisted` includes them. */
export const eachSession = (store: Pick<StoreReads, 'sessions'>, owner: string | undefined, unlisted: boolean) =>
  pageByPage<SessionRecord>(PAGE, (last) => {
    const before = last && { lastActivity: last.lastActivity, id: last.id }
    return store.sessions.list({ ...present({ owner, before }), unlisted, limit: PAGE })
  })

export async function listSessions(
  stored: Pick<ReadOnlyStore, 'read'>,
  { owner, limit, json }: { owner?: string; limit: string; json?: boolean },
  io: Io,
): Promise<void> {
  const most = countFlag('--limit', limit)
  const sessions: SessionRecord[] = []
  await stored.read(async (store) => {
    for await (const session of eachSession(store, owner, false)) {
      sessions.push(session)
      if (sessions.length === most) return
    }
  })
  if (json) {
    for (const session of sessions) io.stdout.write(`${JSON.stringify(summary(session))}\n`)
  } else if (sessions.length > 0) io.stdout.write(sessionTable(sessions, owner))
  else io.stderr.write(owner === undefined ? 'There are no sessions.\n' : `${owner} has no sessions.\n`)
}

function summary(session: SessionRecord) {
  return {
    session_id: session.id,
    owner: session.owner,
    alias: session.alias,
    agent: session.agent,
    status: session.status,
    message_count: session.messageCount,
    created_at: new Date(session.createdAt).toISOString(),
    last_activity: new Date(session.lastActivity).toISOString(),
  }
}

/** One line per session. With an owner, no column names it. */
export function sessionTable(sessions: readonly SessionRecord[], owner: string | undefined): string {
  const ownerOf = (text: string): string[] => (owner === undefined ? [terminalLine(text, 40)] : [])
  return textTable(
    ['SESSION', ...ownerOf('OWNER'), `LAST USED (${localZone()})`, 'MESSAGES', 'AGENT', 'NAME'],
    sessions.map((session) => [
      session.id,
      ...ownerOf(session.owner),
      localMinute(session.lastActivity),
      String(session.messageCount),
      session.agent,
      terminalLine(session.alias ?? '', 40),
    ]),
  )
}
