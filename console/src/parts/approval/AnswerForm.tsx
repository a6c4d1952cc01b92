import { type FormEvent, useRef, useState } from 'react'
import { useKeys } from '../../app/Keys.tsx'
import { Button } from '../Button.tsx'
import { TextField } from '../Field.tsx'
import styles from './AnswerForm.module.css'
import { fieldLabel, inBar, keyOf, type RecordAction } from './record-actions.ts'

export interface GivenAnswer {
  text?: string
  /** To the question of a tool. */
  result?: unknown
}

interface AnswerFormProps {
  actions: readonly RecordAction[]
  isBusy: boolean
  isLive: boolean
  hasKeys: boolean
  onAnswer: (action: RecordAction, given: GivenAnswer) => void
}

const LONGEST = 4_000

/** Answers an agent where it is read: a button for each answer, and a field if words may go along. */
export function AnswerForm({ actions, isBusy, isLive, hasKeys, onAnswer }: AnswerFormProps) {
  const [text, setText] = useState('')
  const form = useRef<HTMLFormElement>(null)
  // Who writes and presses Enter wants what needs the text.
  const writing =
    actions.find(({ takes }) => takes === 'text') ??
    actions.find(({ main, takes }) => main && (takes === 'optional_text' || takes === 'note'))
  const focus = () => form.current?.querySelector('input')?.focus()

  function send(action: RecordAction): void {
    if (!isLive || isBusy) return
    if (action.takes === 'text' && text.trim() === '') return
    onAnswer(action, action.takes === 'nothing' || action.danger ? {} : { text: text.trim() })
  }
  const pressed = actions.filter(({ takes }) => takes !== 'answer')
  const choices = actions.flatMap((action) => action.choices.map(({ label, answer }) => ({ action, label, answer })))
  const choose = ({ action, answer }: (typeof choices)[number]) =>
    isLive && !isBusy && onAnswer(action, { result: answer })
  const key = (keys: string, name: string, run: () => void) => ({ keys, name, group: 'Decision', run })
  const keys = [
    ...(writing === undefined ? [] : [key('e', `Write ${writing.text}`, focus)]),
    ...pressed.filter(({ takes }) => takes !== 'text').map((one) => key(keyOf(one), one.label, () => send(one))),
    ...choices.map((choice, i) => key(String(i + 1), choice.label, () => choose(choice))),
  ]
  useKeys(hasKeys ? keys : [])

  return (
    <form
      ref={form}
      className={styles.form}
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        if (writing !== undefined && text.trim() !== '') send(writing)
      }}
    >
      {writing !== undefined && (
        <TextField
          label={fieldLabel(writing)}
          isLabelHidden
          placeholder={fieldLabel(writing)}
          maxLength={LONGEST}
          dir="auto"
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
      )}
      {choices.map((choice, i) => (
        <Button
          key={choice.label}
          hint={hasKeys ? String(i + 1) : undefined}
          disabled={!isLive || isBusy}
          onClick={() => choose(choice)}
        >
          {choice.label}
        </Button>
      ))}
      {inBar(pressed.filter(({ takes }) => takes !== 'text' || text !== '')).map((action) => (
        <Button
          key={action.name}
          kind={action.main && hasKeys ? 'primary' : 'plain'}
          hint={hasKeys ? keyOf(action) : undefined}
          isBusy={isBusy && action.main}
          disabled={!isLive || isBusy}
          onClick={() => send(action)}
        >
          {action.label}
        </Button>
      ))}
    </form>
  )
}
