import type { ShownApproval } from 'quarterdeck/client'
import { Fragment, lazy, Suspense, useCallback, useEffect, useId, useRef, useState } from 'react'
import { useKeys } from '../../app/Keys.tsx'
import { useMe } from '../../data/me.ts'
import { usePlace } from '../../data/place.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { Button } from '../Button.tsx'
import { allSeen, type Seen } from '../seen/seen.ts'
import { VisibleText } from '../VisibleText.tsx'
import { AnswerForm } from './AnswerForm.tsx'
import { ApprovalEvidence } from './ApprovalEvidence.tsx'
import { partsOf, withSeen } from './approval-parts.ts'
import { lockReason, needsDialog, whyNotYours } from './approve-lock.ts'
import { CardFrame, CardState, DecisionBar } from './CardFrame.tsx'
import { lookedAt } from './looked-at.ts'
import { Problem } from './Problem.tsx'
import { inBar, keyOf, type RecordAction } from './record-actions.ts'
import { useDecide } from './use-decide.ts'
import { useDraft, useDropWhen } from './use-draft.ts'
import { commentsLock, useLineComments } from './use-line-comments.ts'
import { useApproval } from './use-record.ts'
import { useSettled } from './use-settled.ts'

/** Most decisions need none of them, so each is loaded when it is opened. */
const ApproveDialog = lazy(() => import('./ApproveDialog.tsx'))
const RejectDialog = lazy(() => import('./RejectDialog.tsx'))
const EditDialog = lazy(() => import('./EditDialog.tsx'))
const ChangesCard = lazy(() => import('./changes/ChangesCard.tsx'))

interface ApprovalCardProps {
  id: string
  /** It stands in a conversation, and not on a page of its own. */
  docked?: boolean
  /** The keys `a`, `r`, `e` and `m`. */
  hasKeys?: boolean
  /** The question was asked again under this id. */
  onMoved?: ((id: string) => void) | undefined
  /** The person has decided. */
  onDone?: (() => void) | undefined
}

/** Something that a person decides about: everything that would run, and the buttons. */
export default function ApprovalCard({ id, docked = false, hasKeys = true, onMoved, onDone }: ApprovalCardProps) {
  const [movedTo, setMovedTo] = useState<{ from: string; to: string } | null>(null)
  const shownId = movedTo?.from === id ? movedTo.to : id
  const [isWhole, setWhole] = useState(false)
  const query = useApproval(shownId, { isWhole })
  const { data, isFetching, dataUpdatedAt } = query
  const before = useRef<ShownApproval | null>(null)
  const move = useCallback(
    (to: string) => {
      if (to === shownId) return
      setMovedTo({ from: id, to })
      onMoved?.(to)
    },
    [id, shownId, onMoved],
  )
  const height = docked ? 180 : 320
  if (data === undefined) return <CardState query={query} height={height} />
  if (data.kind === 'changes') {
    return (
      <Suspense fallback={<CardState query={query} height={height} />}>
        <ChangesCard approval={data} readAt={dataUpdatedAt} {...{ docked, hasKeys, onDone }} onMoved={move} />
      </Suspense>
    )
  }
  return (
    <LoadedCard
      approval={data}
      readAt={dataUpdatedAt}
      before={before}
      docked={docked}
      hasKeys={hasKeys}
      onMoved={move}
      onDone={onDone}
      onOpenAll={isWhole ? null : () => setWhole(true)}
      isOpening={isWhole && isFetching}
    />
  )
}

interface LoadedCardProps extends Required<Pick<ApprovalCardProps, 'docked' | 'hasKeys' | 'onDone'>> {
  approval: ShownApproval
  readAt: number
  /** What was shown last, to say what has changed. */
  before: { current: ShownApproval | null }
  onMoved: (id: string) => void
  onOpenAll: (() => void) | null
  isOpening: boolean
}

/** The dialog that is open. `remember`: the one of `approve`, opened to choose what is remembered. */
type Open = RecordAction['name'] | 'remember' | null

