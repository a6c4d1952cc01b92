import type { Session } from 'quarterdeck/client'
import { memo } from 'react'
import { Link, useLocation } from 'wouter'
import { useOtherOwner } from '../../data/me.ts'
import { moneyText } from '../../money.ts'
import { Badge } from '../../parts/Badge.tsx'
import { AgentIcon, ChatIcon, DeleteIcon, EditIcon, MoreIcon } from '../../parts/icons.ts'
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
import { useExportEntries } from '../session/actions/use-export-entries.tsx'
import styles from './SessionRow.module.css'

export const ROW_HEIGHT = 60

interface RowProps {
  session: Session
  /** Null: it is not known yet. */
  currency: string | null
  isSelected: boolean
  /** They stay the same, so that a row is drawn again only if its session has changed. `isRange`: from the last one up to this one. */
  onSelect: (id: string, isRange: boolean) => void
  onRename: (session: Session) => void
  onDelete: (session: Session) => void
  onFocus: (id: string) => void
}

export const SessionRow = memo(function SessionRow(props: RowProps) {
  const { session, currency, isSelected, onSelect, onRename, onDelete, onFocus } = props
  const {
    session_id,
    agent,
    owner,
    kind,
    status,
    failure = '',
    pending,
    message_count,
    tokens,
    cost,
    updated_at,
  } = session
  const [, go] = useLocation()
  const exports = useExportEntries([session_id])
  const state = session.supervision?.status ?? status
  const other = useOtherOwner(owner)
  return (
    <div className={styles.row} data-selected={isSelected || undefined}>
      <label className={styles.select}>
        <input
          type="checkbox"
          aria-label={`Select ${sessionTitle(session)}`}
          checked={isSelected}
          onFocus={() => onFocus(session_id)}
          onChange={({ nativeEvent }) =>
            onSelect(session_id, 'shiftKey' in nativeEvent && nativeEvent.shiftKey === true)
          }
        />
      </label>
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
          {failure !== '' && (
            <bdi className={styles.failure} title={failure}>
              {failure}
            </bdi>
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
        {message_count > 0 && shortCount(message_count)}
      </div>
      <div className={styles.count} title={`${fullCount(tokens)} tokens`}>
        {tokens > 0 && shortCount(tokens)}
      </div>
      <div className={styles.count} title={cost === null ? 'It used a model without a price' : undefined}>
        {cost !== undefined && currency !== null && moneyText(cost, currency)}
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
          { name: 'Rename…', icon: <EditIcon />, run: () => onRename(session) },
          ...exports,
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
