import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react'
import styles from './Field.module.css'

interface FieldProps {
  label: string
  /** Below the field. */
  help?: ReactNode
  /** What is wrong with the value, in place of the help. */
  problem?: string | null | undefined
  /** The label is for screen readers only. */
  isLabelHidden?: boolean | undefined
}

interface FrameProps<T> {
  field: FieldProps & T
  /** Draws the field itself, with what is left of its properties. */
  children: (own: Omit<FieldProps & T, keyof FieldProps> & { id: string }) => ReactNode
}

function Frame<T>({ field, children }: FrameProps<T>) {
  const { label, help, problem = null, isLabelHidden = false, ...own } = field
  const id = useId()
  const note = problem ?? help
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={isLabelHidden ? 'unseen' : styles.label}>
        {label}
      </label>
      {children({
        ...own,
        id,
        'aria-describedby': note === undefined ? undefined : `${id}-note`,
        'aria-invalid': problem === null ? undefined : true,
      })}
      {note !== undefined && (
        <p id={`${id}-note`} className={problem === null ? styles.help : styles.problem}>
          {note}
        </p>
      )}
    </div>
  )
}

export function TextField(field: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  return <Frame field={field}>{(own) => <input {...own} className={styles.input} />}</Frame>
}

export function TextArea(field: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <Frame field={field}>{(own) => <textarea {...own} className={styles.area} dir="auto" />}</Frame>
}

export function Select(field: FieldProps & SelectHTMLAttributes<HTMLSelectElement>) {
  return <Frame field={field}>{(own) => <select {...own} className={styles.input} />}</Frame>
}

/** What a `Select` offers. */
export const Options = ({ of }: { of: readonly (readonly [value: string, name: string])[] }) =>
  of.map(([value, name]) => (
    <option key={value} value={value}>
      {name}
    </option>
  ))

/** A day, whose label is the tooltip. */
export const DayField = (field: FieldProps & InputHTMLAttributes<HTMLInputElement>) => (
  <TextField {...field} isLabelHidden type="date" title={field.label} />
)

/** The focus goes from a field to the heading of the page, so that keys work again and Tab goes on from there. */
export const leaveField = (): void => document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })

/** To go on after what is written: browsers begin before it. */
export function focusEnd(field: HTMLTextAreaElement | null): void {
  field?.focus()
  field?.setSelectionRange(field.value.length, field.value.length)
}
