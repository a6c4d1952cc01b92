import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { withParams, withSearch } from '../../data/list-filters.ts'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { given } from '../../given.ts'
import { announce } from '../../parts/Announcer.tsx'
import { AnswerForm } from '../../parts/approval/AnswerForm.tsx'
import { lockReason } from '../../parts/approval/approve-lock.ts'
import { CardFrame, DecisionBar } from '../../parts/approval/CardFrame.tsx'
import { Problem } from '../../parts/approval/Problem.tsx'
import { TextDialog } from '../../parts/approval/TextDialog.tsx'
import { useDraft } from '../../parts/approval/use-draft.ts'
import { useSettled } from '../../parts/approval/use-settled.ts'
import { ALL_SEEN } from '../../parts/seen/seen.ts'
import { useAction } from '../../parts/use-action.ts'
import { VisibleText } from '../../parts/VisibleText.tsx'
import styles from './GroupCard.module.css'
import type { InboxRow } from './inbox-rows.ts'

interface GroupCardProps {
  row: InboxRow
  /** `refused`: what was not decided, by its name, and why. */
  onAnswered: (row: InboxRow, refused: readonly string[]) => void
}

/** One look for several that are alike and of low risk. Each is decided by itself, with the digest that was shown. */
export function GroupCard({ row, onAnswered }: GroupCardProps) {
  const { items } = row
  const [{ view }] = items
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const [params] = useSearchParams()
  const { isBusy, error: problem, run } = useAction()
  const [isRejecting, setRejecting] = useState(false)
  const draft = useDraft(`group ${view.group}`)
  // One more in the group is another question.
  const isSettled = useSettled(items.map(({ id }) => id).join())
  const lock = lockReason({ risk: 'low', seen: ALL_SEEN, isSettled, isLive, hasSaidYes: false })
  const actions = view.actions
    .filter(({ name }) => name === 'approve' || name === 'reject')
    .map((action) => ({ ...action, label: action.main ? `Approve all ${items.length}` : 'Reject all' }))
  const reject = actions.find(({ danger }) => danger)

  async function decide(decision: 'approve' | 'reject', reason = ''): Promise<void> {
    await run(async () => {
      const shown = items.flatMap((item) => (item.kind === 'approval' ? item.approval : []))
      const answers = await client.decideGroup(decision, shown, given({ reason }))
      const refused = answers.flatMap(({ approval_id, error }) =>
        error === undefined ? [] : `${items.find(({ id }) => id === approval_id)?.view.title}: ${error.message}`,
      )
      const count = answers.length - refused.length
      announce(`${decision === 'approve' ? 'Approved' : 'Rejected'}: ${count} of ${items.length}`)
      draft.drop()
      onAnswered(row, refused)
    })
    void queries.invalidateQueries({ queryKey: ['inbox'] })
  }
  return (
    <>
      <CardFrame
        view={{ ...view, title: `${items.length} alike` }}
        docked={false}
        asOf={null}
        buttons={
          <DecisionBar note={lock} draft={draft}>
            <AnswerForm
              actions={actions}
              isBusy={isBusy}
              isLive={lock === null}
              hasKeys
              draft={draft}
              onAnswer={({ danger }) => (danger ? setRejecting(true) : void decide('approve'))}
            />
          </DecisionBar>
        }
      >
        {!isRejecting && <Problem error={problem} />}
        <ol className={styles.items}>
          {items.map(({ id, view: { title, gist } }) => (
            <li key={id}>
              <VisibleText text={title} isRaw />
              <Link href={withSearch(`/inbox/${id}`, withParams(params, { alone: '1' }))}>Look at it alone</Link>
              {gist !== '' && <VisibleText text={gist} isRaw />}
            </li>
          ))}
        </ol>
      </CardFrame>
      {isRejecting && reject !== undefined && (
        <TextDialog
          action={reject}
          isBusy={isBusy}
          isLive={isLive}
          problem={problem}
          draft={draft}
          onSend={(reason) => void decide('reject', reason)}
          onClose={() => setRejecting(false)}
        />
      )}
    </>
  )
}
