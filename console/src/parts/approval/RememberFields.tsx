import { useId } from 'react'
import { Options, Select } from '../Field.tsx'
import styles from './RememberFields.module.css'
import { durations, ONCE, type RememberChoice, rememberText } from './remember-choice.ts'

interface RememberFieldsProps {
  choice: RememberChoice
  onChange: (choice: RememberChoice) => void
  effect: 'run' | 'refuse'
  tool: string
  /** Arguments that can be compared one by one. */
  names: readonly string[]
  hasFocus?: boolean
}

/** How long, where and for which calls a decision counts. */
export function RememberFields({ choice, onChange, effect, tool, names, hasFocus = false }: RememberFieldsProps) {
  const id = useId()
  const { remember, seconds, same } = choice
  return (
    <fieldset className={styles.fields}>
      <legend className="unseen">Remember this decision</legend>
      <div className={styles.row}>
        <Select
          label="Remember"
          value={remember}
          data-focus={hasFocus || undefined}
          onChange={({ target }) => {
            const next = target.value as RememberChoice['remember']
            onChange(
              next === 'once' ? ONCE : { ...choice, remember: next, seconds: durations[next][0]?.seconds ?? null },
            )
          }}
        >
          <option value="once">Only this call</option>
          <option value="session">In this session</option>
          <option value="always">Always</option>
        </Select>
        {remember !== 'once' && (
          <Select
            label="For how long"
            value={String(seconds)}
            onChange={({ target }) =>
              onChange({ ...choice, seconds: target.value === 'null' ? null : Number(target.value) })
            }
          >
            <Options of={durations[remember].map((one) => [String(one.seconds), one.words])} />
          </Select>
        )}
        {remember !== 'once' && names.length > 0 && (
          <Select
            label="For which calls"
            value={same === null ? 'all' : 'some'}
            onChange={({ target }) => onChange({ ...choice, same: target.value === 'all' ? null : names })}
          >
            <option value="all">All arguments the same</option>
            <option value="some">Only these the same…</option>
          </Select>
        )}
      </div>
      {same !== null && (
        <ul className={styles.names}>
          {names.map((name) => (
            <li key={name}>
              <label htmlFor={`${id}-${name}`}>
                <input
                  id={`${id}-${name}`}
                  type="checkbox"
                  checked={same.includes(name)}
                  onChange={({ target }) =>
                    onChange({
                      ...choice,
                      same: target.checked ? [...same, name] : same.filter((one) => one !== name),
                    })
                  }
                />
                <code>{name}</code>
              </label>
            </li>
          ))}
        </ul>
      )}
      {remember !== 'once' && <p className={styles.means}>{rememberText(choice, effect, tool)}</p>}
    </fieldset>
  )
}
