import type { Session } from 'quarterdeck/client'
import { memo } from 'react'
import { Link, useLocation } from 'wouter'
import { Badge } from '../../parts/Badge.tsx'
import { AgentIcon, ChatIcon, DeleteIcon, ExportIcon, MoreIcon } from '../../parts/icons.ts'
import { Menu } from '../../parts/Menu.tsx'
import { Time } from '../../parts/Time.tsx'
import { counted, fullCount, kindWord, shortCount, statusTone, statusWord } from '../../words.ts'
import { useExportSession } from '../session/actions/use-export-session.ts'
import styles from './SessionRow.module.css'
import { rowLinkId } from './use-row-keys.ts'

export const ROW_HEIGHT = 60

interface RowProps {
  session: Session
  /** They stay the same, so that a row is drawn again only if its session has changed. */
  onDelete: (session: Session) => void
  onFocus: (id: string) => void
}

export const SessionRow = memo(function SessionRow({ session, onDelete, onFocus }: RowProps) {
  const { session_id, title, agent, owner, kind, status, pending, message_count, tokens, updated_at } = session
  const [, go] = useLocation()
  const exportSession = useExportSession()
  const state = session.supervision?.status ?? status
  return (
    <div className={styles.row}>
      <div className={styles.icon} title={kindWord(kind)}>
        {kind === 'supervised' ? <AgentIcon aria-hidden="true" /> : <ChatIcon aria-hidden="true" />}
      </div>
      <div className={styles.what}>
        <Link
          id={rowLinkId(session_id)}
          href={`/sessions/${session_id}`}
          className={styles.title}
          onFocus={() => onFocus(session_id)}
        >
          <bdi>{title === '' ? 'Without a message' : title}</bdi>
        </Link>
        <p className={styles.about}>
          <SessionKind session={session} />
          <span>{agent}</span>
          <span>
            <span className="unseen">owner </span>
            <bdi>{owner}</bdi>
          </span>
        </p>
      </div>
      <div className={styles.state}>
        {pending > 0 && <Badge tone="warn">{pending} to decide</Badge>}
        {!(pending > 0 && state === 'waiting') && state !== 'open' && (
          <Badge tone={statusTone(state)}>{statusWord(state)}</Badge>
        )}
      </div>
      <div className={styles.count} title={counted(message_count, 'message')}>
        {shortCount(message_count)}
        <span className={styles.unit}> {message_count === 1 ? 'message' : 'messages'}</span>
      </div>
      <div className={styles.count} title={`${fullCount(tokens)} tokens`}>
        {tokens > 0 && (
          <>
            {shortCount(tokens)}
            <span className={styles.unit}> tokens</span>
          </>
        )}
      </div>
      <div className={styles.time}>
        <Time at={updated_at} />
      </div>
      <Menu
        label={`More about ${title === '' ? 'this session' : title}`}
        icon={<MoreIcon />}
        entries={[
          ...(kind === 'chat'
            ? [{ name: 'Open in chat', icon: <ChatIcon />, run: () => go(`/chat/${session_id}`) }]
            : []),
          { name: 'Export as JSON', icon: <ExportIcon />, run: () => exportSession(session_id) },
          null,
          { name: 'Delete…', icon: <DeleteIcon />, isDanger: true, run: () => onDelete(session) },
        ]}
      />
    </div>
  )
})

/** A chat needs no word. A coding agent is named with its host and folder. */
function SessionKind({ session: { supervision } }: { session: Session }) {
  if (supervision === undefined) return null
  const folder = supervision.workspace_root.split('/').at(-1) ?? supervision.workspace_root
  return (
    <span title={supervision.workspace_root}>
      {supervision.host} in <bdi>{folder}</bdi>
    </span>
  )
}
