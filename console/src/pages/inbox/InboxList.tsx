import type { InboxItem } from 'quarterdeck/client'
import { type ComponentProps, type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useOtherOwner } from '../../data/me.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { type InboxFilter, type InboxPage, useWaiting } from '../../data/waiting.ts'
import { errorText } from '../../error-text.ts'
import { announce } from '../../parts/Announcer.tsx'
import { AsOf } from '../../parts/AsOf.tsx'
import { AnswerForm, type GivenAnswer } from '../../parts/approval/AnswerForm.tsx'
import { MarkIcon } from '../../parts/approval/MarkIcon.tsx'
import { doneText, type RecordAction } from '../../parts/approval/record-actions.ts'
import { TakenBy } from '../../parts/approval/TakenBy.tsx'
import { StoodStill, TimeLeft } from '../../parts/approval/TimeLeft.tsx'
import { useDraft } from '../../parts/approval/use-draft.ts'
import { useAnswer } from '../../parts/approval/use-record.ts'
import { Badge, OutcomeBadge, RiskShape, riskWords } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { Command } from '../../parts/Command.tsx'
import { InboxIcon } from '../../parts/icons.ts'
import { ListFrame } from '../../parts/ListFrame.tsx'
import { Empty, How, Pending } from '../../parts/States.tsx'
import { Time } from '../../parts/Time.tsx'
import { type RowsHandle, VirtualRows } from '../../parts/VirtualRows.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { folderName, fullCount } from '../../words.ts'
import styles from './InboxList.module.css'
import { groupTitle, hasItem, type InboxRow } from './inbox-rows.ts'
import type { useInboxRows } from './use-inbox-rows.ts'

interface InboxListProps {
  inbox: ReturnType<typeof useInboxRows>
  filter: InboxFilter
  openId: string | null
  pathTo: (id: string) => string
  /** The person has answered it, here in the list. */
  onAnswered: (row: InboxRow) => void
  onClear: () => void
}

const ROW = 84

/** What waits, the most urgent first. What comes does not move what one reads, and what is done stays until nobody looks. */
export function InboxList({ inbox, filter, openId, pathTo, onAnswered, onClear }: InboxListProps) {
  const { rows, data, error, readAt, refetch, loadMore, onPointer } = inbox
  const isLive = useIsLive()
  const handle = useRef<RowsHandle>(null)
  const [marked, setMarked] = useState<string | null>(null)
  const [, go] = useLocation()
  // The keys stay where they are when the item is closed.
  useEffect(() => {
    if (openId !== null) setMarked(openId)
  }, [openId])

  const at = rows.findIndex((row) => hasItem(row, openId ?? marked))
  const here = rows[at]
  function move(step: 1 | -1): void {
    const next = at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))
    const id = rows[next]?.id
    if (id === undefined) return
    setMarked(id)
    handle.current?.scrollToIndex(next)
    if (openId !== null) go(pathTo(id), { replace: true })
  }
  const { answer, busyId } = useAnswer((problem) => announce(errorText(problem)))
  /** Answers it where it stands. True: the server has taken it. */
  async function answerHere({ items: [item] }: InboxRow, action: RecordAction, given: GivenAnswer): Promise<boolean> {
    const digest = item.kind === 'approval' ? { digest: item.approval.digest } : {}
    return (await answer(item, action, { ...given, ...digest }, doneText(action, item.view))) === 'done'
  }
  const open = () => (here === undefined ? move(1) : go(pathTo(here.id)))
  /** `a` decides what a look at the row is enough for, and opens everything else. */
  async function approve(): Promise<void> {
    const main = here?.items[0].view.actions.find((action) => action.main)
    if (here === undefined || main === undefined || !isOneLook(here)) open()
    else if (isLive && (await answerHere(here, main, {}))) onAnswered(here)
  }
  useKeys([
    { keys: 'j', name: 'Next', group: 'Inbox', run: () => move(1) },
    { keys: 'k', name: 'Previous', group: 'Inbox', run: () => move(-1) },
    ...(openId === null
      ? [
          { keys: 'Enter', name: 'Open', group: 'Inbox', run: () => press(open) },
          { keys: 'a', name: 'Approve at low risk, else look', group: 'Inbox', run: () => void approve() },
          { keys: 'r', name: 'Look, to reject', group: 'Inbox', run: open },
        ]
      : []),
  ])

  if (data === undefined) return <Pending query={inbox} rows={8} height={ROW} />
  return (
    <ListFrame problem={error === null ? null : errorText(error)} onRetry={refetch} onPointer={onPointer}>
      <HowMany page={data} filter={filter} />
      {rows.length === 0 && data.items.length === 0 ? (
        <Nothing filter={filter} onClear={onClear} />
      ) : (
        <AsOf isLive={isLive} at={readAt} isFilled>
          <VirtualRows
            ref={handle}
            items={rows}
            keyOf={({ id }) => id}
            rowHeight={ROW}
            keepsPlace
            label={filter.status === 'done' ? 'Done' : 'Waiting'}
            onEnd={data.next === null ? undefined : loadMore}
          >
            {(row) => {
              const isMarked = openId === null && hasItem(row, marked)
              const [item] = row.items
              return (
                <InboxRowView row={row} href={pathTo(row.id)} isOpen={hasItem(row, openId)} isMarked={isMarked}>
                  {isAnsweredHere(row) && !hasItem(row, openId) && (
                    <RowAnswer
                      item={item}
                      actions={item.view.actions.filter(({ danger }) => !danger)}
                      isBusy={busyId === item.id}
                      isLive={isLive}
                      hasKeys={isMarked && isOneLook(row)}
                      onAnswer={async (action, given) => {
                        // The list stays where it is, and the keys go on.
                        const isDone = await answerHere(row, action, given)
                        if (isDone) move(1)
                        return isDone
                      }}
                    />
                  )}
                </InboxRowView>
              )
            }}
          </VirtualRows>
        </AsOf>
      )}
    </ListFrame>
  )
}

