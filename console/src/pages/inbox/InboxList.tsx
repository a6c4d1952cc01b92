import { useEffect, useMemo, useRef, useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { withSearch } from '../../data/list-filters.ts'
import { useOtherOwner } from '../../data/me.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { errorText } from '../../error-text.ts'
import { AsOf } from '../../parts/AsOf.tsx'
import { MarkIcon } from '../../parts/approval/MarkIcon.tsx'
import { TimeLeft } from '../../parts/approval/TimeLeft.tsx'
import { Badge, OutcomeBadge, RiskShape, riskWords } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { Command } from '../../parts/Command.tsx'
import { InboxIcon, PreviousIcon } from '../../parts/icons.ts'
import { ListFrame, NewRows } from '../../parts/ListFrame.tsx'
import { Empty, How, Pending } from '../../parts/States.tsx'
import { Time } from '../../parts/Time.tsx'
import { type RowsHandle, VirtualRows } from '../../parts/VirtualRows.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import styles from './InboxList.module.css'
import { fits, type InboxRow } from './inbox-rows.ts'
import { type InboxFilter, useInboxRows } from './use-inbox-rows.ts'

interface InboxListProps {
  filter: InboxFilter
  /** Words that a row must have. */
  text: string
  openId: string | null
  /** Tells about the open item, if it is in the list. */
  onItem: (row: InboxRow | null) => void
}

const ROW = 64

/** What waits, newest first. What comes does not move what one reads, and what is done stays until nobody looks. */
export function InboxList({ filter, text, openId, onItem }: InboxListProps) {
  const inbox = useInboxRows(filter)
  const { list, error, isLoading, readAt, refetch, loadMore, tidy } = inbox
  const rows = useMemo(() => list.rows.filter((row) => fits(row, text)), [list.rows, text])
  const isLive = useIsLive()
  const handle = useRef<RowsHandle>(null)
  const { newAbove, onRange } = useNewAbove(rows)
  const [marked, setMarked] = useState<string | null>(null)
  const pathTo = usePathTo()
  const [, go] = useLocation()

  const open = list.rows.find(({ item }) => item.id === openId) ?? null
  useEffect(() => onItem(open), [open, onItem])
  // The keys stay where they are when the item is closed.
  useEffect(() => {
    if (openId !== null) setMarked(openId)
  }, [openId])

  const at = rows.findIndex(({ item }) => item.id === (openId ?? marked))
  function move(step: 1 | -1): void {
    const next = at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))
    const id = rows[next]?.item.id
    if (id === undefined) return
    setMarked(id)
    handle.current?.scrollToIndex(next)
    if (openId !== null) go(pathTo(id), { replace: true })
  }
  useKeys([
    { keys: 'j', name: 'Next', group: 'Inbox', run: () => move(1) },
    { keys: 'k', name: 'Previous', group: 'Inbox', run: () => move(-1) },
    ...(openId === null && marked !== null
      ? [{ keys: 'Enter', name: 'Open', group: 'Inbox', run: () => press(() => go(pathTo(marked))) }]
      : []),
  ])

  if (isLoading || (error !== null && rows.length === 0)) return <Pending query={inbox} rows={8} height={ROW} />
  return (
    <ListFrame
      problem={error === null || rows.length === 0 ? null : errorText(error)}
      onRetry={refetch}
      onPointerLeave={() => tidy(openId)}
    >
      {newAbove > 0 && (
        <NewRows>
          <Button icon={<PreviousIcon />} onClick={() => handle.current?.scrollToIndex(0, 'start')}>
            {newAbove} new
          </Button>
        </NewRows>
      )}
      {rows.length === 0 && list.next === null ? (
        <Nothing isDone={filter.status === 'done'} isFiltered={isFiltered(filter, text)} />
      ) : (
        <AsOf isLive={isLive} at={readAt} isFilled>
          <VirtualRows
            ref={handle}
            items={rows}
            keyOf={({ item }) => item.id}
            rowHeight={ROW}
            keepsPlace
            label={filter.status === 'done' ? 'Done' : 'Waiting'}
            onEnd={list.next === null ? undefined : loadMore}
            onRange={onRange}
          >
            {(row) => (
              <InboxRowView
                row={row}
                href={pathTo(row.item.id)}
                isOpen={row.item.id === openId}
                isMarked={openId === null && row.item.id === marked}
              />
            )}
          </VirtualRows>
        </AsOf>
      )}
    </ListFrame>
  )
}

