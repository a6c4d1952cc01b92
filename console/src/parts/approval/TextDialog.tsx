import { useState } from 'react'
import { keyText, useKeys } from '../../app/Keys.tsx'
import { Button } from '../Button.tsx'
import { Dialog } from '../Dialog.tsx'
import { TextArea } from '../Field.tsx'
import { Problem } from './Problem.tsx'

interface TextDialogProps {
  title: string
  label: string
  /** The word on the button. */
  action: string
  isBusy: boolean
  isLive: boolean
  /** It does something that cannot be undone. */
  isDangerous?: boolean
  /** It can be sent without a text. */
  isOptional?: boolean
  /** Null: there is nothing to type. */
  help: string | null
  hasText?: boolean
  problem: unknown
  onSend: (text: string) => void
  onClose: () => void
}

const LONGEST = 4_000

/** Asks for a text for an agent, or only for a yes, before something is sent. */
export function TextDialog(props: TextDialogProps) {
  const { title, label, action, isBusy, isLive, isDangerous = false, isOptional = false, hasText = true } = props
  const [text, setText] = useState('')
  const isReady = isLive && !isBusy && (!hasText || isOptional || text.trim() !== '')
  const send = () => isReady && props.onSend(text.trim())
  useKeys([{ keys: 'mod+Enter', name: action, group: 'Decision', run: send, isGlobal: true }])
  return (
    <Dialog
      title={title}
      onClose={props.onClose}
      actions={
        <>
          <Button onClick={props.onClose}>Cancel</Button>
          <Button
            kind={isDangerous ? 'danger' : 'primary'}
            hint={keyText('mod+Enter')}
            isBusy={isBusy}
            disabled={!isReady}
            onClick={send}
          >
            {action}
          </Button>
        </>
      }
    >
      {hasText ? (
        <TextArea
          label={label}
          {...(props.help === null ? {} : { help: props.help })}
          maxLength={LONGEST}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      ) : (
        <p>{props.help}</p>
      )}
      <Problem error={props.problem} />
    </Dialog>
  )
}
