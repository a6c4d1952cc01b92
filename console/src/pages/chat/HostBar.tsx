import type { HostChoice, HostState } from 'quarterdeck/client'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Options, Select } from '../../parts/Field.tsx'
import { FilterIcon } from '../../parts/icons.ts'
import { shortCount } from '../../words.ts'
import styles from './HostBar.module.css'

interface HostBarProps {
  host: HostState
  /** It goes with the next message. */
  chosen: HostChoice
  onChoose: (chosen: HostChoice) => void
}

/** What the program of a hosted agent offers: its mode, its options, and how full its context is. */
export default function HostBar({ host: { mode, modes, config, usage }, chosen, onChoose }: HostBarProps) {
  const [isOpen, setOpen] = useState(false)
  const hasChoices = modes.length > 0 || config.length > 0
  if (!hasChoices && usage === null) return null
  const hasChosen = Object.keys(chosen).length > 0
  const choose = (id: string, value: string | boolean) =>
    onChoose({ ...chosen, config: { ...chosen.config, [id]: value } })
  return (
    <div className={styles.bar} role="group" aria-label="The agent’s program">
      {modes.length > 0 && (
        <div className={styles.choice}>
          <Select
            label="Mode"
            isLabelHidden
            title="Mode"
            value={chosen.mode ?? mode ?? ''}
            onChange={({ target }) => onChoose({ ...chosen, mode: target.value })}
          >
            <Options
              of={withCurrent(
                modes.map(({ id, name }) => [id, name]),
                mode,
              )}
            />
          </Select>
        </div>
      )}
      {config.length > 0 && (
        <Button kind="quiet" icon={<FilterIcon />} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Options
        </Button>
      )}
      {hasChosen && (
        <span className={styles.note} role="status">
          From the next message on.
        </span>
      )}
      {usage !== null && <Meter usage={usage} />}
      {isOpen && (
        <div className={styles.options}>
          {config.map(({ id, name, description, value, values }) => {
            const now = chosen.config?.[id] ?? value
            if (values === null) {
              return (
                <label key={id} className={styles.check} title={description ?? undefined}>
                  <input type="checkbox" checked={now === true} onChange={({ target }) => choose(id, target.checked)} />
                  <bdi>{name}</bdi>
                </label>
              )
            }
            return (
              <div key={id} className={styles.choice}>
                <Select
                  label={name}
                  title={description ?? undefined}
                  value={String(now)}
                  onChange={({ target }) => choose(id, target.value)}
                >
                  <Options
                    of={withCurrent(
                      values.map((one) => [one.value, one.name]),
                      String(value),
                    )}
                  />
                </Select>
              </div>
            )
          })}
        </div>
      )}
    </div>
  )
}

type Named = readonly [value: string, name: string]

/** What is set now may be none of what can be chosen. */
const withCurrent = (all: readonly Named[], current: string | null): readonly Named[] =>
  current === null || all.some(([value]) => value === current) ? all : [[current, current], ...all]

/** Only what the program tells. */
function Meter({ usage: { used, size, cost } }: { usage: NonNullable<HostState['usage']> }) {
  const words = `${shortCount(used)} of ${shortCount(size)}`
  return (
    <span className={styles.usage}>
      <meter min={0} max={size} high={size * 0.8} optimum={0} value={used} aria-label="Context in use">
        {words}
      </meter>
      <span>
        {words} tokens{cost !== null && ` · ${cost.amount.toFixed(2)} ${cost.currency}`}
      </span>
    </span>
  )
}
