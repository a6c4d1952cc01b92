import { useEffect, useRef } from 'react'
import { Button } from '../Button.tsx'
import { focusEnd } from '../Field.tsx'
import { VisibleText } from '../VisibleText.tsx'
import styles from './CommentRow.module.css'
import { lineName } from './diff-rows.ts'
import { type LineComment, type LineComments, placeIn } from './line-comments.ts'
import type { DiffFile, DiffLine } from './parse-diff.ts'

interface CommentRowProps {
  file: DiffFile
  line: DiffLine
  /** Undefined: it is not begun yet. */
  comment: LineComment | undefined
  isOpen: boolean
  onChange: LineComments['set']
  onOpen: () => void
  onClose: () => void
}

const LONGEST = 1_000

/** A comment below its line. Every letter is kept at once, so closing it loses nothing. */
export function CommentRow({ file, line, comment, isOpen, onChange, onOpen, onClose }: CommentRowProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (isOpen) focusEnd(field.current)
  }, [isOpen])
  const where = lineName(line)
  const name = `Comment on ${where}`
  const now = placeIn(file, line)
  const { text, ...place } = comment ?? { ...now, text: '' }
  function close(isKept: boolean): void {
    if (!isKept) onChange(place, null)
    onClose()
  }
  const finish = () => close(text.trim() !== '')
  return (
    <div className={styles.comment} role="group" aria-label={name}>
      <p className={styles.about}>
        {name}
        {place.quote !== now.quote && (
          <>
            , when it was: <VisibleText text={place.quote} inline />
          </>
        )}
      </p>
      {isOpen ? (
        <textarea
          ref={field}
          className={styles.field}
          aria-label={name}
          placeholder="What should be different here? It goes to the agent if you reject."
          maxLength={LONGEST}
          rows={3}
          dir="auto"
          value={text}
          onChange={({ target }) => onChange(place, target.value)}
          onKeyDown={(event) => {
            const isDone = event.key === 'Escape' || (event.key === 'Enter' && (event.metaKey || event.ctrlKey))
            if (!isDone || event.nativeEvent.isComposing) return
            event.preventDefault()
            event.stopPropagation()
            finish()
          }}
        />
      ) : (
        <VisibleText text={text} isRaw />
      )}
      <span className={styles.buttons}>
        {isOpen ? (
          <Button onClick={finish}>Done</Button>
        ) : (
          <Button kind="quiet" aria-label={`Edit the comment on ${where}`} onClick={onOpen}>
            Edit
          </Button>
        )}
        <Button kind="quiet" aria-label={`Delete the comment on ${where}`} onClick={() => close(false)}>
          Delete
        </Button>
      </span>
    </div>
  )
}
