import type { EventInterrupt } from 'quarterdeck/client'
import { lazy, Suspense } from 'react'
import { statusTone, statusWord } from '../../words.ts'
import { useApproval } from '../approval/use-approval.ts'
import { Badge } from '../Badge.tsx'
import { ApprovalIcon } from '../icons.ts'
import { Loading } from '../States.tsx'
import { Fold } from './Fold.tsx'
import { useIsOpen } from './open-rows.ts'

// Most conversations have none, and the card brings the view of diffs with it.
const ApprovalCard = lazy(() =>
  import('../approval/ApprovalCard.tsx').then((module) => ({ default: module.ApprovalCard })),
)

/** Here the run stopped and asked a person: one line with what became of it, which opens. */
export function Question({ interrupt }: { interrupt: EventInterrupt }) {
  const [isOpen, setOpen] = useIsOpen(`question:${interrupt.id}`)
  const { data } = useApproval(interrupt.id, { isWhole: false })
  const by = data?.decided_by
  return (
    <Fold
      isFramed
      icon={<ApprovalIcon aria-hidden="true" />}
      title={data?.kind === 'question' ? 'A person was asked' : 'Approval'}
      line={data?.action ?? data?.title ?? ''}
      end={
        data !== undefined && (
          <Badge tone={statusTone(data.status)}>
            {statusWord(data.status)}
            {typeof by === 'string' && ` by ${by}`}
          </Badge>
        )
      }
      isOpen={isOpen}
      onToggle={setOpen}
    >
      <Suspense fallback={<Loading rows={1} height={120} />}>
        <ApprovalCard id={interrupt.id} docked hasKeys={false} />
      </Suspense>
    </Fold>
  )
}
