import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useIsLive } from '../data/use-live.tsx'
import { announce } from './Announcer.tsx'
import { ErrorNotice } from './approval/Problem.tsx'
import { Dialog, DialogButtons } from './Dialog.tsx'
import { useAction } from './use-action.ts'

interface ConfirmProps {
  /** A question: `Revoke this key?` */
  title: string
  /** What follows from it. */
  children: ReactNode
  /** The word on the button. */
  verb: string
  /** What is said when it is done. */
  done: string
  /** What is read again afterwards. */
  stale: readonly string[]
  act: () => Promise<void>
  onClose: () => void
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, children, verb, done, stale, act, onClose }: ConfirmProps) {
  const queries = useQueryClient()
  const isLive = useIsLive()
  const { isBusy, error, run } = useAction()
  async function confirm(): Promise<void> {
    const isDone = await run(async () => {
      await act()
      await Promise.all(stale.map((key) => queries.invalidateQueries({ queryKey: [key] })))
    })
    if (!isDone) return
    announce(done)
    onClose()
    // The button that opened this is gone with its row, and nothing behind an open dialog can have the focus.
    setTimeout(() => {
      if (document.activeElement === document.body) document.querySelector<HTMLElement>('main section h2')?.focus()
    })
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <DialogButtons
          onCancel={onClose}
          kind="danger"
          isBusy={isBusy}
          disabled={!isLive}
          onClick={() => void confirm()}
        >
          {verb}
        </DialogButtons>
      }
    >
      <div>{children}</div>
      <ErrorNotice error={error} />
    </Dialog>
  )
}
