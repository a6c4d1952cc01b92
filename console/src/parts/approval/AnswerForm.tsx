import { type FormEvent, useRef } from 'react'
import { useKeys } from '../../app/Keys.tsx'
import { Button } from '../Button.tsx'
import { TextField } from '../Field.tsx'
import styles from './AnswerForm.module.css'
import { fieldLabel, inBar, keyOf, type RecordAction } from './record-actions.ts'
import type { Draft } from './use-draft.ts'

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
  draft: Draft
  onAnswer: (action: RecordAction, given: GivenAnswer) => void
}

const LONGEST = 4_000

/** Answers an agent where it is read: a button for each answer, and a field if words may go along. */
export function AnswerForm({ actions, isBusy, isLive, hasKeys, draft, onAnswer }: AnswerFormProps) {
  const { answer: text = '' } = draft.texts
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
  const pressed = actions
    .filter(({ takes }) => takes !== 'answer')
    .map((action) => ({ action, key: keyOf(action), label: action.label, press: () => send(action) }))
  const chosen = actions
    .flatMap((action) => action.choices.map((choice) => ({ action, ...choice })))
    .map(({ action, label, answer }, i) => ({
      ...{ action: null, key: String(i + 1), label },
      press: () => isLive && !isBusy && onAnswer(action, { result: answer }),
    }))
  const answers = [...inBar(pressed), ...chosen]
  const keys = [
    ...(writing === undefined ? [] : [{ key: 'e', label: `Write ${writing.text}`, press: () => focus() }]),
    ...answers.filter(({ action }) => action?.takes !== 'text'),
  ]
  useKeys(
    hasKeys ? keys.map(({ key, label, press }) => ({ keys: key, name: label, group: 'Decision', run: press })) : [],
  )

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
          onChange={({ target }) => draft.set('answer', target.value || null)}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
      )}
      {answers
        .filter(({ action }) => action?.takes !== 'text' || text !== '')
        .map(({ action, key, label, press }) => (
          <Button
            key={label}
            kind={action?.main && hasKeys ? 'primary' : 'plain'}
            hint={hasKeys ? key : undefined}
            isBusy={isBusy && action?.main === true}
            disabled={!isLive || isBusy}
            onClick={press}
          >
            {label}
          </Button>
        ))}
    </form>
  )
}