function LoadedCard({ approval, readAt, before, docked, hasKeys, onMoved, onDone, ...opening }: LoadedCardProps) {
  const isLive = useIsLive()
  const formId = useId()
  const [open, setOpen] = useState<Open>(null)
  const changedFrom = useChangedFrom(approval, before)
  const { seen, onSeen } = useSeen(approval.digest)
  const { data: me } = useMe()
  const hasSaidYes = approval.decisions.some(({ by }) => by === me?.user)
  const draft = useDraft(approval.approval_id, approval.digest)
  useDropWhen(approval.view.outcome !== null, draft)
  const comments = useLineComments(draft)
  const decide = useDecide(approval, { readAt, hasSaidYes, draft, onChanged: onMoved, onDone })
  const isSettled = useSettled(approval.digest)
  const { view } = approval
  const notYours = whyNotYours(approval, usePlace())
  const actions = notYours === null ? view.actions : []
  const isPending = view.outcome === null
  const isAnswerable = isPending && isLive
  const actionOf = (name: Open) => actions.find((action) => action.name === (name === 'remember' ? 'approve' : name))
  const parts = withSeen(partsOf(approval), seen)
  const looked = lookedAt(parts)
  const facts = { risk: approval.risk, seen: allSeen(parts.map((part) => part.seen)), isSettled, isLive, hasSaidYes }
  const unsent = commentsLock(comments.all.length)
  const lock = notYours ?? unsent ?? lockReason(facts)

  const openIfAble = (next: Open) => {
    if (!isPending || !isLive || decide.isBusy) return
    if ((next === 'approve' || next === 'remember') && lock !== null) return
    if (next === 'edit' && unsent !== null) return
    decide.clear()
    if (next === 'approve' && !needsDialog(approval, looked)) void decide.approve({ looked_at: looked })
    else setOpen(next)
  }
  const answer = actionOf('answer')
  /** One press is the whole answer. */
  const hasChoices = (answer?.choices.length ?? 0) > 0
  const more = view.remember?.yes === true ? 'Remember…' : approval.kind === 'diff' ? 'More…' : null
  const key = (keys: string, name: string, run: () => void) => ({ keys, name, group: 'Decision', run })
  const keys = [
    // The form of a question has its own key.
    ...actions
      .filter(({ name }) => name !== 'answer')
      .map((action) => key(keyOf(action), action.label, () => openIfAble(action.name))),
    ...(actionOf('approve') === undefined || more === null
      ? []
      : [key('m', `${actionOf('approve')?.label} and remember`, () => openIfAble('remember'))]),
  ]
  useKeys(hasKeys && !hasChoices ? keys : [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a yes to another question must be asked for again
  useEffect(() => setOpen((was) => (was === 'approve' || was === 'remember' ? null : was)), [approval.digest])
  const close = () => {
    decide.clear()
    setOpen(null)
  }
  const asking = actionOf(open)
  const dialog = { approval, lookedAt: looked, decide, draft, onClose: close }

  return (
    <>
      <CardFrame
        view={view}
        docked={docked}
        asOf={isLive ? null : readAt}
        buttons={
          <DecisionBar note={answer !== undefined && isLive ? null : lock} draft={draft}>
            {hasChoices && (
              <AnswerForm
                actions={actions}
                isBusy={decide.isBusy}
                isLive={isAnswerable}
                hasKeys={hasKeys}
                draft={draft}
                onAnswer={(action, { result }) =>
                  action.danger ? openIfAble(action.name) : void decide.respond(result, looked)
                }
              />
            )}
            {(hasChoices ? [] : inBar(actions)).map((action) =>
              action.name === 'answer' ? (
                <Button
                  key={action.name}
                  kind="primary"
                  type="submit"
                  form={formId}
                  isBusy={decide.isBusy}
                  disabled={!isAnswerable}
                >
                  {action.label}
                </Button>
              ) : (
                <Fragment key={action.name}>
                  {action.main && more !== null && (
                    <Button hint="m" disabled={lock !== null} onClick={() => openIfAble('remember')}>
                      {more}
                    </Button>
                  )}
                  <Button
                    kind={action.main ? 'primary' : 'plain'}
                    hint={keyOf(action)}
                    isBusy={action.main && decide.isBusy}
                    disabled={
                      action.main ? lock !== null : !isAnswerable || (action.name === 'edit' && unsent !== null)
                    }
                    title={action.main ? (lock ?? undefined) : undefined}
                    onClick={() => openIfAble(action.name)}
                  >
                    <VisibleText text={action.label} inline isRaw />
                  </Button>
                </Fragment>
              ),
            )}
          </DecisionBar>
        }
      >
        {isPending && open === null && <Problem error={decide.problem} />}
        <ApprovalEvidence
          // Another digest is another question: everything in it has to be looked at again.
          key={approval.digest}
          approval={approval}
          changedFrom={changedFrom}
          onSeen={onSeen}
          comments={isPending && actionOf('reject') !== undefined ? comments : null}
          {...opening}
          form={
            answer !== undefined && !hasChoices
              ? {
                  id: formId,
                  name: answer.label,
                  draft,
                  onAnswer: (result) => isAnswerable && !decide.isBusy && void decide.respond(result, looked),
                }
              : null
          }
        />
      </CardFrame>
      <Suspense>
        {asking?.name === 'approve' && (
          <ApproveDialog {...dialog} action={asking} lock={lock} wantsRemember={open === 'remember'} />
        )}
        {asking?.name === 'reject' && (
          <RejectDialog {...dialog} comments={comments.all} action={asking} isLive={isLive} />
        )}
        {asking?.name === 'edit' && <EditDialog {...dialog} action={asking} isLive={isLive} />}
      </Suspense>
    </>
  )
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
