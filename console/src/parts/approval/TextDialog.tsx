import type { ReactNode } from 'react'
import { keyText, useKeys } from '../../app/Keys.tsx'
import { counted, fullCount } from '../../words.ts'
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
  /** What is sent with the text, and takes of its length. */
  along?: string
  onSend: (text: string) => void
  onClose: () => void
  /** Below the text. */
  children?: ReactNode
}

const LONGEST = 2_000

/** Asks for a reason that the agent reads, or only for a yes, before something ends. */
export function TextDialog(props: TextDialogProps) {
  const { action, button = action.label, isBusy, isLive, problem, draft, along = '', onClose } = props
  const name = `words.${action.name}`
  const { [name]: text = '' } = draft.texts
  const tooLong = text.trim().length + (along === '' ? 0 : along.length + 2) - LONGEST
  const isReady = isLive && !isBusy && tooLong <= 0
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
          problem={tooLong > 0 ? tooLongText(tooLong) : null}
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

const tooLongText = (over: number): string =>
  `The reason and your comments are ${counted(over, 'character')} too long together: an agent is sent ${fullCount(LONGEST)}. Shorten them, or delete a comment.`
