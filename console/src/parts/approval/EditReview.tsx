import type { EditCheck } from 'quarterdeck/client'
import { RiskBadge } from '../Badge.tsx'
import { DiffView } from '../diff/DiffView.tsx'
import type { Seen } from '../seen/seen.ts'
import { VisibleText } from '../VisibleText.tsx'
import { Difference } from './Difference.tsx'
import styles from './EditReview.module.css'
import { Notice, Warnings } from './Notice.tsx'
import { CardSection } from './RecordParts.tsx'

interface EditReviewProps {
  check: EditCheck
  onSeen: (name: string, seen: Seen) => void
}

/** What would come of an edit: the original, the edit and their difference. This is what one confirms. */
export function EditReview({ check, onSeen }: EditReviewProps) {
  const { change, changes, shown, problems, preview, risk } = check
  return (
    <div className={styles.review}>
      {problems.length > 0 && (
        <div role="alert">
          <Notice tone="bad">
            {problems.map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </Notice>
        </div>
      )}
      <p className={styles.risk}>
        With your edit: <RiskBadge risk={risk} />
      </p>
      <Warnings texts={shown.warnings} />
      {change !== null && change.edit_diff !== '' && (
        <CardSection title="Your edit, against what the agent proposed">
          <DiffView text={change.edit_diff} hasKeys={false} onSeen={(seen) => onSeen('edit', seen)} />
        </CardSection>
      )}
      {change !== null && (
        <CardSection title="What will be written, against the file">
          <DiffView text={change.shown_diff} onSeen={(seen) => onSeen('diff', seen)} />
        </CardSection>
      )}
      {change === null && changes.length > 0 && (
        <CardSection title="What runs instead: the original, and your edit">
          <Difference versions={changes} onSeen={(seen) => onSeen('edit', seen)} />
        </CardSection>
      )}
      {change === null && changes.length === 0 && <p>Nothing is different from what the agent asked for.</p>}
      {preview !== null && preview !== '' && (
        <CardSection title="What the tool shows about it">
          <pre className={styles.preview}>
            <VisibleText text={preview} />
          </pre>
        </CardSection>
      )}
    </div>
  )
}
