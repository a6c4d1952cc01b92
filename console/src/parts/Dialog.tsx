import { type ComponentProps, type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react'
import { Button, IconButton } from './Button.tsx'
import styles from './Dialog.module.css'
import { focusEnd } from './Field.tsx'
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
    if (first instanceof HTMLTextAreaElement) focusEnd(first)
    else first?.focus()
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

interface DialogButtonsProps extends ComponentProps<typeof Button> {
  onCancel: () => void
  /** The word on the button that leaves everything as it is. */
  cancel?: string | undefined
}

/** The way out, and the button that does what the dialog is about. */
export function DialogButtons({ onCancel, cancel = 'Cancel', ...button }: DialogButtonsProps) {
  return (
    <>
      <Button onClick={onCancel}>{cancel}</Button>
      <Button kind="primary" {...button} />
    </>
  )
}

interface FormDialogProps extends Omit<DialogProps, 'actions' | 'width'> {
  /** The word on the button that sends. */
  verb: string
  cancel?: string | undefined
  isDanger?: boolean
  isReady: boolean
  isBusy: boolean
  onSend: () => void
  /** Why it was not sent. It stands below the form. */
  problem: ReactNode
}

/** A dialog with fields. The button or Enter sends them. */
export function FormDialog(props: FormDialogProps) {
  const { title, verb, cancel, isDanger = false, isReady, isBusy, onSend, onClose, problem, children } = props
  const id = useId()
  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    if (isReady && !isBusy) onSend()
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <DialogButtons
          onCancel={onClose}
          cancel={cancel}
          kind={isDanger ? 'danger' : 'primary'}
          type="submit"
          form={id}
          isBusy={isBusy}
          disabled={!isReady}
        >
          {verb}
        </DialogButtons>
      }
    >
      <form id={id} className={styles.form} onSubmit={onSubmit}>
        {children}
      </form>
      {problem}
    </Dialog>
  )
}
