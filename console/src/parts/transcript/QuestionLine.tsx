import type { EventInterrupt } from 'quarterdeck/client'
import { lazy, Suspense } from 'react'
import { useApproval } from '../approval/use-record.ts'
import { OutcomeBadge } from '../Badge.tsx'
import { ApprovalIcon } from '../icons.ts'
import { Loading } from '../States.tsx'
import { Fold } from './Fold.tsx'
import { useIsOpen } from './open-rows.ts'

// The card brings the view of diffs with it.
const ApprovalCard = lazy(() => import('../approval/ApprovalCard.tsx'))

/** Here the run stopped and asked a person: one line with what became of it, which opens. */
export default function QuestionLine({ interrupt }: { interrupt: EventInterrupt }) {
  const [isOpen, setOpen] = useIsOpen(`question:${interrupt.id}`)
  const view = useApproval(interrupt.id, { isWhole: false }).data?.view
  // The call stands above it, with its arguments.
  const isCall = view?.mark === 'call'
  return (
    <Fold
      isFramed
      icon={<ApprovalIcon aria-hidden="true" />}
      title={view === undefined || isCall ? 'A person is asked' : view.label}
      line={view === undefined || isCall ? '' : `${view.title} ${view.gist}`}
      end={view !== undefined && <OutcomeBadge outcome={view.outcome} isNamed />}
      isOpen={isOpen}
      onToggle={setOpen}
    >
      <Suspense fallback={<Loading rows={1} height={120} />}>
        <ApprovalCard id={interrupt.id} docked hasKeys={false} />
      </Suspense>
    </Fold>
  )
}
