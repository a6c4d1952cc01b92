import type { SessionRecord } from '../../../domain/session/session.ts'
import type { SessionQuery } from '../../../store/ports/sessions.ts'
import type { ReadOnlyStore, StoreReads } from '../../../store/store-reads.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { localMinute, localZone } from '../../terminal/local-time.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { textTable } from '../../terminal/text-table.ts'

const PAGE = 200

/** Which sessions: of all users unless `owner` is set, and the ones that lists hide only with `unlisted`. */
export type SessionChoice = Pick<SessionQuery, 'owner' | 'unlisted'>

/** The most recently used first. */
export async function* eachSession(
  store: Pick<StoreReads, 'sessions'>,
  choice: SessionChoice,
): AsyncGenerator<SessionRecord> {
  let before: SessionQuery['before']
  for (;;) {
    const page = await store.sessions.list({ ...choice, limit: PAGE, ...(before === undefined ? {} : { before }) })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    before = { lastActivity: last.lastActivity, id: last.id }
  }
}

export async function listSessions(
  stored: Pick<ReadOnlyStore, 'read'>,
  { limit, json, ...choice }: { owner?: string; limit: string; json?: boolean },
  io: Io,
): Promise<number> {
  const most = Number(limit)
  if (!Number.isInteger(most) || most < 1) {
    throw new CliError(exitCodes.usage.code, `--limit ${JSON.stringify(limit)}: expected a whole number of at least 1.`)
  }
  const sessions: SessionRecord[] = []
  await stored.read(async (store) => {
    for await (const session of eachSession(store, choice)) {
      sessions.push(session)
      if (sessions.length === most) return
    }
  })
  if (json) {
    for (const session of sessions) io.stdout.write(`${JSON.stringify(summary(session))}\n`)
    return exitCodes.ok.code
  }
  if (sessions.length > 0) io.stdout.write(sessionTable(sessions, choice))
  else io.stderr.write(choice.owner === undefined ? 'There are no sessions.\n' : `${choice.owner} has no sessions.\n`)
  return exitCodes.ok.code
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

/** One line per session. The owner is a column unless the choice names one. */
export function sessionTable(sessions: readonly SessionRecord[], { owner }: SessionChoice): string {
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
