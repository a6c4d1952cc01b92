import { useState } from 'react'
import { counted } from '../../words.ts'
import { commentsText, type LineComment } from '../diff/line-comments.ts'
import { VisibleText } from '../VisibleText.tsx'
import styles from './RejectDialog.module.css'
import { RememberFields } from './RememberFields.tsx'
import { ONCE, rememberedAs } from './remember-choice.ts'
import { TextDialog } from './TextDialog.tsx'
import type { DecisionDialogProps } from './use-decide.ts'

interface RejectDialogProps extends DecisionDialogProps {
  isLive: boolean
  comments: readonly LineComment[]
}

/** A no, with a reason that the agent reads. */
export default function RejectDialog({
  approval,
  action,
  lookedAt,
  decide,
  draft,
  isLive,
  comments,
  onClose,
}: RejectDialogProps) {
  const said = commentsText(comments)
  const [choice, setChoice] = useState(ONCE)

  async function reject(reason: string): Promise<void> {
    const all = [reason, said].filter((one) => one !== '').join('\n\n')
    const words = all === '' ? {} : { reason: all }
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
      along={said}
      onSend={(reason) => void reject(reason)}
      onClose={onClose}
    >
      {said !== '' && (
        <details className={styles.along}>
          <summary>With {counted(comments.length, 'comment')} on lines, as the agent reads them</summary>
          <VisibleText text={said} isRaw />
        </details>
      )}
      <RememberFields approval={approval} choice={choice} onChange={setChoice} effect="refuse" />
    </TextDialog>
  )
}
