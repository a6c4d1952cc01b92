import { useQueryClient } from '@tanstack/react-query'
import type { InboxItem, RecordView } from 'quarterdeck/client'
import { useEffect, useRef, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { withParams, withSearch } from '../../data/list-filters.ts'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { given } from '../../given.ts'
import { announce } from '../../parts/Announcer.tsx'
import { lockReason } from '../../parts/approval/approve-lock.ts'
import { CardFrame, DecisionBar } from '../../parts/approval/CardFrame.tsx'
import { Notice } from '../../parts/approval/Notice.tsx'
import { Problem } from '../../parts/approval/Problem.tsx'
import { TextDialog } from '../../parts/approval/TextDialog.tsx'
import { useSettled } from '../../parts/approval/use-settled.ts'
import { Button } from '../../parts/Button.tsx'
import { ALL_SEEN } from '../../parts/seen/seen.ts'
import { VisibleText } from '../../parts/VisibleText.tsx'
import styles from './GroupCard.module.css'
import { groupTitle, type InboxRow } from './inbox-rows.ts'

/** One look for several that are alike and of low risk. Each is decided by itself, with the digest that was shown. */
export function GroupCard({ row, onAnswered }: { row: InboxRow; onAnswered: (row: InboxRow) => void }) {
  const { items } = row
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const [failed, setFailed] = useState<readonly { title: string; why: string }[]>([])
  const [isRejecting, setRejecting] = useState(false)
  // Another one in the group is another question.
  const isSettled = useSettled(items.map(({ id }) => id).join())
  const lock = lockReason({ risk: 'low', seen: ALL_SEEN, isSettled, isLive, hasSaidYes: false })
  const [{ view }] = items
  const reject = view.actions.find(({ name }) => name === 'reject')

  async function decide(decision: 'approve' | 'reject', reason = ''): Promise<void> {
    if (isBusy || !isLive || (decision === 'approve' && lock !== null)) return
    setBusy(true)
    setProblem(null)
    try {
      const shown = items.flatMap((item) => (item.kind === 'approval' ? item.approval : []))
      const answers = await client.decideGroup(decision, shown, given({ reason }))
      const refused = answers.flatMap(({ approval_id, error }) =>
        error === undefined ? [] : { title: titleOf(items, approval_id), why: error.message },
      )
      setRejecting(false)
      setFailed(refused)
      const count = answers.length - refused.length
      announce(`${decision === 'approve' ? 'Approved' : 'Rejected'}: ${count} of ${items.length}`)
      if (refused.length === 0) onAnswered(row)
    } catch (error) {
      setProblem(error)
    } finally {
      await queries.invalidateQueries({ queryKey: ['inbox'] })
      setBusy(false)
    }
  }
  const approveAll = `Approve all ${items.length}`
  useKeys([
    { keys: 'a', name: approveAll, group: 'Decision', run: () => void decide('approve') },
    { keys: 'r', name: 'Reject all', group: 'Decision', run: () => setRejecting(true) },
  ])
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => place.current?.focus({ preventScroll: true }), [])
  return (
    <div ref={place} className={styles.place} tabIndex={-1}>
      <CardFrame
        view={{ ...view, title: groupTitle(items) }}
        docked={false}
        asOf={null}
        buttons={
          <DecisionBar note={lock}>
            {reject !== undefined && (
              <Button hint="r" disabled={!isLive || isBusy} onClick={() => setRejecting(true)}>
                Reject all
              </Button>
            )}
            <Button
              kind="primary"
              hint="a"
              isBusy={isBusy}
              disabled={lock !== null}
              onClick={() => void decide('approve')}
            >
              {approveAll}
            </Button>
          </DecisionBar>
        }
      >
        {!isRejecting && <Problem error={problem} />}
        {failed.length > 0 && (
          <Notice tone="bad">
            {failed.map(({ title, why }) => (
              <p key={title}>
                <VisibleText text={title} inline isRaw /> was not decided: {why}
              </p>
            ))}
          </Notice>
        )}
        <ol className={styles.items}>
          {items.map(({ id, view }) => (
            <GroupItem key={id} view={view} />
          ))}
        </ol>
      </CardFrame>
      {isRejecting && reject !== undefined && (
        <TextDialog
          action={reject}
          button="Reject all"
          isBusy={isBusy}
          isLive={isLive}
          problem={problem}
          onSend={(reason) => void decide('reject', reason)}
          onClose={() => setRejecting(false)}
        />
      )}
    </div>
  )
}

const titleOf = (items: readonly InboxItem[], id: string): string =>
  items.find((item) => item.id === id)?.view.title ?? id

function GroupItem({ view }: { view: RecordView }) {
  const [params] = useSearchParams()
  return (
    <li>
      <VisibleText text={view.title} isRaw />
      {view.gist !== '' && <VisibleText text={view.gist} isRaw />}
      {view.risk?.why != null && <span>{view.risk.why}</span>}
      <Link href={withSearch(`/inbox/${view.id}`, withParams(params, { alone: '1' }))}>Look at it alone</Link>
    </li>
  )
}
