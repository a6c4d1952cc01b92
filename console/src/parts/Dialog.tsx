import { type ReactNode, useEffect, useId, useRef } from 'react'
import { IconButton } from './Button.tsx'
import styles from './Dialog.module.css'
import { CloseIcon } from './icons.ts'

interface DialogProps {
  title: string
  onClose: () => void
  children: ReactNode
  /** The buttons, in a bar that stays in sight. */
  actions?: ReactNode
  width?: 'narrow' | 'wide' | 'full'
}

const FIRST_FIELD = '[data-focus], textarea, input:not([type="checkbox"], [type="radio"])'

/** A modal window of the browser itself: it holds the focus, closes with Escape, and gives the focus back. */
export function Dialog({ title, onClose, children, actions, width = 'narrow' }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const titleId = useId()
  useEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    // The browser would choose the button that closes. Who opens a dialog with a field wants to type; without one, one reads first.
    const first = dialog.current?.querySelector<HTMLElement>(FIRST_FIELD) ?? heading.current
    first?.focus()
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, as in every dialog
    <dialog
      ref={dialog}
      className={`${styles.dialog} ${styles[width]}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className={styles.inside}>
        <header className={styles.head}>
          <h2 ref={heading} id={titleId} tabIndex={-1}>
            {title}
          </h2>
          <IconButton label="Close" icon={<CloseIcon />} onClick={onClose} />
        </header>
        <div className={styles.body}>{children}</div>
        {actions !== undefined && <footer className={styles.actions}>{actions}</footer>}
      </div>
    </dialog>
  )
}