/** Enter presses what has the focus. Only where nothing does, it opens the marked row. */
function press(open: () => void): void {
  const focused = document.activeElement
  if (focused instanceof HTMLAnchorElement || focused instanceof HTMLButtonElement) focused.click()
  else open()
}

const isFiltered = ({ kind, risk, session }: InboxFilter, text: string): boolean =>
  kind !== undefined || risk !== undefined || session !== undefined || text !== ''

function Nothing({ isDone, isFiltered }: { isDone: boolean; isFiltered: boolean }) {
  if (isFiltered) return <Empty title="Nothing fits">Change the filter to see more.</Empty>
  if (isDone) {
    return (
      <Empty title="Nothing is done yet" icon={<InboxIcon />}>
        What you and others have decided is listed here.
      </Empty>
    )
  }
  return (
    <Empty title="Nothing waits" icon={<InboxIcon />}>
      <p>
        Risky calls of your agents, changes by coding agents, their questions and their silence come here and wait for
        you.
      </p>
      <p>
        Let a coding agent ask here: <Command>connect claude</Command>
      </p>
      <How to="supervise-a-coding-agent" />
      <How to="ask-before-a-tool-runs" />
    </Empty>
  )
}

/** The list moves to keep its place a moment after new rows have come. */
const SETTLED_MS = 500

/** How many rows have come above what is in sight and were not looked at yet. */
function useNewAbove(rows: readonly InboxRow[]) {
  /** When the newest item was asked that was there at first, or at the top of the list since. */
  const [newest, setNewest] = useState<string | null>(null)
  const [first, setFirst] = useState(0)
  const top = rows[0]?.item.created_at ?? null
  useEffect(() => {
    if (top === null || first > 0) return
    const timer = setTimeout(() => setNewest(top), newest === null ? 0 : SETTLED_MS)
    return () => clearTimeout(timer)
  }, [top, first, newest])
  const isNew = ({ item }: InboxRow): boolean => newest !== null && item.created_at > newest
  const known = rows.findIndex((row) => !isNew(row))
  return { newAbove: Math.min(first, known === -1 ? rows.length : known), onRange: setFirst }
}

/** The address of an item, with the filter that is set. */
function usePathTo(): (id: string) => string {
  const search = useSearch()
  return (id) => withSearch(`/inbox/${encodeURIComponent(id)}`, search)
}

interface InboxRowViewProps {
  row: InboxRow
  href: string
  isOpen: boolean
  /** The keys are here, although it is not open. */
  isMarked: boolean
}

/** One line of the inbox: what, who waits, since when, and how long. */
function InboxRowView({ row: { item, isGone }, href, isOpen, isMarked }: InboxRowViewProps) {
  const { view } = item
  const owner = useOtherOwner(view.owner)
  const isWaiting = !isGone && view.outcome === null
  return (
    <Link
      href={href}
      className={styles.row}
      aria-current={isOpen ? 'true' : undefined}
      data-marked={isMarked || undefined}
      data-done={!isWaiting || undefined}
    >
      <span className={styles.sign}>
        {view.risk === null ? <MarkIcon mark={view.mark} /> : <RiskShape risk={view.risk.level} />}
        <span className="unseen">{view.risk === null ? view.label : riskWords[view.risk.level]}: </span>
      </span>
      <span className={styles.title}>
        <VisibleText text={view.title} inline isRaw />
        {view.gist !== '' && (
          <span className={styles.gist}>
            {' '}
            <VisibleText text={view.gist} inline isRaw />
          </span>
        )}
      </span>
      <span className={styles.age}>
        <Time at={view.outcome?.at ?? view.asked_at} />
      </span>
      <span className={styles.who}>
        <bdi>{view.agent}</bdi>
        {owner !== null && (
          <>
            {' · for '}
            <bdi>{owner}</bdi>
          </>
        )}
      </span>
      <span className={styles.left}>
        {isWaiting && view.expires_at !== null && <TimeLeft until={view.expires_at} coarse />}
        {isGone ? <Badge>Done</Badge> : !isWaiting && <OutcomeBadge outcome={view.outcome} />}
      </span>
    </Link>
  )
}
