import { useEffect, useRef, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useTitle } from '../../app/title.ts'
import { withParams, withSearch } from '../../data/list-filters.ts'
import { type InboxFilter, useInbox } from '../../data/waiting.ts'
import { given } from '../../given.ts'
import { announce } from '../../parts/Announcer.tsx'
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
import { VisibleText } from '../../parts/VisibleText.tsx'
import { PasskeyOffer } from '../../sign-in/PasskeyOffer.tsx'
import { folderName } from '../../words.ts'
import { GroupCard } from './GroupCard.tsx'
import { InboxList } from './InboxList.tsx'
import styles from './InboxPage.module.css'
import { hasItem, type InboxRow } from './inbox-rows.ts'
import { useInboxRows } from './use-inbox-rows.ts'

const risks = ['critical', 'high', 'low'] as const

/** Everything that waits for a person, and the item that is open beside it. */
export default function InboxPage({ id }: { id: string | null }) {
  useTitle('Inbox')
  const { filter, text, set, clear } = useFilter()
  const inbox = useInboxRows(filter, id)
  const [, go] = useLocation()
  const side = useRef<HTMLDivElement>(null)
  const wasOpen = useRef(false)
  useEffect(() => {
    // What had the focus is closed.
    if (id === null && wasOpen.current && document.activeElement === document.body) leaveField()
    wasOpen.current = id !== null
  }, [id])
  const [params] = useSearchParams()
  const back = withSearch('/inbox', withParams(params, { alone: null }))
  const pathTo = (to: string) => back.replace('/inbox', `/inbox/${encodeURIComponent(to)}`)
  const row = inbox.rows.find((one) => hasItem(one, id)) ?? null
  const isGroup = row !== null && row.items.length > 1 && !params.has('alone')

  useKeys([
    { keys: '/', name: 'Search', group: 'Inbox', run: () => side.current?.querySelector('input')?.focus() },
    ...(id === null ? [] : [{ keys: 'Escape', name: 'Back to the list', group: 'Inbox', run: () => go(back) }]),
  ])

  /** What this person has answered. Some of it stays in the list: other people have to say yes too, or an agent is still silent. */
  const answered = useRef(new Set<string>())
  const [refused, setRefused] = useState<readonly string[]>([])
  function goOn(done: InboxRow, notDecided: readonly string[] = []): void {
    setRefused(notDecided)
    for (const item of done.items) answered.current.add(item.id)
    const at = inbox.rows.findIndex((one) => hasItem(one, done.id))
    const next = [...inbox.rows.slice(at + 1), ...inbox.rows.slice(0, Math.max(at, 0))].find(
      ({ isGone, items }) => !isGone && items.some((item) => !answered.current.has(item.id)),
    )
    go(next === undefined ? back : pathTo(next.id), { replace: id !== null })
    if (next === undefined) announce('All done')
  }
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
              label="Search by words, agent, folder or owner"
              isLabelHidden
              placeholder="Words, agent, folder or owner"
              value={text}
              onChange={({ target }) => set('text', target.value)}
              onKeyDown={(event) => event.key === 'Escape' && leaveField()}
            />
            <Selects filter={filter} set={set} />
            {refused.length > 0 && (
              <div className={styles.only} role="alert">
                <p>
                  Not decided: <VisibleText text={refused.join(' ')} inline isRaw />
                </p>
                <IconButton label="Close" icon={<CloseIcon />} onClick={() => setRefused([])} />
              </div>
            )}
            {filter.session !== undefined && (
              <div className={styles.only}>
                Only one session
                <IconButton label="Show all sessions" icon={<CloseIcon />} onClick={() => set('session', '')} />
              </div>
            )}
          </div>
          <div className={styles.rows}>
            <InboxList inbox={inbox} filter={filter} openId={id} pathTo={pathTo} onAnswered={goOn} onClear={clear} />
          </div>
        </div>
        <div className={styles.item}>
          {id === null ? (
            <Empty title="No item is open" icon={<InboxIcon />}>
              <p>
                Choose something from the list. <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>Enter</kbd> opens.
              </p>
            </Empty>
          ) : (
            <OpenItem
              key={isGroup ? row.items[0].view.group : id}
              {...{ id, row, isGroup }}
              onMoved={(next) => go(pathTo(next), { replace: true })}
              onAnswered={goOn}
            />
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

type Chosen = 'kind' | 'risk' | 'agent' | 'folder'

/** What the list can be narrowed to. Agents and folders are those that wait, if there are several. */
function Selects({ filter, set }: { filter: InboxFilter; set: (name: Chosen, value: string) => void }) {
  const views = useInbox().data?.items.map(({ view }) => view) ?? []
  const several = (name: 'agent' | 'folder', word = (value: string) => value) => {
    const all = new Set([...views.map((view) => view[name]), filter[name] ?? null].filter((value) => value !== null))
    return all.size < 2 && filter[name] === undefined
      ? []
      : [...all].sort().map((value) => [value, word(value)] as const)
  }
  const choices: readonly (readonly [Chosen, string, readonly (readonly [string, string])[]])[] = [
    ['kind', 'Kind', kindsOfRecords.map(({ kind, title }) => [kind, title])],
    ['risk', 'Risk', risks.map((risk) => [risk, riskWords[risk]])],
    ['agent', 'Agent', several('agent')],
    ['folder', 'Folder', several('folder', folderName)],
  ]
  return (
    <div className={styles.selects}>
      {choices.map(
        ([name, label, values]) =>
          values.length > 0 && (
            <Select
              key={name}
              label={label}
              isLabelHidden
              value={filter[name] ?? ''}
              onChange={({ target }) => set(name, target.value)}
            >
              <option value="">{`All ${label.toLowerCase()}s`}</option>
              <Options of={values} />
            </Select>
          ),
      )}
    </div>
  )
}

interface OpenItemProps {
  id: string
  /** Null: it is not in the list. */
  row: InboxRow | null
  /** The whole row is looked at. */
  isGroup: boolean
  /** It is asked again under this id. */
  onMoved: (id: string) => void
  onAnswered: (row: InboxRow, refused?: readonly string[]) => void
}

/** The card of an item. Its heading gets the focus: screen readers are there, and the keys of the browser scroll the card. */
function OpenItem({ id, row, isGroup, onMoved, onAnswered }: OpenItemProps) {
  const query = useRecordKind(id, row?.items[0].kind)
  const { kind } = query
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (kind === undefined) return
    // A card that is still on its way takes the focus from its place when it is there.
    const heading = place.current?.querySelector('h2')
    ;(heading ?? place.current)?.focus({ preventScroll: true })
  }, [kind])
  if (kind === undefined) return <CardState query={query} height={320} />
  const onDone = row === null ? undefined : () => onAnswered(row)
  return (
    <div ref={place} className={styles.place} tabIndex={-1}>
      {isGroup && row !== null ? (
        <GroupCard row={row} onAnswered={onAnswered} />
      ) : kind === 'approval' ? (
        <ApprovalCard id={id} onMoved={onMoved} onDone={onDone} />
      ) : (
        <RecordCard kind={kind} id={id} onDone={onDone} />
      )}
    </div>
  )
}

/** While somebody types, the server is asked once they pause. */
const TYPED_MS = 200
const LONGEST_Q = 200

/** The filter lives in the address, so that it can be kept and shared. */
function useFilter() {
  const [params, setParams] = useSearchParams()
  const text = params.get('text') ?? ''
  const [q, setQ] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setQ(text), TYPED_MS)
    return () => clearTimeout(timer)
  }, [text])
  const filter: InboxFilter = given({
    status: params.get('tab') === 'done' ? ('done' as const) : undefined,
    kind: kindsOfRecords.find((one) => one.kind === params.get('kind'))?.kind,
    risk: risks.find((one) => one === params.get('risk')),
    agent: params.get('agent'),
    folder: params.get('folder'),
    session: params.get('session'),
    q: q.trim().slice(0, LONGEST_Q),
  })
  const set = (name: Chosen | 'text' | 'session', value: string): void =>
    setParams((was) => withParams(was, { [name]: value }), { replace: true })
  const clear = () => {
    setQ('')
    setParams((was) => new URLSearchParams(given({ tab: was.get('tab') })), { replace: true })
  }
  return { filter, text, set, clear }
}
