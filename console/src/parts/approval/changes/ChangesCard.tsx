import type { ApproveOptions, ShownApproval } from 'quarterdeck/client'
import { lazy, Suspense, useCallback, useEffect, useState } from 'react'
import { useKeys } from '../../../app/Keys.tsx'
import { useMe } from '../../../data/me.ts'
import { usePlace } from '../../../data/place.ts'
import { useIsLive } from '../../../data/use-live.tsx'
import { counted } from '../../../words.ts'
import type { Risk } from '../../Badge.tsx'
import { Button } from '../../Button.tsx'
import { FormDialog } from '../../Dialog.tsx'
import { flipped } from '../../flipped.ts'
import { NOTHING_SEEN, type Seen } from '../../seen/seen.ts'
import { VisibleText } from '../../VisibleText.tsx'
import { lockReason, needsDialog, whyNotYours } from '../approve-lock.ts'
import { CardFrame, DecisionBar } from '../CardFrame.tsx'
import { lookedAt, notSeenText } from '../looked-at.ts'
import { Notice, Warnings } from '../Notice.tsx'
import { Problem } from '../Problem.tsx'
import { RecordFacts } from '../RecordParts.tsx'
import { inBar, keyOf } from '../record-actions.ts'
import { useDecide } from '../use-decide.ts'
import { useDraft, useDropWhen } from '../use-draft.ts'
import { commentsLock, useLineComments } from '../use-line-comments.ts'
import { useSettled } from '../use-settled.ts'
import styles from './ChangesCard.module.css'
import { argumentsOf, type ChangedFile, choicesIn, reviewLock, summaryOf, writtenOf } from './choices.ts'
import { FileReview } from './FileReview.tsx'
import { useEdits } from './use-edits.ts'

const RejectDialog = lazy(() => import('../RejectDialog.tsx'))
const EditFile = lazy(() => import('./EditFile.tsx'))

interface ChangesCardProps {
  approval: ShownApproval
  readAt: number
  docked: boolean
  hasKeys: boolean
  onMoved: (id: string) => void
  onDone: (() => void) | undefined
}

/** As few as this are open from the beginning. */
const FEW = 3
const NO_FILES: readonly ChangedFile[] = []

