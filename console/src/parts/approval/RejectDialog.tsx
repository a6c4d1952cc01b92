import type { LookedAt, ShownApproval } from 'quarterdeck/client'
import { useState } from 'react'
import { keyText, useKeys } from '../../app/Keys.tsx'
import { Button } from '../Button.tsx'
import { Dialog } from '../Dialog.tsx'
import { TextArea } from '../Field.tsx'
import { mayRememberNo } from './approve-lock.ts'
import { Problem } from './Problem.tsx'
import { RememberFields } from './RememberFields.tsx'
import { comparable, ONCE, rememberedAs } from './remember-choice.ts'
import type { Decide } from './use-decide.ts'

const LONGEST_REASON = 2_000

interface RejectDialogProps {
  approval: ShownApproval
  lookedAt: LookedAt
  decide: Decide
  isLive: boolean
  onClose: () => void
}

/** A no, with a reason that the agent reads. */
export function RejectDialog({ approval, lookedAt, decide, isLive, onClose }: RejectDialogProps) {
  const [reason, setReason] = useState('')
  const [choice, setChoice] = useState(ONCE)
  const isQuestion = approval.kind === 'question'
  const isSecret = (name: string) => approval.shown.arguments.some((one) => one.name === name && one.secret)

  async function reject(): Promise<void> {
    if (decide.isBusy || !isLive) return
    const words = reason.trim() === '' ? {} : { reason: reason.trim() }
    if (await decide.reject({ ...words, looked_at: lookedAt, ...rememberedAs(choice, approval.arguments) })) onClose()
  }
  useKeys([{ keys: 'mod+Enter', name: 'Decide', group: 'Decision', run: () => void reject(), isGlobal: true }])

  return (
    <Dialog
      title={isQuestion ? 'Give no answer?' : 'Reject this?'}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            hint={keyText('mod+Enter')}
            isBusy={decide.isBusy}
            disabled={!isLive}
            onClick={() => void reject()}
          >
            {isQuestion ? 'Give no answer' : choice.remember === 'once' ? 'Reject' : 'Reject and remember'}
          </Button>
        </>
      }
    >
      <TextArea
        label="Reason"
        help="The agent reads it. You can leave it out."
        maxLength={LONGEST_REASON}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
      {mayRememberNo(approval) && (
        <RememberFields
          choice={choice}
          onChange={setChoice}
          effect="refuse"
          tool={approval.tool}
          names={comparable(approval.arguments, isSecret)}
        />
      )}
      <Problem error={decide.problem} />
    </Dialog>
  )
}
