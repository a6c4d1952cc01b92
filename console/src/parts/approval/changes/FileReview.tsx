import { useQuery } from '@tanstack/react-query'
import { useCallback, useId } from 'react'
import { usePlace } from '../../../data/place.ts'
import { useClient } from '../../../data/server.tsx'
import { Badge, RiskBadge, type Tone } from '../../Badge.tsx'
import { Button } from '../../Button.tsx'
import { DiffView } from '../../diff/DiffView.tsx'
import type { LineComments } from '../../diff/line-comments.ts'
import type { ReadLines } from '../../diff/use-read-lines.ts'
import { ClosedIcon, DoneIcon, OpenedIcon } from '../../icons.ts'
import { Pending } from '../../States.tsx'
import type { Seen } from '../../seen/seen.ts'
import { VisibleText } from '../../VisibleText.tsx'
import { Warnings } from '../Notice.tsx'
import { Problem } from '../Problem.tsx'
import type { ChangedFile, Choice } from './choices.ts'
import styles from './FileReview.module.css'
import type { FileEdit } from './use-edits.ts'

interface FileReviewProps {
  approvalId: string
  file: ChangedFile
  /** Its diff; undefined: it is too large to come with the others. */
  diff: string | undefined
  isOpen: boolean
  isLooked: boolean
  onOpen: () => void
  onSeen: (seen: Seen) => void
  comments: LineComments | null
  edit: FileEdit | undefined
  /** Null: it is decided, or not this person's to decide. */
  choice: Choice | null
  onChoose: (choice: Choice) => void
  onEdit: () => void
  onUndo: () => void
}

const kinds: Readonly<Record<ChangedFile['kind'], string>> = { create: 'New', modify: 'Changed', delete: 'Deleted' }
const choices: Readonly<Record<Choice, string>> = { write: 'Write', leave: 'Keep for later', discard: 'Throw away' }
const fates: Readonly<Record<NonNullable<ChangedFile['fate']>, readonly [string, Tone]>> = {
  written: ['Written', 'good'],
  not_written: ['Unwritten', 'bad'],
  left: ['Kept', 'neutral'],
  discarded: ['Discarded', 'warn'],
}

/** One file of a change: what would happen to it, its diff, and what the person does with it. */
export function FileReview(props: FileReviewProps) {
  const { file, isOpen, isLooked, onOpen, edit, choice, onChoose, onEdit, onUndo } = props
  const { path, kind, added_lines, removed_lines, risk, binary, fate } = file
  const bodyId = useId()
  const radios = useId()
  const mayEdit = choice === 'write' && kind !== 'delete' && !binary
  return (
    <li className={styles.file} data-choice={choice ?? undefined}>
      <div className={styles.head}>
        <h3 className={styles.heading}>
          <button
            type="button"
            className={styles.toggle}
            aria-expanded={isOpen}
            aria-controls={bodyId}
            onClick={onOpen}
          >
            {isOpen ? <OpenedIcon aria-hidden="true" /> : <ClosedIcon aria-hidden="true" />}
            <span className={styles.path}>
              <VisibleText text={path} inline isRaw />
            </span>
            <span className={styles.what}>
              {kinds[kind]}
              {binary ? (
                ', not text'
              ) : (
                <>
                  {' '}
                  <span className={styles.added}>+{added_lines}</span>{' '}
                  <span className={styles.removed}>−{removed_lines}</span>
                </>
              )}
            </span>
            {risk !== 'low' && <RiskBadge risk={risk} />}
            {edit !== undefined && <Badge tone="accent">Edited</Badge>}
            {fate !== null && <Badge tone={fates[fate][1]}>{fates[fate][0]}</Badge>}
            {isLooked && <DoneIcon className={styles.looked} role="img" aria-label="Looked at" />}
          </button>
        </h3>
        {choice !== null && (
          <div className={styles.choices}>
            <fieldset className={styles.choice}>
              <legend className="unseen">What happens to {path}</legend>
              {(Object.keys(choices) as Choice[]).map((one) => (
                <label key={one}>
                  <input type="radio" name={radios} checked={choice === one} onChange={() => onChoose(one)} />
                  {choices[one]}
                </label>
              ))}
            </fieldset>
            {mayEdit && (
              <Button onClick={onEdit} aria-label={`Edit ${path}`}>
                Edit
              </Button>
            )}
            {mayEdit && edit !== undefined && (
              <Button kind="quiet" onClick={onUndo} aria-label={`Undo the edit of ${path}`}>
                Undo
              </Button>
            )}
          </div>
        )}
      </div>
      <div id={bodyId} className={styles.body} hidden={!isOpen}>
        {isOpen && <FileBody {...props} />}
      </div>
    </li>
  )
}

function FileBody({ approvalId, file, diff, onSeen, comments, edit }: FileReviewProps) {
  const client = useClient()
  const isOperator = usePlace().role === 'operator'
  const { path } = file
  const read = useCallback<ReadLines>(
    (range) => client.fileLines(approvalId, { ...range, path }),
    [client, approvalId, path],
  )
  const query = useQuery({
    queryKey: ['approval', approvalId, 'diff', path],
    enabled: diff === undefined && file.fate !== 'left' && file.fate !== 'discarded',
    queryFn: async ({ signal }) => (await client.approval(approvalId, { signal, path })).shown_diff ?? '',
  })
  const text = diff ?? query.data
  const label = `Diff of ${path}`
  if (edit !== undefined) return <EditedBody edit={edit} label={label} onSeen={onSeen} />
  if (file.fate === 'left' || file.fate === 'discarded')
    return <p className={styles.note}>Nothing of it was written.</p>
  return (
    <>
      <Warnings texts={file.warnings} />
      {text === undefined ? (
        <Pending query={query} rows={4} height={20} />
      ) : (
        <DiffView
          text={text}
          label={label}
          hasKeys={false}
          onSeen={onSeen}
          readLines={isOperator && file.kind !== 'delete' && !file.binary ? read : undefined}
          comments={comments}
        />
      )}
    </>
  )
}

/** The file as the person wants it, against the file as it is: this is what is written. */
function EditedBody({
  edit: { check, error },
  label,
  onSeen,
}: { edit: FileEdit; label: string } & Pick<FileReviewProps, 'onSeen'>) {
  if (error !== null) return <Problem error={error} />
  if (check === null) return <p className={styles.note}>The server looks at the edit.</p>
  return (
    <>
      <p className={styles.note}>With your edit, this is written.</p>
      {check.problems.length > 0 && <Warnings texts={check.problems} />}
      {check.preview !== null && check.preview !== '' && (
        <DiffView text={check.preview} label={label} hasKeys={false} onSeen={onSeen} />
      )}
    </>
  )
}
