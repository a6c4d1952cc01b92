import { type FormEvent, useMemo, useState } from 'react'
import { keyText, useKeys } from '../../app/Keys.tsx'
import { Select, TextArea, TextField } from '../Field.tsx'
import styles from './QuestionForm.module.css'
import { answerOf, type QuestionField, questionFields } from './question-fields.ts'
import type { Draft } from './use-draft.ts'

interface QuestionFormProps {
  id: string
  /** What the key does that sends it. */
  name: string
  schema: Record<string, unknown>
  draft: Draft
  onAnswer: (result: unknown) => void
}

const keyOf = ({ name }: QuestionField): string => `field.${name}`

/** The fields that a tool asks for. The button is in the bar of the card, and names this form by its id. */
export function QuestionForm({ id, name, schema, draft, onAnswer }: QuestionFormProps) {
  const fields = useMemo(() => questionFields(schema), [schema])
  const texts = Object.fromEntries(fields.map((field) => [field.name, draft.texts[keyOf(field)] ?? field.preset]))
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})

  function answer(event?: FormEvent): void {
    event?.preventDefault()
    const made = answerOf(fields, texts)
    setProblems(made.ok ? {} : made.problems)
    if (made.ok) onAnswer(made.result)
  }
  useKeys([{ keys: 'mod+Enter', name, group: 'Decision', run: answer, isGlobal: true }])

  return (
    <form id={id} className={styles.form} onSubmit={answer} noValidate>
      {fields.map((field) => (
        <AnswerField
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          problem={problems[field.name] ?? null}
          onChange={(text) => draft.set(keyOf(field), text === field.preset ? null : text)}
        />
      ))}
      <p className={`${styles.hint} ${styles.keys}`}>{keyText('mod+Enter')} sends the answer.</p>
    </form>
  )
}

interface AnswerFieldProps {
  field: QuestionField
  text: string
  problem: string | null
  onChange: (text: string) => void
}

function AnswerField({ field, text, problem, onChange }: AnswerFieldProps) {
  const { input, isRequired, help } = field
  const label = `${field.label}${isRequired || field.input.type === 'switch' ? '' : ' (optional)'}`
  const shared = { label, problem, help: help ?? undefined, 'aria-required': isRequired }
  switch (input.type) {
    case 'switch':
      return (
        <label className={styles.switch}>
          <input
            type="checkbox"
            checked={text === 'true'}
            onChange={({ target }) => onChange(String(target.checked))}
          />
          {field.label}
          {help !== null && <span className={styles.hint}>{help}</span>}
        </label>
      )
    case 'choice':
      return (
        <Select {...shared} value={text} onChange={({ target }) => onChange(target.value)}>
          <option value="">Choose…</option>
          {input.choices.map((choice, i) => (
            <option key={JSON.stringify(choice.value)} value={String(i)}>
              {choice.label}
            </option>
          ))}
        </Select>
      )
    case 'number':
      return (
        <TextField
          {...shared}
          inputMode={input.isWhole ? 'numeric' : 'decimal'}
          value={text}
          onChange={({ target }) => onChange(target.value)}
        />
      )
    case 'text':
      return input.isLong ? (
        <TextArea {...shared} value={text} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <TextField {...shared} dir="auto" value={text} onChange={({ target }) => onChange(target.value)} />
      )
    case 'json':
      return (
        <TextArea
          {...shared}
          help={help ?? 'As JSON.'}
          value={text}
          onChange={({ target }) => onChange(target.value)}
        />
      )
  }
}
