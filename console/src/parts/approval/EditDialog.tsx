import { useQuery } from '@tanstack/react-query'
import type { EditCheck, ShownApproval } from 'quarterdeck/client'
import { useEffect, useRef, useState } from 'react'
import { keyText, useKeys } from '../../app/Keys.tsx'
import { useClient } from '../../data/server.tsx'
import { RiskBadge } from '../Badge.tsx'
import { Dialog, DialogButtons } from '../Dialog.tsx'
import { DiffView } from '../diff/DiffView.tsx'
import { Pending } from '../States.tsx'
import { allSeen, NOTHING_SEEN, type Seen } from '../seen/seen.ts'
import { useAction } from '../use-action.ts'
import { VisibleText } from '../VisibleText.tsx'
import { ArgumentsEditor } from './ArgumentsEditor.tsx'
import { lockReason } from './approve-lock.ts'
import { Difference } from './Difference.tsx'
import styles from './EditDialog.module.css'
import { changeIn, withChange } from './kept-change.ts'
import { lookedAt } from './looked-at.ts'
import { Notice, Warnings } from './Notice.tsx'
import { Problem } from './Problem.tsx'
import { CardSection } from './RecordParts.tsx'
import type { DecisionDialogProps } from './use-decide.ts'
import type { Draft } from './use-draft.ts'
import { useSettled } from './use-settled.ts'

export type Edit = { arguments: Record<string, unknown> } | { content: string }

/** First the edit, then the server's word about it, then the yes. Going back keeps what was typed. */
export default function EditDialog({
  approval,
  action,
  decide,
  draft,
  isLive,
  onClose,
}: DecisionDialogProps & { isLive: boolean }) {
  const client = useClient()
  const [checked, setChecked] = useState<{ edit: Edit; check: EditCheck } | null>(null)
  const checking = useAction()
  const takeEdit = useRef<(() => Edit | null) | null>(null)
  const seen = useRef(new Map<string, Seen>())
  const [seenAll, setSeenAll] = useState(NOTHING_SEEN)
  const isSettled = useSettled(checked === null ? 'edit' : 'review')
  const isFile = approval.kind === 'diff'

  // biome-ignore lint/correctness/useExhaustiveDependencies: what was checked was an edit of another question
  useEffect(() => setChecked(null), [approval.digest])

  function onSeen(name: string, part: Seen): void {
    seen.current.set(name, part)
    setSeenAll(allSeen([...seen.current.values()]))
  }
  function check(): void {
    const edit = takeEdit.current?.() ?? null
    if (edit === null) return
    void checking.run(async () => {
      decide.clear()
      seen.current.clear()
      setSeenAll(NOTHING_SEEN)
      setChecked({ edit, check: await client.checkEdit(approval.approval_id, edit) })
    })
  }

  const differs = checked !== null && (checked.check.changes.length > 0 || checked.check.change !== null)
  const lock =
    checked === null
      ? null
      : !checked.check.ok
        ? 'The server does not accept this edit.'
        : !differs
          ? 'Nothing is different.'
          : lockReason({ risk: checked.check.risk, seen: seenAll, isSettled, isLive, hasSaidYes: false })

  async function approve(): Promise<void> {
    if (checked === null || lock !== null || decide.isBusy) return
    const { edit, check } = checked
    const looked = lookedAt([...seen.current].map(([name, part]) => ({ name, ...sizeOf(check), seen: part })))
    const isDone =
      'content' in edit
        ? await decide.approveContent(edit.content, check.change?.digest ?? '', looked)
        : await decide.approve({ arguments: edit.arguments, looked_at: looked })
    if (isDone) onClose()
  }
  useKeys([
    {
      keys: 'mod+Enter',
      name: checked === null ? 'Check the edit' : 'Approve the edit',
      group: 'Decision',
      run: () => void (checked === null ? check() : approve()),
      isGlobal: true,
    },
  ])

  return (
    <Dialog
      title={checked === null ? action.confirm.title : 'Approve the edit?'}
      width="full"
      onClose={onClose}
      actions={
        checked === null ? (
          <DialogButtons
            onCancel={onClose}
            hint={keyText('mod+Enter')}
            isBusy={checking.isBusy}
            disabled={!isLive}
            onClick={check}
          >
            Check the edit
          </DialogButtons>
        ) : (
          <>
            {lock !== null && (
              <p className={styles.lock} role="status">
                {lock}
              </p>
            )}
            <DialogButtons
              onCancel={() => setChecked(null)}
              cancel="Back to the edit"
              hint={keyText('mod+Enter')}
              isBusy={decide.isBusy}
              disabled={lock !== null}
              onClick={() => void approve()}
            >
              Approve the edit
            </DialogButtons>
          </>
        )
      }
    >
      {/* It stays in the page while one looks at the review, so that nothing typed is lost. */}
      <div hidden={checked !== null}>
        {isFile ? (
          <FileEditor approval={approval} draft={draft} takeEdit={takeEdit} />
        ) : (
          <ArgumentsEditor approval={approval} draft={draft} takeEdit={takeEdit} />
        )}
      </div>
      {checked !== null && <EditReview check={checked.check} onSeen={onSeen} />}
      <Problem error={checking.error ?? decide.problem} />
    </Dialog>
  )
}

/** Roughly: the audit trail wants to know how much of the difference was on the screen. */
function sizeOf({ change, changes }: EditCheck): { bytes: number; loadedBytes: number } {
  const bytes =
    change === null
      ? changes.reduce((sum, { before, after }) => sum + (before?.length ?? 0) + (after?.length ?? 0), 0)
      : change.shown_diff.length
  return { bytes, loadedBytes: bytes }
}

interface FileEditorProps {
  approval: Pick<ShownApproval, 'approval_id' | 'digest'>
  draft: Draft
  takeEdit: { current: (() => Edit | null) | null }
}

/** The whole file as it should be. */
function FileEditor({ approval: { approval_id: approvalId, digest }, draft, takeEdit }: FileEditorProps) {
  const client = useClient()
  const file = useQuery({
    queryKey: ['approval', approvalId, 'content'],
    queryFn: ({ signal }) => client.approval(approvalId, { signal, include: ['content'] }),
    // What is being typed must not be taken away.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const original = file.data?.content ?? null
  const [text, setText] = useState<string | null>(null)
  // A change of another version of the file fits nowhere.
  const name = `file.${digest}`
  const { [name]: kept } = draft.texts
  const current = text ?? (original === null || kept === undefined ? original : withChange(original, kept))
  function change(next: string): void {
    setText(next)
    draft.set(name, original === null || next === original ? null : changeIn(original, next))
  }
  takeEdit.current = () => (current === null ? null : { content: current })
  if (file.data === undefined || file.error !== null) return <Pending query={file} rows={1} height={320} />
  return (
    <textarea
      className={styles.file}
      aria-label="The whole file as it should be"
      spellCheck={false}
      autoCapitalize="off"
      dir="ltr"
      value={current ?? ''}
      onChange={({ target }) => change(target.value)}
    />
  )
}

/** What would come of an edit: the original, the edit and their difference. This is what one confirms. */
function EditReview({ check, onSeen }: { check: EditCheck; onSeen: (name: string, seen: Seen) => void }) {
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
