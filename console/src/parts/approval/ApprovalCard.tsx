import { useQuery } from '@tanstack/react-query'
import type { InboxItem, ShownApproval } from 'quarterdeck/client'
import { lazy, Suspense, useCallback, useEffect, useId, useRef, useState } from 'react'
import { Link } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { kindWord } from '../../words.ts'
import { Button } from '../Button.tsx'
import { ApprovalIcon, ChangeIcon, PolicyIcon, QuestionIcon, ToolIcon } from '../icons.ts'
import { Failed, Loading } from '../States.tsx'
import { allSeen, type Seen } from '../seen/seen.ts'
import { Time } from '../Time.tsx'
import { ApprovalEvidence } from './ApprovalEvidence.tsx'
import { ApproveDialog } from './ApproveDialog.tsx'
import { partsOf, withSeen } from './approval-parts.ts'
import { approvalTitle } from './approval-title.ts'
import { lockReason } from './approve-lock.ts'
import { CardFrame, CardState } from './CardFrame.tsx'
import { DecisionBar, OutcomeBar } from './DecisionBar.tsx'
import { lookedAt } from './looked-at.ts'
import { Notice } from './Notice.tsx'
import { Outcome, outcomeWords } from './Outcome.tsx'
import { Problem } from './Problem.tsx'
import { RejectDialog } from './RejectDialog.tsx'
import { useApproval } from './use-approval.ts'
import { useDecide } from './use-decide.ts'
import { useSettled } from './use-settled.ts'

/** Few decisions are edits, so it is loaded when somebody edits. */
const EditDialog = lazy(() => import('./EditDialog.tsx').then(({ EditDialog }) => ({ default: EditDialog })))

export interface ApprovalCardProps {
  id: string
  /** Its item in the inbox, which knows the owner. */
  item?: InboxItem | undefined
  /** It stands in a conversation, and not on a page of its own. */
  docked?: boolean
  /** The keys `a`, `r`, `e` and `m`. */
  hasKeys?: boolean
  /** The question was asked again under this id. */
  onMoved?: ((id: string) => void) | undefined
}

/** Something that a person decides about: everything that would run, and the buttons. */
export function ApprovalCard({ id, item, docked = false, hasKeys = true, onMoved }: ApprovalCardProps) {
  const [movedTo, setMovedTo] = useState<{ from: string; to: string } | null>(null)
  const shownId = movedTo?.from === id ? movedTo.to : id
  const [isWhole, setWhole] = useState(false)
  const { data, error, refetch, isFetching, dataUpdatedAt } = useApproval(shownId, { isWhole })
  const before = useRef<ShownApproval | null>(null)
  const move = useCallback(
    (to: string) => {
      if (to === shownId) return
      setMovedTo({ from: id, to })
      onMoved?.(to)
    },
    [id, shownId, onMoved],
  )
  if (data === undefined) {
    return (
      <CardState>
        {error === null ? (
          <Loading rows={1} height={docked ? 180 : 320} />
        ) : (
          <Failed error={error} onRetry={() => void refetch()} />
        )}
      </CardState>
    )
  }
  return (
    <LoadedCard
      approval={data}
      readAt={dataUpdatedAt}
      before={before}
      item={item}
      docked={docked}
      hasKeys={hasKeys}
      onMoved={move}
      onOpenAll={isWhole ? null : () => setWhole(true)}
      isOpening={isWhole && isFetching}
    />
  )
}

interface LoadedCardProps extends Required<Pick<ApprovalCardProps, 'docked' | 'hasKeys'>> {
  approval: ShownApproval
  readAt: number
  /** What was shown last, to say what has changed. */
  before: { current: ShownApproval | null }
  item: InboxItem | undefined
  onMoved: (id: string) => void
  onOpenAll: (() => void) | null
  isOpening: boolean
}

type Open = 'approve' | 'remember' | 'reject' | 'edit' | null

