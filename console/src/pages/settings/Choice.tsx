import { useId } from 'react'
import styles from './Choice.module.css'

interface ChoiceProps<T extends string> {
  label: string
  choices: readonly { value: T; name: string; about: string }[]
  value: T
  onChange: (value: T) => void
}

export function Choice<T extends string>({ label, choices, value, onChange }: ChoiceProps<T>) {
  const name = useId()
  return (
    <fieldset className={styles.list}>
      <legend className="unseen">{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value} className={styles.line}>
          <input type="radio" name={name} checked={choice.value === value} onChange={() => onChange(choice.value)} />
          <Words name={choice.name} about={choice.about} />
        </label>
      ))}
    </fieldset>
  )
}

interface SwitchProps {
  name: string
  about: string
  isOn: boolean
  onChange: (on: boolean) => void
}

export function Switch({ name, about, isOn, onChange }: SwitchProps) {
  return (
    <div className={styles.list}>
      <label className={styles.line}>
        <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
        <Words name={name} about={about} />
      </label>
    </div>
  )
}

function Words({ name, about }: { name: string; about: string }) {
  return (
    <span>
      <span className={styles.name}>{name}</span>
      <span className={styles.about}>{about}</span>
    </span>
  )
}