interface RowAnswerProps extends Omit<ComponentProps<typeof AnswerForm>, 'draft' | 'onAnswer'> {
  item: InboxItem
  /** True: the server has taken it. */
  onAnswer: (action: RecordAction, given: GivenAnswer) => Promise<boolean>
}

function RowAnswer({ item, onAnswer, ...form }: RowAnswerProps) {
  const draft = useDraft(item.id, item.kind === 'approval' ? item.approval.digest : '')
  return (
    <AnswerForm
      {...form}
      draft={draft}
      onAnswer={async (action, given) => {
        if (await onAnswer(action, given)) draft.drop()
      }}
    />
  )
}

/** Enter presses what has the focus. Only where nothing does, it opens the marked row. */
function press(open: () => void): void {
  const focused = document.activeElement
  if (focused instanceof HTMLAnchorElement || focused instanceof HTMLButtonElement) focused.click()
  else open()
}

const isWaiting = ({ isGone, items: [{ view }] }: InboxRow): boolean => !isGone && view.outcome === null

/** An agent waits for words or for one of a few answers: they fit into the row. */
const isAnsweredHere = (row: InboxRow): boolean =>
  isWaiting(row) &&
  (row.items[0].kind !== 'approval' || row.items[0].view.actions.some(({ choices }) => choices.length > 0))

/** The row shows all of it, and a mistake costs little. */
function isOneLook(row: InboxRow): boolean {
  const [{ kind, view }] = row.items
  const isWhole = view.warnings.length === 0 && !`${view.title}${view.gist}`.includes('…')
  return isWaiting(row) && row.items.length === 1 && isWhole && (kind !== 'approval' || view.risk?.level === 'low')
}

const isFiltered = ({ status: _, ...filter }: InboxFilter): boolean => Object.keys(filter).length > 0

/** How much there is, and how much of it cannot wait. */
function HowMany({ page: { total, counts }, filter }: { page: InboxPage; filter: InboxFilter }) {
  const waiting = useWaiting()
  if (total === null || counts === null || total === 0) return null
  return (
    <p className={styles.count}>
      {isFiltered(filter) ? `${fullCount(total)} of ${fullCount(waiting)} open fit` : `${fullCount(total)} open`}
      {counts.critical > 0 && <strong>{`${fullCount(counts.critical)} critical`}</strong>}
    </p>
  )
}

function Nothing({ filter, onClear }: { filter: InboxFilter; onClear: () => void }) {
  const waiting = useWaiting()
  const isDone = filter.status === 'done'
  if (isFiltered(filter)) {
    return (
      <Empty title="Nothing fits the filter">
        {!isDone && <p>{`${fullCount(waiting)} ${waiting === 1 ? 'is' : 'are'} open.`}</p>}
        <Button onClick={onClear}>Clear the filter</Button>
      </Empty>
    )
  }
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

interface InboxRowViewProps {
  row: InboxRow
  href: string
  isOpen: boolean
  /** The keys are here, although it is not open. */
  isMarked: boolean
  /** Below it: a way to answer. */
  children: ReactNode
}

/** What, for whom and in which work, since when it stands still, and how long there is time. */
function InboxRowView({ row, href, isOpen, isMarked, children }: InboxRowViewProps) {
  const [{ view }] = row.items
  const owner = useOtherOwner(view.owner)
  const { said, request, still_since } = view.context
  const context = said ?? (request === view.session.title ? null : request)
  return (
    <div className={styles.row} data-marked={isMarked || undefined} data-done={!isWaiting(row) || undefined}>
      <Link href={href} className={styles.link} aria-current={isOpen ? 'true' : undefined}>
        <span className={styles.sign}>
          {view.risk === null ? <MarkIcon mark={view.mark} /> : <RiskShape risk={view.risk.level} />}
          <span className="unseen">{view.risk === null ? view.label : riskWords[view.risk.level]}: </span>
        </span>
        <span className={styles.title}>
          <VisibleText text={row.items.length > 1 ? groupTitle(row.items) : view.title} inline isRaw />
          {view.gist !== '' && row.items.length === 1 && (
            <span className={styles.gist}>
              {' '}
              <VisibleText text={view.gist} inline isRaw />
            </span>
          )}
        </span>
        <span className={styles.end}>
          {isWaiting(row) ? (
            view.kind === 'alert' && view.mark !== 'question' ? (
              'silent '
            ) : (
              'waits '
            )
          ) : (
            <Time at={view.outcome?.at ?? view.asked_at} />
          )}
          {isWaiting(row) && <StoodStill since={still_since} />}
        </span>
        {context !== null && (
          <span className={styles.context}>
            <VisibleText text={context} inline isRaw />
          </span>
        )}
        <span className={styles.who}>
          {isWaiting(row) && <TakenBy ids={row.items.map(({ id }) => id)} />}
          <bdi>{view.agent}</bdi>
          {view.folder !== null && <bdi>{folderName(view.folder)}</bdi>}
          {view.session.title !== null && <VisibleText text={view.session.title} inline isRaw />}
          {owner !== null && <bdi>for {owner}</bdi>}
        </span>
        <span className={styles.end}>
          {isWaiting(row) && view.expires_at !== null && <TimeLeft until={view.expires_at} coarse />}
          {row.isGone ? <Badge>Done</Badge> : !isWaiting(row) && <OutcomeBadge outcome={view.outcome} />}
        </span>
      </Link>
      {children}
    </div>
  )
}
