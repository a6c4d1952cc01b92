import type { ShownApproval } from 'quarterdeck/client'
import { type ComponentProps, useMemo } from 'react'
import { DiffView } from '../diff/DiffView.tsx'
import type { LineComments } from '../diff/line-comments.ts'
import { useReadLines } from '../diff/use-read-lines.ts'
import { SeenText } from '../seen/SeenText.tsx'
import type { Seen } from '../seen/seen.ts'
import { VisibleText } from '../VisibleText.tsx'
import styles from './ApprovalEvidence.module.css'
import { changesSince, DIFF, POLICY, PREVIEW, QUESTION, questionText } from './approval-parts.ts'
import { Difference } from './Difference.tsx'
import { Notice, Warnings } from './Notice.tsx'
import { QuestionForm } from './QuestionForm.tsx'
import { type BodyPart, BodyPartView, CardSection, RecordFacts } from './RecordParts.tsx'
import { ShownArguments } from './ShownArguments.tsx'

interface ApprovalEvidenceProps {
  approval: ShownApproval
  onSeen: (name: string, seen: Seen) => void
  onOpenAll: (() => void) | null
  isOpening: boolean
  comments: LineComments | null
  form: Omit<ComponentProps<typeof QuestionForm>, 'schema'> | null
}

/** What a person looks at before they decide: first what speaks against it, then what would run, and apart from it what the agent says. */
export function ApprovalEvidence({
  changedFrom,
  ...props
}: ApprovalEvidenceProps & { changedFrom: ShownApproval | null }) {
  const { view, edit_diff } = props.approval
  return (
    <>
      {changedFrom !== null && <ChangedSince before={changedFrom} after={props.approval} />}
      <Warnings texts={view.warnings} />
      <RecordFacts facts={view.facts.filter(({ minor }) => !minor)} />
      {view.body.map((part, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a question never change places
        <EvidencePart key={i} part={part} {...props} />
      ))}
      {edit_diff !== undefined && edit_diff !== null && edit_diff !== '' && (
        <details className={styles.edit}>
          <summary>What the operator changed in the agent’s proposal</summary>
          <DiffView text={edit_diff} hasKeys={false} />
        </details>
      )}
      <details className={styles.edit}>
        <summary>What exactly</summary>
        <RecordFacts facts={view.facts.filter(({ minor }) => minor)} />
      </details>
    </>
  )
}

/** A part with what the audit trail needs: how much of it was on the screen. */
function EvidencePart({ part, ...props }: ApprovalEvidenceProps & { part: BodyPart }) {
  const { approval, onSeen, onOpenAll, isOpening, comments } = props
  const readLines = useReadLines(approval.approval_id)
  switch (part.type) {
    case 'diff':
      return (
        <DiffView
          text={part.text}
          label={part.title}
          onSeen={(seen) => onSeen(DIFF, seen)}
          readLines={readLines}
          comments={comments}
        />
      )
    case 'arguments': {
      // What an operator put in the place of the agent's arguments comes last, and runs.
      const runs = approval.view.body.findLast(({ type }) => type === 'arguments')
      if (part !== runs) return <BodyPartView part={part} />
      return (
        <CardSection title={part.title}>
          <ShownArguments
            approvalId={approval.approval_id}
            shown={approval.shown}
            onSeen={onSeen}
            onOpenAll={onOpenAll}
            isOpening={isOpening}
          />
        </CardSection>
      )
    }
    case 'prose':
      return <ProseEvidence part={part} {...props} />
    case 'steps':
      return <BodyPartView part={part} />
  }
}

type Prose = Extract<BodyPart, { type: 'prose' }>

function ProseEvidence({ part, approval, onSeen, form }: ApprovalEvidenceProps & { part: Prose }) {
  const { kind, question, view } = approval
  const { title, text, by } = part
  if (by === 'agent') return <BodyPartView part={part} />
  if (by === 'server') {
    if (kind === 'policy') return <SeenProse title={title} text={text} onSeen={(seen) => onSeen(POLICY, seen)} />
    if (kind === 'question') {
      return (
        <details className={styles.edit}>
          <summary>{title}</summary>
          <VisibleText text={text} />
        </details>
      )
    }
    return (
      <CardSection title={title}>
        <p className={styles.action}>
          <VisibleText text={text} inline />
        </p>
      </CardSection>
    )
  }
  if (kind === 'question') {
    return (
      <>
        <SeenProse title={title} text={questionText(approval)} onSeen={(seen) => onSeen(QUESTION, seen)} />
        {form !== null && question !== null && <QuestionForm {...form} schema={question.schema} />}
      </>
    )
  }
  if (!looksLikeDiff(text)) return <SeenProse title={title} text={text} onSeen={(seen) => onSeen(PREVIEW, seen)} />
  const isOnlyDiff = !view.body.some(({ type }) => type === 'diff')
  return (
    <CardSection title={title}>
      <DiffView text={text} hasKeys={isOnlyDiff} onSeen={(seen) => onSeen(PREVIEW, seen)} />
    </CardSection>
  )
}

function SeenProse({ title, text, onSeen }: { title: string; text: string; onSeen: (seen: Seen) => void }) {
  return (
    <CardSection title={title}>
      <div className={styles.box}>
        <SeenText text={text} label={title} onSeen={onSeen} />
      </div>
    </CardSection>
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
