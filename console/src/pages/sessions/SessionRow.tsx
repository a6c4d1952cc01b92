import type { Session } from 'quarterdeck/client'
import { memo } from 'react'
import { Link, useLocation } from 'wouter'
import { useOtherOwner } from '../../data/me.ts'
import { Badge } from '../../parts/Badge.tsx'
import { AgentIcon, ChatIcon, DeleteIcon, ExportIcon, MoreIcon } from '../../parts/icons.ts'
import { Menu } from '../../parts/Menu.tsx'
import { Time } from '../../parts/Time.tsx'
import { rowId } from '../../parts/use-row-keys.ts'
import {
  counted,
  folderName,
  fullCount,
  kindWord,
  sessionTitle,
  shortCount,
  statusTone,
  statusWord,
} from '../../words.ts'
import { useExportSession } from '../session/actions/use-export-session.ts'
import styles from './SessionRow.module.css'

export const ROW_HEIGHT = 60

interface RowProps {
  session: Session
  /** They stay the same, so that a row is drawn again only if its session has changed. */
  onDelete: (session: Session) => void
  onFocus: (id: string) => void
}

export const SessionRow = memo(function SessionRow({ session, onDelete, onFocus }: RowProps) {
  const { session_id, agent, owner, kind, status, pending, message_count, tokens, updated_at } = session
  const [, go] = useLocation()
  const exportSession = useExportSession()
  const state = session.supervision?.status ?? status
  const other = useOtherOwner(owner)
  return (
    <div className={styles.row}>
      <div className={styles.icon} title={kindWord(kind)}>
        {kind === 'supervised' ? <AgentIcon aria-hidden="true" /> : <ChatIcon aria-hidden="true" />}
      </div>
      <div className={styles.what}>
        <Link
          id={rowId(session_id)}
          href={`/sessions/${session_id}`}
          className={styles.title}
          onFocus={() => onFocus(session_id)}
        >
          <bdi>{sessionTitle(session)}</bdi>
        </Link>
        <p className={styles.about}>
          <Where session={session} agent={agent} />
          {other !== null && (
            <span>
              for <bdi>{other}</bdi>
            </span>
          )}
        </p>
      </div>
      <div className={styles.state}>
        {pending > 0 && <Badge tone="warn">{pending} to decide</Badge>}
        {!(pending > 0 && state === 'waiting') && state !== 'open' && (
          <Badge tone={statusTone(state)}>{statusWord(state)}</Badge>
        )}
      </div>
      <div className={styles.count} title={counted(message_count, 'message')}>
        {message_count > 0 && (
          <>
            {shortCount(message_count)}
            <span className={styles.unit}> {message_count === 1 ? 'message' : 'messages'}</span>
          </>
        )}
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
        label={`More about ${sessionTitle(session)}`}
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

/** The agent. A coding agent also has a folder; a session without a name is called after both, so it shows the whole path. */
function Where({ session: { title, supervision }, agent }: { session: Session; agent: string }) {
  if (supervision === undefined) return <span>{agent}</span>
  return (
    <span title={supervision.workspace_root}>
      {title === '' ? '' : `${agent} in `}
      <bdi>{title === '' ? supervision.workspace_root : folderName(supervision.workspace_root)}</bdi>
    </span>
  )
}
