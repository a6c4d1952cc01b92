import { useCallback, useEffect, useRef, useState } from 'react'
import { Link, useLocation, useSearch, useSearchParams } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useTitle } from '../../app/title.ts'
import { withParams, withSearch } from '../../data/list-filters.ts'
import { given } from '../../given.ts'
import ApprovalCard from '../../parts/approval/ApprovalCard.tsx'
import { CardState } from '../../parts/approval/CardFrame.tsx'
import { RecordCard } from '../../parts/approval/RecordCard.tsx'
import { kindsOfRecords } from '../../parts/approval/record-kinds.ts'
import { useRecordKind } from '../../parts/approval/use-record.ts'
import { BackLink } from '../../parts/BackLink.tsx'
import { riskWords } from '../../parts/Badge.tsx'
import { IconButton } from '../../parts/Button.tsx'
import { leaveField, Options, Select, TextField } from '../../parts/Field.tsx'
import { CloseIcon, InboxIcon } from '../../parts/icons.ts'
import { Page } from '../../parts/Page.tsx'
import { Empty } from '../../parts/States.tsx'
import { PasskeyOffer } from '../../sign-in/PasskeyOffer.tsx'
import { InboxList } from './InboxList.tsx'
import styles from './InboxPage.module.css'
import type { InboxRow } from './inbox-rows.ts'
import type { InboxFilter } from './use-inbox-rows.ts'

const risks = ['critical', 'high', 'low'] as const

/** Everything that waits for a person, and the item that is open beside it. */
export default function InboxPage({ id }: { id: string | null }) {
  useTitle('Inbox')
  const { filter, text, set } = useFilter()
  const [openRow, setOpenRow] = useState<InboxRow | null>(null)
  const search = useSearch()
  const [, go] = useLocation()
  const back = withSearch('/inbox', search)
  const side = useRef<HTMLDivElement>(null)
  const wasOpen = useRef(false)
  useEffect(() => {
    // What had the focus is closed.
    if (id === null && wasOpen.current && document.activeElement === document.body) leaveField()
    wasOpen.current = id !== null
  }, [id])
  useKeys([
    {
      keys: '/',
      name: 'Filter',
      group: 'Inbox',
      run: () => side.current?.querySelector('input')?.focus(),
    },
    ...(id === null ? [] : [{ keys: 'Escape', name: 'Back to the list', group: 'Inbox', run: () => go(back) }]),
  ])
  return (
    <Page
      title={
        <>
          {id !== null && <BackLink href={back} name="Back to the list" isNarrow />}
          Inbox
        </>
      }
      shape="fill"
      bar={<PasskeyOffer isAside={id !== null} />}
    >
      <div className={styles.inbox} data-open={id === null ? undefined : ''}>
        <div ref={side} className={styles.side}>
          <div className={styles.filter}>
            <Tabs isDone={filter.status === 'done'} />
            <TextField
              label="Filter by words, agent or owner"
              isLabelHidden
              placeholder="Words, agent or owner"
              value={text}
              onChange={({ target }) => set('text', target.value)}
              onKeyDown={(event) => event.key === 'Escape' && leaveField()}
            />
            <div className={styles.selects}>
              <Select
                label="Kind"
                isLabelHidden
                value={filter.kind ?? ''}
                onChange={({ target }) => set('kind', target.value)}
              >
                <option value="">All kinds</option>
                <Options of={kindsOfRecords.map(({ kind, title }) => [kind, title])} />
              </Select>
              <Select
                label="Risk"
                isLabelHidden
                value={filter.risk ?? ''}
                onChange={({ target }) => set('risk', target.value)}
              >
                <option value="">All risks</option>
                <Options of={risks.map((risk) => [risk, riskWords[risk]])} />
              </Select>
            </div>
            {filter.session !== undefined && (
              <div className={styles.only}>
                Only one session
                <IconButton label="Show all sessions" icon={<CloseIcon />} onClick={() => set('session', '')} />
              </div>
            )}
          </div>
          <div className={styles.rows}>
            <InboxList key={JSON.stringify(filter)} filter={filter} text={text} openId={id} onItem={setOpenRow} />
          </div>
        </div>
        <div className={styles.item}>
          {id === null ? (
            <Empty title="Nothing is open" icon={<InboxIcon />}>
              <p>
                Choose something from the list. <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>Enter</kbd> opens.
              </p>
            </Empty>
          ) : (
            <OpenItem key={id} id={id} row={openRow?.item.id === id ? openRow : null} />
          )}
        </div>
      </div>
    </Page>
  )
}

function Tabs({ isDone }: { isDone: boolean }) {
  const [params] = useSearchParams()
  const hrefTo = (tab: 'done' | null) => withSearch('/inbox', withParams(params, { tab }))
  return (
    <nav className={styles.tabs} aria-label="Inbox">
      <Link href={hrefTo(null)} aria-current={isDone ? undefined : 'page'}>
        Open
      </Link>
      <Link href={hrefTo('done')} aria-current={isDone ? 'page' : undefined}>
        Done
      </Link>
    </nav>
  )
}

/** The card of an item. Its heading gets the focus, so that keys and screen readers are there. */
function OpenItem({ id, row }: { id: string; row: InboxRow | null }) {
  const query = useRecordKind(id, row?.item.kind)
  const { kind } = query
  const place = useRef<HTMLDivElement>(null)
  const [, go] = useLocation()
  const search = useSearch()
  const onMoved = useCallback(
    (next: string) => go(withSearch(`/inbox/${encodeURIComponent(next)}`, search), { replace: true }),
    [go, search],
  )
  useEffect(() => {
    if (kind !== undefined) place.current?.focus({ preventScroll: true })
  }, [kind])
  if (kind === undefined) return <CardState query={query} height={320} />
  return (
    <div ref={place} className={styles.place} tabIndex={-1}>
      {kind === 'approval' ? <ApprovalCard id={id} onMoved={onMoved} /> : <RecordCard kind={kind} id={id} />}
    </div>
  )
}

/** The filter lives in the address, so that it can be kept and shared. */
function useFilter() {
  const [params, setParams] = useSearchParams()
  const kind = kindsOfRecords.find((one) => one.kind === params.get('kind'))?.kind
  const risk = risks.find((one) => one === params.get('risk'))
  const filter: InboxFilter = {
    status: params.get('tab') === 'done' ? 'done' : 'waiting',
    ...given({ kind, risk, session: params.get('session') }),
  }
  const set = (name: 'kind' | 'risk' | 'text' | 'session', value: string): void =>
    setParams((was) => withParams(was, { [name]: value }), { replace: true })
  return { filter, text: params.get('text') ?? '', set }
}
