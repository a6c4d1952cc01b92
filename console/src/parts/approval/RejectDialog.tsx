import { useState } from 'react'
import { RememberFields } from './RememberFields.tsx'
import { ONCE, rememberedAs } from './remember-choice.ts'
import { TextDialog } from './TextDialog.tsx'
import type { DecisionDialogProps } from './use-decide.ts'

interface RejectDialogProps extends DecisionDialogProps {
  isLive: boolean
}

/** A no, with a reason that the agent reads. */
export default function RejectDialog({
  approval,
  action,
  lookedAt,
  decide,
  draft,
  isLive,
  onClose,
}: RejectDialogProps) {
  const [choice, setChoice] = useState(ONCE)

  async function reject(reason: string): Promise<void> {
    const words = reason === '' ? {} : { reason }
    if (await decide.reject({ ...words, looked_at: lookedAt, ...rememberedAs(choice, approval) })) onClose()
  }
  return (
    <TextDialog
      action={action}
      button={choice.scope === null ? action.label : `${action.label} and remember`}
      isBusy={decide.isBusy}
      isLive={isLive}
      problem={decide.problem}
      draft={draft}
      onSend={(reason) => void reject(reason)}
      onClose={onClose}
    >
      <RememberFields approval={approval} choice={choice} onChange={setChoice} effect="refuse" />
    </TextDialog>
  )
}
