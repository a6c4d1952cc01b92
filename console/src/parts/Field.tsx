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

interface FrameProps extends FieldProps {
  children: (ids: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': true | undefined }) => ReactNode
}

function Frame({ label, help, problem = null, isLabelHidden = false, children }: FrameProps) {
  const id = useId()
  const note = problem ?? help
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={isLabelHidden ? 'unseen' : styles.label}>
        {label}
      </label>
      {children({
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

export function TextField({
  label,
  help,
  problem,
  isLabelHidden,
  ...rest
}: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  const frame = { label, help, problem, isLabelHidden }
  return <Frame {...frame}>{(ids) => <input {...rest} {...ids} className={styles.input} />}</Frame>
}

export function TextArea({
  label,
  help,
  problem,
  isLabelHidden,
  ...rest
}: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const frame = { label, help, problem, isLabelHidden }
  return <Frame {...frame}>{(ids) => <textarea {...rest} {...ids} className={styles.area} dir="auto" />}</Frame>
}

export function Select({
  label,
  help,
  problem,
  isLabelHidden,
  ...rest
}: FieldProps & SelectHTMLAttributes<HTMLSelectElement>) {
  const frame = { label, help, problem, isLabelHidden }
  return <Frame {...frame}>{(ids) => <select {...rest} {...ids} className={styles.input} />}</Frame>
}

/** The focus goes from a field to the heading of the page, so that keys work again and Tab goes on from there. */
export const leaveField = (): void => document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
