import type { ShownApproval } from 'quarterdeck/client'
import { useMemo } from 'react'
import { DiffView } from '../diff/DiffView.tsx'
import { SeenText } from '../seen/SeenText.tsx'
import type { Seen } from '../seen/seen.ts'
import { VisibleText } from '../VisibleText.tsx'
import styles from './ApprovalEvidence.module.css'
import {
  answerRules,
  changesSince,
  DIFF,
  POLICY,
  PREVIEW,
  QUESTION,
  questionText,
  showsArguments,
} from './approval-parts.ts'
import { CardSection } from './CardFrame.tsx'
import { Difference } from './Difference.tsx'
import { NobodyWaits } from './NobodyWaits.tsx'
import { Notice } from './Notice.tsx'
import { QuestionForm } from './QuestionForm.tsx'
import { ShownArguments } from './ShownArguments.tsx'

interface ApprovalEvidenceProps {
  approval: ShownApproval
  changedFrom: ShownApproval | null
  onSeen: (name: string, seen: Seen) => void
  onOpenAll: (() => void) | null
  isOpening: boolean
  form: { id: string; onAnswer: (result: unknown) => void } | null
}

/** What a person looks at before they decide: first what speaks against it, then what would run, and apart from it what the agent says. */
export function ApprovalEvidence({ approval, changedFrom, onSeen, onOpenAll, isOpening, form }: ApprovalEvidenceProps) {
  const { kind, shown, shown_diff = '', edit_diff, preview, question, description } = approval
  return (
    <>
      {changedFrom !== null && <ChangedSince before={changedFrom} after={approval} />}
      {shown.warnings.length > 0 && (
        <Notice tone="warn">
          {shown.warnings.map((warning) => (
            <p key={warning}>
              <VisibleText text={warning} inline />
            </p>
          ))}
        </Notice>
      )}
      <NobodyWaits since={approval.nobody_waits_since} />
      {(approval.edited || approval.edited_arguments !== null) && (
        <Notice tone="warn">
          {approval.status === 'pending'
            ? 'An operator has changed what the agent asked for. You decide about the edited version, which is shown here.'
            : 'An operator has changed what the agent asked for. This is the edited version.'}
        </Notice>
      )}
      {kind === 'question' && (
        <CardSection title="What the tool asks, in its own words">
          <div className={styles.box}>
            <SeenText text={questionText(approval)} label="The question" onSeen={(seen) => onSeen(QUESTION, seen)} />
          </div>
        </CardSection>
      )}
      {form !== null && question !== null && <QuestionForm {...form} schema={question.schema} />}
      {kind === 'question' && answerRules(approval) !== '' && (
        <details className={styles.rules}>
          <summary>What the answer may be</summary>
          <VisibleText text={answerRules(approval)} />
        </details>
      )}
      {showsArguments(approval) && (
        <CardSection title="What runs">
          {approval.action !== null && (
            <p className={styles.action}>
              <VisibleText text={approval.action} inline />
            </p>
          )}
          <ShownArguments
            approvalId={approval.approval_id}
            shown={shown}
            onSeen={onSeen}
            onOpenAll={onOpenAll}
            isOpening={isOpening}
          />
        </CardSection>
      )}
      {kind === 'policy' && description !== '' && (
        <CardSection title="The policy">
          <div className={styles.box}>
            <SeenText text={description} label="The policy" onSeen={(seen) => onSeen(POLICY, seen)} />
          </div>
        </CardSection>
      )}
      {shown_diff !== '' && <DiffView text={shown_diff} label="What changes" onSeen={(seen) => onSeen(DIFF, seen)} />}
      {kind === 'diff' && shown_diff === '' && (
        <Notice tone="bad">The diff is gone. Reject it, and let the agent ask again.</Notice>
      )}
      {edit_diff !== undefined && edit_diff !== null && edit_diff !== '' && (
        <details className={styles.edit}>
          <summary>What the operator changed in the agent’s proposal</summary>
          <DiffView text={edit_diff} hasKeys={false} />
        </details>
      )}
      {preview !== null && preview !== '' && (
        <CardSection title="What the tool itself shows">
          {looksLikeDiff(preview) ? (
            <DiffView text={preview} hasKeys={shown_diff === ''} onSeen={(seen) => onSeen(PREVIEW, seen)} />
          ) : (
            <div className={styles.box}>
              <SeenText text={preview} label="Preview" onSeen={(seen) => onSeen(PREVIEW, seen)} />
            </div>
          )}
        </CardSection>
      )}
      {kind === 'diff' && (approval.title !== '' || description !== '') && (
        <CardSection title="What the agent says" apart>
          <VisibleText text={[approval.title, description].filter((text) => text !== '').join('\n')} />
        </CardSection>
      )}
      <p className={styles.facts}>
        Digest <code>{approval.digest}</code>
      </p>
    </>
  )
}

const looksLikeDiff = (text: string): boolean => /^(?:diff --git |--- .*\n\+\+\+ |@@ -)/.test(text)

/** The question changed while it was open. It counts as new, and says what is different. */
function ChangedSince({ before, after }: { before: ShownApproval; after: ShownApproval }) {
  const changes = useMemo(() => changesSince(before, after), [before, after])
  return (
    <div className={styles.changed} role="alert">
      <Notice tone="warn">
        <p>
          <strong>This has changed since you opened it.</strong>{' '}
          {changes.length > 0
            ? 'Below is what is different. Look at it again before you decide.'
            : before.shown_diff !== after.shown_diff
              ? 'The diff is another one now. Look at it again before you decide.'
              : 'The arguments are the same. The tool, its rules or what it works on are different.'}
        </p>
      </Notice>
      {changes.length > 0 && <Difference versions={changes} />}
    </div>
  )
}