/** All that a hosted agent has changed, file by file: each is written, kept, thrown away or edited, and one yes is for all of them. */
export default function ChangesCard({ approval, readAt, docked, hasKeys, onMoved, onDone }: ChangesCardProps) {
  const { view, digest, approval_id: id } = approval
  const files = view.changes?.files ?? NO_FILES
  const left = view.changes?.left ?? []
  const isLive = useIsLive()
  const { data: me } = useMe()
  const hasSaidYes = approval.decisions.some(({ by }) => by === me?.user)
  const isPending = view.outcome === null
  const draft = useDraft(id, digest)
  useDropWhen(!isPending, draft)
  const choices = choicesIn(draft, digest)
  const comments = useLineComments(draft)
  const edits = useEdits(approval, isPending ? files : NO_FILES, choices)
  const decide = useDecide(approval, { readAt, hasSaidYes, draft, onChanged: onMoved, onDone })
  const isSettled = useSettled(digest)
  const [opened, setOpened] = useState<ReadonlySet<string>>(
    () => new Set(files.length > FEW ? [] : files.map(({ path }) => path)),
  )
  const [dialog, setDialog] = useState<'approve' | 'reject' | { edit: string } | null>(null)
  const { seenOf, onSeen } = useSeenFiles(digest)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a yes to another question must be asked for again
  useEffect(() => setDialog((was) => (was === 'approve' ? null : was)), [digest])

  const notYours = whyNotYours(approval, usePlace())
  const actions = notYours === null ? view.actions.filter(({ name }) => name !== 'edit') : []
  const diffs = new Map(view.body.flatMap((part) => (part.type === 'diff' ? [[part.path ?? '', part.text]] : [])))
  /** An edit is another text: nothing of it was seen yet. */
  const seenName = (path: string): string => `${path}\n${choices.edit(path) ?? ''}`
  const written = writtenOf(files, choices)
  const looked = lookedAt(
    written.map(({ path }) => {
      const bytes = edits.get(path)?.check?.preview?.length ?? diffs.get(path)?.length ?? 1
      return { name: path, bytes, loadedBytes: bytes, seen: seenOf(seenName(path)) }
    }),
  )
  const risk = highest([approval.risk, ...[...edits.values()].map(({ check }) => check?.risk ?? 'low')])
  const unready = [...edits].flatMap(([path, { check }]) => (check?.ok === true ? [] : [path]))
  const lookedPaths = new Set(files.map(({ path }) => path).filter((path) => seenOf(seenName(path)).hasEnd))
  const lock =
    notYours ??
    commentsLock(comments.all.length) ??
    reviewLock({ files, choices, isLow: risk === 'low', looked: lookedPaths, unready }) ??
    lockReason({ risk, seen: { hasEnd: true, fraction: 1 }, isSettled, isLive, hasSaidYes })
  const summary = summaryOf(files, choices)

  async function approve(): Promise<void> {
    if (lock !== null || decide.isBusy) return
    const texts = new Map([...edits].map(([path, { text }]) => [path, text]))
    const options: ApproveOptions = { looked_at: looked, ...argumentsOf(files, choices, texts) }
    if (await decide.approve(options)) setDialog(null)
  }
  function openIfAble(name: 'approve' | 'reject'): void {
    if (!isPending || !isLive || decide.isBusy || (name === 'approve' && lock !== null)) return
    decide.clear()
    if (name === 'approve' && !needsDialog({ risk }, looked)) void approve()
    else setDialog(name)
  }
  const close = () => {
    decide.clear()
    setDialog(null)
  }
  const answers = actions.flatMap((action) =>
    action.name === 'approve' || action.name === 'reject' ? [{ ...action, name: action.name }] : [],
  )
  const keys = answers.map((action) => ({
    ...{ keys: keyOf(action), name: action.label, group: 'Decision' },
    run: () => openIfAble(action.name),
  }))
  useKeys(hasKeys && isPending ? keys : [])
  const [yes, no] = [actions.find(({ name }) => name === 'approve'), actions.find(({ name }) => name === 'reject')]
  const isAllOpen = files.every(({ path }) => opened.has(path))

  return (
    <>
      <CardFrame
        view={view}
        docked={docked}
        asOf={isLive ? null : readAt}
        buttons={
          <DecisionBar note={lock ?? summary} draft={draft}>
            {inBar(answers).map((action) => (
              <Button
                key={action.name}
                kind={action.main ? 'primary' : 'plain'}
                hint={keyOf(action)}
                isBusy={action.main && decide.isBusy}
                disabled={action.main ? lock !== null : !isLive}
                title={action.main ? (lock ?? undefined) : undefined}
                onClick={() => openIfAble(action.name)}
              >
                {action.label}
              </Button>
            ))}
          </DecisionBar>
        }
      >
        {isPending && dialog === null && <Problem error={decide.problem} />}
        <Warnings texts={view.warnings} />
        <RecordFacts facts={view.facts.filter(({ minor }) => !minor)} />
        <div className={styles.bar}>
          <span>
            {counted(files.length, 'file')}
            {lookedPaths.size > 0 && `, ${lookedPaths.size} looked at`}
          </span>
          <Button kind="quiet" onClick={() => setOpened(new Set(isAllOpen ? [] : files.map(({ path }) => path)))}>
            {isAllOpen ? 'Close all' : 'Open all'}
          </Button>
        </div>
        <ul className={styles.files}>
          {files.map((file) => (
            <FileReview
              key={`${digest} ${file.path}`}
              approvalId={id}
              file={file}
              diff={diffs.get(file.path)}
              isOpen={opened.has(file.path)}
              isLooked={isPending && lookedPaths.has(file.path)}
              onOpen={() => setOpened((was) => flipped(was, file.path))}
              onSeen={(seen) => onSeen(seenName(file.path), seen)}
              comments={isPending && no !== undefined ? comments : null}
              edit={edits.get(file.path)}
              choice={isPending && yes !== undefined ? choices.of(file.path) : null}
              onChoose={(choice) => choices.choose(file.path, choice)}
              onEdit={() => setDialog({ edit: file.path })}
              onUndo={() => choices.setEdit(file.path, null)}
            />
          ))}
        </ul>
        {left.length > 0 && (
          <details className={styles.more}>
            <summary>{counted(left.length, 'thing')} that cannot be written from here</summary>
            <ul className={styles.left}>
              {left.map(({ path, why }) => (
                <li key={path}>
                  <VisibleText text={path} inline />: {why}
                </li>
              ))}
            </ul>
          </details>
        )}
        <details className={styles.more}>
          <summary>What exactly</summary>
          <RecordFacts facts={view.facts.filter(({ minor }) => minor)} />
        </details>
      </CardFrame>
      <Suspense>
        {dialog === 'approve' && yes !== undefined && (
          <FormDialog
            title={yes.confirm.title}
            verb={yes.label}
            isReady={lock === null}
            isBusy={decide.isBusy}
            onSend={() => void approve()}
            onClose={close}
            problem={<Problem error={decide.problem} />}
          >
            <p>
              {summary} {yes.confirm.help}
            </p>
            {notSeenText(looked) !== null && <Notice tone="warn">{notSeenText(looked)}</Notice>}
          </FormDialog>
        )}
        {dialog === 'reject' && no !== undefined && (
          <RejectDialog
            {...{ approval, lookedAt: looked, decide, draft, isLive }}
            comments={comments.all}
            action={no}
            onClose={close}
          />
        )}
        {dialog !== null && typeof dialog === 'object' && (
          <EditFile
            approvalId={id}
            path={dialog.edit}
            kept={choices.edit(dialog.edit)}
            onKeep={(change) => {
              choices.setEdit(dialog.edit, change)
              setOpened((was) => new Set(was).add(dialog.edit))
            }}
            onClose={close}
          />
        )}
      </Suspense>
    </>
  )
}

const RISKS: readonly Risk[] = ['low', 'high', 'critical']
const highest = (all: readonly Risk[]): Risk => RISKS.findLast((risk) => all.includes(risk)) ?? 'low'

/** What of each file has been on the screen. Another digest is another question. */
function useSeenFiles(digest: string) {
  const [state, setState] = useState<{ digest: string; seen: ReadonlyMap<string, Seen> }>({ digest, seen: new Map() })
  const onSeen = useCallback(
    (name: string, part: Seen) =>
      setState((was) => {
        const seen = new Map(was.digest === digest ? was.seen : [])
        const { hasEnd, fraction } = seen.get(name) ?? NOTHING_SEEN
        // A file that is closed and opened again has been looked at.
        seen.set(name, { hasEnd: hasEnd || part.hasEnd, fraction: Math.max(fraction, part.fraction) })
        return { digest, seen }
      }),
    [digest],
  )
  return {
    seenOf: (name: string) => (state.digest === digest ? state.seen.get(name) : undefined) ?? NOTHING_SEEN,
    onSeen,
  }
}
