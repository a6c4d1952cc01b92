import type { ReactNode } from 'react'
import { keyText, useKeys } from '../../app/Keys.tsx'
import { Dialog, DialogButtons } from '../Dialog.tsx'
import { TextArea } from '../Field.tsx'
import { Problem } from './Problem.tsx'
import { fieldLabel, type RecordAction } from './record-actions.ts'
import type { Draft } from './use-draft.ts'

interface TextDialogProps {
  action: RecordAction
  /** The word on the button. */
  button?: string
  isBusy: boolean
  isLive: boolean
  problem: unknown
  draft: Draft
  onSend: (text: string) => void
  onClose: () => void
  /** Below the text. */
  children?: ReactNode
}

const LONGEST = 2_000

/** Asks for a reason that the agent reads, or only for a yes, before something ends. */
export function TextDialog(props: TextDialogProps) {
  const { action, button = action.label, isBusy, isLive, problem, draft, onClose } = props
  const name = `words.${action.name}`
  const { [name]: text = '' } = draft.texts
  const isReady = isLive && !isBusy
  const send = () => isReady && props.onSend(text.trim())
  useKeys([{ keys: 'mod+Enter', name: button, group: 'Decision', run: send, isGlobal: true }])
  return (
    <Dialog
      title={action.confirm.title}
      onClose={onClose}
      actions={
        <DialogButtons
          onCancel={onClose}
          kind={action.danger ? 'danger' : 'primary'}
          hint={keyText('mod+Enter')}
          isBusy={isBusy}
          disabled={!isReady}
          onClick={send}
        >
          {button}
        </DialogButtons>
      }
    >
      {action.takes === 'nothing' ? (
        <p>{action.confirm.help}</p>
      ) : (
        <TextArea
          label={fieldLabel(action)}
          help={action.confirm.help}
          maxLength={LONGEST}
          value={text}
          onChange={({ target }) => draft.set(name, target.value || null)}
        />
      )}
      {props.children}
      <Problem error={problem} />
    </Dialog>
  )
}
