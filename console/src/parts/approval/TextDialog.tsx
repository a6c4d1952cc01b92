import { type ReactNode, useState } from 'react'
import { keyText, useKeys } from '../../app/Keys.tsx'
import { Dialog, DialogButtons } from '../Dialog.tsx'
import { TextArea } from '../Field.tsx'
import { Problem } from './Problem.tsx'
import { fieldLabel, type RecordAction } from './record-actions.ts'

interface TextDialogProps {
  action: RecordAction
  /** The word on the button. */
  button?: string
  /** It cannot be sent without a text. */
  needsText?: boolean
  isBusy: boolean
  isLive: boolean
  problem: unknown
  onSend: (text: string) => void
  onClose: () => void
  /** Below the text. */
  children?: ReactNode
}

const LONGEST = 4_000
const LONGEST_REASON = 2_000

/** Asks for a text for an agent, or only for a yes, before something is sent. */
export function TextDialog(props: TextDialogProps) {
  const { action, button = action.label, needsText = false, isBusy, isLive, problem, onClose } = props
  const [text, setText] = useState('')
  const isReady = isLive && !isBusy && (!needsText || text.trim() !== '')
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
          maxLength={action.danger ? LONGEST_REASON : LONGEST}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      {props.children}
      <Problem error={problem} />
    </Dialog>
  )
}
