import { ulidOf } from '../../../domain/ids.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { SessionQuery } from '../../../store/ports/sessions.ts'
import type { Store } from '../../../store/store.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'

const PAGE = 200

/** Which sessions: everybody's without an owner, those that lists leave out only with `unlisted`. */
export type SessionChoice = Pick<SessionQuery, 'owner' | 'unlisted'>

/** The sessions of a choice, the one used last first. */
export async function* eachSession(
  store: Pick<Store, 'sessions'>,
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
  store: Pick<Store, 'sessions'>,
  { limit, json, ...choice }: { owner?: string; limit: string; json?: boolean },
  io: Io,
): Promise<number> {
  const most = Number(limit)
  if (!Number.isInteger(most) || most < 1) {
    throw new CliError(exitCodes.usage.code, `--limit ${JSON.stringify(limit)}: expected a whole number from 1.`)
  }
  const sessions: SessionRecord[] = []
  for await (const session of eachSession(store, choice)) {
    sessions.push(session)
    if (sessions.length === most) break
  }
  if (json) {
    for (const session of sessions) io.stdout.write(`${JSON.stringify(summary(session))}\n`)
    return exitCodes.ok.code
  }
  if (sessions.length > 0) io.stdout.write(table(sessions, choice))
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

/** One line per session under a head, with its owner where it may be anybody's; also what `purge --dry-run` shows. */
export function table(sessions: readonly SessionRecord[], { owner }: SessionChoice): string {
  const ownerOf = (text: string): string[] => (owner === undefined ? [terminalLine(text, 40)] : [])
  const rows = sessions.map((session) => [
    ulidOf(session.id),
    ...ownerOf(session.owner),
    new Date(session.lastActivity).toISOString().slice(0, 16).replace('T', ' '),
    String(session.messageCount),
    session.agent,
    terminalLine(session.alias ?? '', 40),
  ])
  const head = ['SESSION', ...ownerOf('OWNER'), 'LAST USED (UTC)', 'MESSAGES', 'AGENT', 'NAME']
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
    .concat('\n')
}
