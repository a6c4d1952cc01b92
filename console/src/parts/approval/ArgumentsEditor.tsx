import type { ShownApproval } from 'quarterdeck/client'
import { useState } from 'react'
import { errorText } from '../../error-text.ts'
import { Button } from '../Button.tsx'
import { TextArea } from '../Field.tsx'
import styles from './ArgumentsEditor.module.css'
import type { Edit } from './EditDialog.tsx'
import type { Draft } from './use-draft.ts'

interface ArgumentsEditorProps {
  approval: ShownApproval
  draft: Draft
  takeEdit: { current: (() => Edit | null) | null }
}

export type Editing = { mode: 'form'; fields: ArgumentField[] } | { mode: 'json'; text: string }

const WHOLE = 'all arguments'

/** A field for each argument, or all of them as JSON. A secret that stays masked keeps its value. */
export function ArgumentsEditor({ approval, draft, takeEdit }: ArgumentsEditorProps) {
  const [fields] = useState(() => argumentFields(approval.edited_arguments ?? approval.arguments))
  const [edit, setEdit] = useState(() => editIn(draft.texts, fields))
  function change(next: Editing): void {
    setEdit(next)
    const kept = draftOf(next, fields)
    for (const name of new Set([...Object.keys(draft.texts), ...Object.keys(kept)])) {
      if (isOfEdit(name)) draft.set(name, kept[name] ?? null)
    }
  }
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})

  function read(): Record<string, unknown> | null {
    if (edit.mode === 'form') {
      const read = editedArguments(edit.fields)
      setProblems(read.ok ? {} : read.problems)
      return read.ok ? read.arguments : null
    }
    const read = argumentsInJson(edit.text)
    setProblems(read.ok ? {} : { [WHOLE]: read.problem })
    return read.ok ? read.arguments : null
  }
  takeEdit.current = () => {
    const args = read()
    return args === null ? null : { arguments: args }
  }
  function flip(): void {
    const args = read()
    if (args === null) return
    change(
      edit.mode === 'form'
        ? { mode: 'json', text: JSON.stringify(args, null, 2) }
        : { mode: 'form', fields: argumentFields(args) },
    )
  }
  const hasSecret = approval.shown.arguments.some(({ secret }) => secret)
  return (
    <div className={styles.editor}>
      <div className={styles.head}>
        <p>
          {hasSecret ? 'A secret that you leave masked stays what it is.' : 'The tool runs with what you write here.'}
        </p>
        <Button kind="quiet" onClick={flip}>
          {edit.mode === 'form' ? 'Edit as JSON' : 'Edit field by field'}
        </Button>
      </div>
      {edit.mode === 'json' ? (
        <TextArea
          label="All arguments"
          spellCheck={false}
          rows={16}
          value={edit.text}
          problem={problems[WHOLE] ?? null}
          onChange={({ target }) => change({ mode: 'json', text: target.value })}
        />
      ) : (
        edit.fields.map((field, i) => (
          <TextArea
            key={field.name}
            label={field.name}
            help={field.isJson ? 'As JSON.' : undefined}
            spellCheck={false}
            rows={rowsFor(field.text)}
            value={field.text}
            problem={problems[field.name] ?? null}
            onChange={({ target }) =>
              change({ mode: 'form', fields: edit.fields.with(i, { ...field, text: target.value }) })
            }
          />
        ))
      )}
      {edit.mode === 'form' && edit.fields.length === 0 && <p>The call has no arguments. Add some as JSON.</p>}
    </div>
  )
}

const rowsFor = (text: string): number => Math.min(12, Math.max(1, text.slice(0, 5_000).split('\n').length))

// Arguments as they are edited: a text for each. A text argument is typed as it is, everything else as JSON.

interface ArgumentField {
  name: string
  text: string
  isJson: boolean
}

export const argumentFields = (args: Readonly<Record<string, unknown>>): ArgumentField[] =>
  Object.entries(args).map(([name, value]) =>
    typeof value === 'string'
      ? { name, text: value, isJson: false }
      : { name, text: JSON.stringify(value, null, 2), isJson: true },
  )

// What is kept of an edit while it is not sent: the arguments that were changed, or all of them as JSON if some were added, removed or
// written in another way. A secret that nobody has touched is masked in both.

const JSON_TEXT = 'json'
const nameOf = ({ name }: ArgumentField): string => `argument.${name}`
const isOfEdit = (name: string): boolean => name === JSON_TEXT || name.startsWith('argument.')

export function editIn(texts: Draft['texts'], fields: readonly ArgumentField[]): Editing {
  const text = texts[JSON_TEXT]
  if (text !== undefined) return { mode: 'json', text }
  return { mode: 'form', fields: fields.map((field) => ({ ...field, text: texts[nameOf(field)] ?? field.text })) }
}

export function draftOf(edit: Editing, fields: readonly ArgumentField[]): Record<string, string> {
  if (edit.mode === 'json') return { [JSON_TEXT]: edit.text }
  const isSame = edit.fields.every(({ name, isJson }, i) => name === fields[i]?.name && isJson === fields[i]?.isJson)
  if (isSame && edit.fields.length === fields.length) {
    const changed = edit.fields.filter(({ text }, i) => text !== fields[i]?.text)
    return Object.fromEntries(changed.map((field) => [nameOf(field), field.text]))
  }
  const read = editedArguments(edit.fields)
  return read.ok ? { [JSON_TEXT]: JSON.stringify(read.arguments, null, 2) } : {}
}

type EditedArguments =
  | { ok: true; arguments: Record<string, unknown> }
  | { ok: false; problems: Readonly<Record<string, string>> }

export function editedArguments(fields: readonly ArgumentField[]): EditedArguments {
  const problems: Record<string, string> = {}
  const values = fields.map(({ name, text, isJson }): [string, unknown] => {
    if (!isJson) return [name, text]
    const parsed = readJson(text)
    if (!parsed.ok) problems[name] = parsed.problem
    return [name, parsed.ok ? parsed.value : null]
  })
  return Object.keys(problems).length > 0
    ? { ok: false, problems }
    : { ok: true, arguments: Object.fromEntries(values) }
}

export function argumentsInJson(
  text: string,
): { ok: true; arguments: Record<string, unknown> } | { ok: false; problem: string } {
  const parsed = readJson(text)
  if (!parsed.ok) return parsed
  const { value } = parsed
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ok: true, arguments: { ...value } }
    : { ok: false, problem: 'The arguments are an object: { … }.' }
}

function readJson(text: string): { ok: true; value: unknown } | { ok: false; problem: string } {
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    return { ok: false, problem: `This is not JSON: ${errorText(error)}` }
  }
}
