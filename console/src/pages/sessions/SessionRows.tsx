import type { Session } from 'quarterdeck/client'
import { lazy, Suspense, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { serverUrl } from '../../base.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { AsOf } from '../../parts/AsOf.tsx'
import { Button } from '../../parts/Button.tsx'
import { Command } from '../../parts/Command.tsx'
import { SessionsIcon } from '../../parts/icons.ts'
import { Empty, How, Pending } from '../../parts/States.tsx'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { type RowsHandle, VirtualRows } from '../../parts/VirtualRows.tsx'
import { ROW_HEIGHT, SessionRow } from './SessionRow.tsx'
import styles from './SessionRows.module.css'
import { countSessionFilters, type SessionFilters } from './session-filters.ts'
import { useSessionList } from './use-session-list.ts'

const DeleteSessionDialog = lazy(() => import('../session/actions/DeleteSessionDialog.tsx'))

const idOf = ({ session_id }: Session): string => session_id

export function SessionRows({ filters, onClear }: { filters: SessionFilters; onClear: () => void }) {
  const list = useSessionList(filters)
  const isLive = useIsLive()
  const [doomed, setDoomed] = useState<Session | null>(null)
  const rows = useRef<RowsHandle>(null)
  const keys = useRowKeys(list.rows, idOf, { what: 'session', group: 'Sessions', handle: rows })
  const { loadMore } = list
  useKeys([...keys.actions, { keys: 'Enter', name: 'Open the session', group: 'Sessions', run: keys.open }])
  if (list.status !== 'ready') return <Pending query={list} rows={10} height={ROW_HEIGHT} />
  if (list.rows.length === 0) return <NoSessions isFiltered={countSessionFilters(filters) > 0} onClear={onClear} />
  return (
    <div className={styles.list}>
      <AsOf isLive={isLive} at={list.loadedAt ?? 0} isFilled>
        <VirtualRows ref={rows} items={list.rows} keyOf={idOf} rowHeight={ROW_HEIGHT} label="Sessions" onEnd={loadMore}>
          {(session) => <SessionRow session={session} onDelete={setDoomed} onFocus={keys.setCurrent} />}
        </VirtualRows>
      </AsOf>
      {list.error !== null && list.hasMore && (
        <p className={styles.failed} role="alert">
          The next page did not come. <Button onClick={loadMore}>Try again</Button>
        </p>
      )}
      {doomed !== null && (
        <Suspense>
          <DeleteSessionDialog
            session={doomed}
            onClose={() => setDoomed(null)}
            onDeleted={() => {
              keys.moveFrom(idOf(doomed))
              list.remove(idOf(doomed))
            }}
          />
        </Suspense>
      )}
    </div>
  )
}

function NoSessions({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const [, go] = useLocation()
  if (isFiltered) {
    return (
      <Empty title="No session fits these filters" icon={<SessionsIcon />}>
        <Button onClick={onClear}>Remove all filters</Button>
      </Empty>
    )
  }
  return (
    <Empty title="No sessions yet" icon={<SessionsIcon />}>
      <p>
        Every conversation with an agent is a session, and so is the work of a coding agent that reports here. Begin
        with a message in the chat, or from a terminal:
      </p>
      <Command>{`chat ${serverUrl}`}</Command>
      <Button onClick={() => go('/chat')}>Open the chat</Button>
      <How to="host-a-coding-agent" />
    </Empty>
  )
}
