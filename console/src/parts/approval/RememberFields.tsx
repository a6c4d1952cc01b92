import type { ShownApproval } from 'quarterdeck/client'
import { Options, Select } from '../Field.tsx'
import { VisibleText } from '../VisibleText.tsx'
import styles from './RememberFields.module.css'
import {
  comparable,
  firstOffer,
  matchWords,
  ONCE,
  type RememberChoice,
  type Scope,
  scopeWords,
} from './remember-choice.ts'

interface RememberFieldsProps {
  approval: ShownApproval
  choice: RememberChoice
  onChange: (choice: RememberChoice) => void
  effect: 'allow' | 'refuse'
  hasFocus?: boolean
}

/** What else a decision is about, where and how long: exactly what the server offers. */
export function RememberFields({ approval, choice, onChange, effect, hasFocus = false }: RememberFieldsProps) {
  const offer = approval.view.remember
  if (offer === null) return null
  const { scope, match, same } = choice
  const { matches, scopes } = offer
  const isElsewhere = matches.length > 0
  const names = isElsewhere ? [] : comparable(approval)
  const first = firstOffer(approval)
  const kinds = isElsewhere
    ? matches.map((one, i) => [String(i), one.label] as const)
    : [
        ['same', 'The same call again'] as const,
        ...(names.length > 0 ? [['some', 'With some of it the same…'] as const] : []),
      ]
  const chosen = scope === null ? '' : match !== null ? String(matches.indexOf(match)) : same === null ? 'same' : 'some'
  const choose = (value: string): RememberChoice =>
    value === ''
      ? ONCE
      : { scope: scope ?? first.scope, match: matches[Number(value)] ?? null, same: value === 'some' ? names : null }
  return (
    <fieldset className={styles.fields}>
      <legend className="unseen">Remember this decision</legend>
      <Select
        label={`Also ${effect}`}
        value={chosen}
        data-focus={hasFocus || undefined}
        onChange={({ target }) => onChange(choose(target.value))}
      >
        <option value="">Nothing else, only this</option>
        <Options of={kinds} />
      </Select>
      {scope !== null && (
        <Select
          label="Where and how long"
          value={scope}
          onChange={({ target }) => onChange({ ...choice, scope: target.value as Scope })}
        >
          <Options of={scopes.map((one) => [one, scopeWords(one, isElsewhere)])} />
        </Select>
      )}
      {same !== null && (
        <ul className={styles.names}>
          {names.map((name) => (
            <li key={name}>
              <label>
                <input
                  type="checkbox"
                  checked={same.includes(name)}
                  onChange={({ target }) =>
                    onChange({ ...choice, same: target.checked ? [...same, name] : same.filter((one) => one !== name) })
                  }
                />
                <code>{name}</code>
              </label>
            </li>
          ))}
        </ul>
      )}
      {scope !== null && (
        <p className={styles.means}>
          Also {effect}: <VisibleText text={matchWords(choice, approval.tool)} inline isRaw /> —{' '}
          {scopeWords(scope, isElsewhere)}.
        </p>
      )}
    </fieldset>
  )
}