function LoadedCard({
  approval,
  readAt,
  before,
  item,
  docked,
  hasKeys,
  onMoved,
  onOpenAll,
  isOpening,
}: LoadedCardProps) {
  const isLive = useIsLive()
  const formId = useId()
  const [open, setOpen] = useState<Open>(null)
  const changedFrom = useChangedFrom(approval, before)
  const { seen, onSeen } = useSeen(approval.digest)
  const hasSaidYes = useHasSaidYes(approval)
  const decide = useDecide(approval, { readAt, hasSaidYes, onChanged: onMoved })
  const isSettled = useSettled(approval.digest)
  const isPending = approval.status === 'pending'
  const isQuestion = approval.kind === 'question'
  const parts = withSeen(partsOf(approval), seen)
  const looked = lookedAt(parts)
  const facts = { risk: approval.risk, seen: allSeen(parts.map((part) => part.seen)), isSettled, isLive, hasSaidYes }
  const lock = lockReason(facts)
  const mayEdit = !isQuestion && approval.kind !== 'policy' && approval.change?.kind !== 'delete'

  const openIfAble = (next: Open) => {
    if (!isPending || !isLive || decide.isBusy) return
    if ((next === 'approve' || next === 'remember') && lock !== null) return
    decide.clear()
    setOpen(next)
  }
  useKeys(
    hasKeys && isPending
      ? [
          ...(isQuestion
            ? []
            : [
                { keys: 'a', name: 'Approve', group: 'Decision', run: () => openIfAble('approve') },
                { keys: 'm', name: 'Approve and remember', group: 'Decision', run: () => openIfAble('remember') },
              ]),
          { keys: 'r', name: 'Reject with a reason', group: 'Decision', run: () => openIfAble('reject') },
          ...(mayEdit
            ? [{ keys: 'e', name: 'Edit, then approve', group: 'Decision', run: () => openIfAble('edit') }]
            : []),
        ]
      : [],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: a yes to another question must be asked for again
  useEffect(() => setOpen((was) => (was === 'approve' || was === 'remember' ? null : was)), [approval.digest])
  const close = () => {
    decide.clear()
    setOpen(null)
  }
  const askedAgain = newQuestion(approval)
  const isAnswerable = isPending && isLive

  return (
    <>
      <CardFrame
        kind={kindWord(approval.kind)}
        icon={kindIcons[approval.kind]}
        title={approvalTitle(approval)}
        risk={approval.risk}
        agent={approval.agent}
        host={approval.host}
        owner={item?.owner ?? null}
        sessionId={approval.session_id}
        createdAt={approval.created_at}
        expiresAt={isPending ? approval.expires_at : null}
        docked={docked}
        asOf={isLive ? null : readAt}
        isDone={!isPending}
        bar={
          isPending ? (
            <DecisionBar note={isQuestion ? (isLive ? null : lock) : lock}>
              {mayEdit && (
                <Button hint="e" disabled={!isAnswerable} onClick={() => openIfAble('edit')}>
                  Edit
                </Button>
              )}
              <Button hint="r" disabled={!isAnswerable} onClick={() => openIfAble('reject')}>
                {isQuestion ? 'No answer' : 'Reject'}
              </Button>
              {isQuestion ? (
                <Button kind="primary" type="submit" form={formId} isBusy={decide.isBusy} disabled={!isAnswerable}>
                  Answer
                </Button>
              ) : (
                <Button
                  kind="primary"
                  hint="a"
                  isBusy={decide.isBusy}
                  disabled={lock !== null}
                  title={lock ?? undefined}
                  onClick={() => openIfAble('approve')}
                >
                  Approve
                </Button>
              )}
            </DecisionBar>
          ) : (
            <OutcomeBar>
              <Outcome
                status={approval.status}
                by={approval.decided_by}
                at={approval.decided_at}
                channel={approval.decided_channel}
                words={outcomeWords(approval)}
              />
              {askedAgain !== null && <Link href={`/inbox/${askedAgain}`}>Open the new question</Link>}
            </OutcomeBar>
          )
        }
      >
        <Yeses approval={approval} />
        {isPending && open === null && <Problem error={decide.problem} />}
        <ApprovalEvidence
          // Another digest is another question: everything in it has to be looked at again.
          key={approval.digest}
          approval={approval}
          changedFrom={changedFrom}
          onSeen={onSeen}
          onOpenAll={onOpenAll}
          isOpening={isOpening}
          form={
            isQuestion && isPending
              ? {
                  id: formId,
                  onAnswer: (result) => isAnswerable && !decide.isBusy && void decide.respond(result, looked),
                }
              : null
          }
        />
      </CardFrame>
      {isPending && (open === 'approve' || open === 'remember') && (
        <ApproveDialog
          approval={approval}
          lookedAt={looked}
          decide={decide}
          lock={lock}
          wantsRemember={open === 'remember'}
          onClose={close}
        />
      )}
      {isPending && open === 'reject' && (
        <RejectDialog approval={approval} lookedAt={looked} decide={decide} isLive={isLive} onClose={close} />
      )}
      {isPending && open === 'edit' && (
        <Suspense>
          <EditDialog approval={approval} decide={decide} isLive={isLive} onClose={close} />
        </Suspense>
      )}
    </>
  )
}

const kindIcons = {
  tool_call: <ToolIcon aria-hidden="true" />,
  question: <QuestionIcon aria-hidden="true" />,
  diff: <ChangeIcon aria-hidden="true" />,
  permission: <ApprovalIcon aria-hidden="true" />,
  policy: <PolicyIcon aria-hidden="true" />,
} as const

/** The server names the question that took the place of this one in the reason. */
const newQuestion = ({ status, reason }: ShownApproval): string | null =>
  status === 'interrupted' ? (/asked again as ([0-9a-f-]{36})/.exec(reason ?? '')?.[1] ?? null) : null

/** `1 of 2 yeses: ada 5m ago`. */
function Yeses({ approval: { quorum, decisions, status } }: { approval: ShownApproval }) {
  if (quorum < 2) return null
  return (
    <Notice tone="neutral">
      <p>
        <strong>
          {decisions.length} of {quorum} yeses
        </strong>
        {decisions.map(({ by, at }, i) => (
          <span key={by}>
            {i === 0 ? ': ' : ', '}
            <bdi>{by}</bdi> <Time at={at} />
          </span>
        ))}
        {status === 'pending' && '. The first no closes it.'}
      </p>
    </Notice>
  )
}

/** Only asked for where several people have to say yes. */
function useHasSaidYes({ quorum, decisions }: ShownApproval): boolean {
  const client = useClient()
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => client.me({ signal }),
    enabled: quorum > 1,
  })
  return decisions.some(({ by }) => by === data?.user)
}

/** What of the parts has been on the screen. Another digest is another question, of which nothing has been seen. */
function useSeen(digest: string) {
  const [state, setState] = useState<{ digest: string; seen: ReadonlyMap<string, Seen> }>({ digest, seen: new Map() })
  const onSeen = useCallback(
    (name: string, part: Seen) =>
      setState((was) => ({ digest, seen: new Map(was.digest === digest ? was.seen : []).set(name, part) })),
    [digest],
  )
  return { seen: state.digest === digest ? state.seen : NOTHING, onSeen }
}

const NOTHING: ReadonlyMap<string, Seen> = new Map()

/** The question as it was before it changed under the eyes of the person. Null: it is the one they opened. */
function useChangedFrom(approval: ShownApproval, before: { current: ShownApproval | null }): ShownApproval | null {
  const [from, setFrom] = useState<ShownApproval | null>(null)
  useEffect(() => {
    const last = before.current
    const isSameCall = last !== null && last.tool_call_id === approval.tool_call_id
    if (isSameCall && last.digest !== approval.digest && approval.status === 'pending') setFrom(last)
    if (!isSameCall) setFrom(null)
    before.current = approval
  }, [approval, before])
  return approval.status === 'pending' ? from : null
}
