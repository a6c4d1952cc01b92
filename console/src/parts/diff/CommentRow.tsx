import { useEffect, useRef } from 'react'
import { Button } from '../Button.tsx'
import { VisibleText } from '../VisibleText.tsx'
import styles from './CommentRow.module.css'
import type { CommentPlace } from './line-comments.ts'

interface CommentRowProps {
  place: CommentPlace
  /** What it was written about, if the line is another one by now. */
  about: string | null
  text: string
  isOpen: boolean
  onChange: (text: string) => void
  onOpen: () => void
  onClose: () => void
  onDelete: () => void
}

const LONGEST = 1_000

/** A comment below its line. Every letter is kept at once, so closing it loses nothing. */
export function CommentRow({ place, about, text, isOpen, onChange, onOpen, onClose, onDelete }: CommentRowProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (!isOpen) return
    field.current?.focus()
    field.current?.setSelectionRange(LONGEST, LONGEST)
  }, [isOpen])
  const where = `${place.side === 'old' ? 'removed ' : ''}line ${place.number}`
  const name = `Comment on ${where}`
  return (
    <div className={styles.comment} role="group" aria-label={name}>
      <p className={styles.about}>
        {name}
        {about !== null && (
          <>
            , when it was: <VisibleText text={about} inline />
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
          onChange={({ target }) => onChange(target.value)}
          onKeyDown={(event) => {
            const isDone = event.key === 'Escape' || (event.key === 'Enter' && (event.metaKey || event.ctrlKey))
            if (!isDone || event.nativeEvent.isComposing) return
            event.preventDefault()
            event.stopPropagation()
            onClose()
          }}
        />
      ) : (
        <VisibleText text={text} isRaw />
      )}
      <span className={styles.buttons}>
        {isOpen ? (
          <Button onClick={onClose}>Done</Button>
        ) : (
          <Button kind="quiet" aria-label={`Edit the comment on ${where}`} onClick={onOpen}>
            Edit
          </Button>
        )}
        <Button kind="quiet" aria-label={`Delete the comment on ${where}`} onClick={onDelete}>
          Delete
        </Button>
      </span>
    </div>
  )
}
