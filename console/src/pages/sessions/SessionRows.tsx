import { useQuery } from '@tanstack/react-query'
import type { Session } from 'quarterdeck/client'
import { lazy, type ReactNode, Suspense, useCallback, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { serverUrl } from '../../base.ts'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { AsOf } from '../../parts/AsOf.tsx'
import { Button, IconButton } from '../../parts/Button.tsx'
import { Command } from '../../parts/Command.tsx'
import { CloseIcon, DeleteIcon, ExportIcon, SessionsIcon } from '../../parts/icons.ts'
import { Menu } from '../../parts/Menu.tsx'
import { Empty, How, Pending } from '../../parts/States.tsx'
import { useRowKeys } from '../../parts/use-row-keys.ts'
import { type RowsHandle, VirtualRows } from '../../parts/VirtualRows.tsx'
import { counted, fullCount } from '../../words.ts'
import { useExportEntries } from '../session/actions/use-export-entries.tsx'
import { ROW_HEIGHT, SessionRow } from './SessionRow.tsx'
import styles from './SessionRows.module.css'
import { countSessionFilters, type SessionFilters } from './session-filters.ts'
import { useSessionList } from './use-session-list.ts'

const RenameDialog = lazy(() => import('../../parts/RenameDialog.tsx'))
const DeleteSessionDialog = lazy(() => import('../session/actions/DeleteSessionDialog.tsx'))

const idOf = ({ session_id }: Session): string => session_id

/** The server counts no further. */
const MOST_COUNTED = 10_000

export function SessionRows({ filters, onClear }: { filters: SessionFilters; onClear: () => void }) {
  const list = useSessionList(filters)
  const client = useClient()
  const isLive = useIsLive()
  const [doomed, setDoomed] = useState<readonly Session[]>([])
  const [named, setNamed] = useState<Session | null>(null)
  const rows = useRef<RowsHandle>(null)
  const keys = useRowKeys(list.rows, idOf, { what: 'session', group: 'Sessions', handle: rows })
  const selection = useSelection(list.rows)
  const { data: limits } = useQuery({
    queryKey: ['my-limits'],
    queryFn: ({ signal }) => client.myLimits({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const currency = limits?.cost.currency ?? null
  const { loadMore } = list
  const { current } = keys
  const remove = useCallback((session: Session) => setDoomed([session]), [])
  useKeys([
    ...keys.actions,
    { keys: 'Enter', name: 'Open the session', group: 'Sessions', run: keys.open },
    {
      keys: 'x',
      name: 'Select the session',
      group: 'Sessions',
      run: () => current !== null && selection.select(current, false),
    },
    ...(selection.rows.length === 0
      ? []
      : [{ keys: 'Escape', name: 'Select nothing', group: 'Sessions', run: selection.clear }]),
  ])
  if (list.status !== 'ready') return <Pending query={list} rows={10} height={ROW_HEIGHT} />
  if (list.rows.length === 0) return <NoSessions isFiltered={countSessionFilters(filters) > 0} onClear={onClear} />
  return (
    <div className={styles.list}>
      <Head selection={selection} onDelete={setDoomed}>
        {list.total === null || list.total >= MOST_COUNTED
          ? `${fullCount(list.total ?? list.rows.length)} sessions or more`
          : counted(list.total, 'session')}
      </Head>
      <AsOf isLive={isLive} at={list.loadedAt ?? 0} isFilled>
        <VirtualRows ref={rows} items={list.rows} keyOf={idOf} rowHeight={ROW_HEIGHT} label="Sessions" onEnd={loadMore}>
          {(session) => (
            <SessionRow
              session={session}
              currency={currency}
              isSelected={selection.has(idOf(session))}
              onSelect={selection.select}
              onRename={setNamed}
              onDelete={remove}
              onFocus={keys.setCurrent}
            />
          )}
        </VirtualRows>
      </AsOf>
      {list.error !== null && list.hasMore && (
        <p className={styles.failed} role="alert">
          The next page did not come. <Button onClick={loadMore}>Try again</Button>
        </p>
      )}
      <Suspense>
        {doomed.length > 0 && (
          <DeleteSessionDialog
            sessions={doomed}
            onClose={() => setDoomed([])}
            onDeleted={(session) => {
              keys.moveFrom(idOf(session))
              list.remove(idOf(session))
            }}
          />
        )}
        {named !== null && (
          <RenameDialog
            session={named}
            onClose={() => setNamed(null)}
            onRenamed={(title) => list.change(idOf(named), { title })}
          />
        )}
      </Suspense>
    </div>
  )
}

/** Rows that somebody has marked. Those that leave the list are not marked any more. */
function useSelection(all: readonly Session[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const last = useRef<string | null>(null)
  const newest = useRef(all)
  newest.current = all
  const rows = useMemo(() => all.filter((session) => ids.has(idOf(session))), [all, ids])
  const select = useCallback((id: string, isRange: boolean): void => {
    const places = [last.current, id].map((one) => newest.current.findIndex((session) => idOf(session) === one))
    const [from = -1, to = -1] = places.toSorted((a, b) => a - b)
    const range = isRange && from >= 0 ? newest.current.slice(from, to + 1).map(idOf) : [id]
    setIds((before) => {
      const next = new Set(before)
      for (const one of range)
        if (before.has(id)) next.delete(one)
        else next.add(one)
      return next
    })
    last.current = id
  }, [])
  return {
    rows,
    isAll: rows.length === all.length,
    has: (id: string) => ids.has(id),
    select,
    selectAll: () => setIds(new Set(all.map(idOf))),
    clear: () => setIds(new Set()),
  }
}

interface HeadProps {
  selection: ReturnType<typeof useSelection>
  onDelete: (sessions: readonly Session[]) => void
  /** How many there are. */
  children: ReactNode
}

function Head({ selection, onDelete, children }: HeadProps) {
  const { rows, isAll } = selection
  const exports = useExportEntries(rows.map(idOf))
  return (
    <div className={styles.head}>
      <label>
        <input
          type="checkbox"
          aria-label="Select all that are loaded"
          checked={isAll}
          ref={(box) => {
            if (box !== null) box.indeterminate = rows.length > 0 && !isAll
          }}
          onChange={isAll ? selection.clear : selection.selectAll}
        />
      </label>
      {rows.length === 0 ? (
        <>
          <span className={styles.total}>{children}</span>
          <span className={styles.column}>State</span>
          <span className={styles.number}>Messages</span>
          <span className={styles.number}>Tokens</span>
          <span className={styles.number}>Cost</span>
          <span className={styles.when}>Last activity</span>
        </>
      ) : (
        <div className={styles.selected} role="toolbar" aria-label="What to do with the selected sessions">
          <span role="status">{fullCount(rows.length)} selected</span>
          <Menu label="Export the selected sessions" icon={<ExportIcon />} entries={exports} />
          <Button icon={<DeleteIcon />} onClick={() => onDelete(rows)}>
            Delete…
          </Button>
          <IconButton label="Select nothing" icon={<CloseIcon />} onClick={selection.clear} />
        </div>
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
