import { firstDayOf, isLastDays } from '../data/list-filters.ts'
import styles from './DayRange.module.css'
import { DayField, Options, Select } from './Field.tsx'

/** `since` is a day as `2026-11-16`, or `7d` for the last seven days. What is empty limits nothing. */
export interface Days {
  since: string
  until: string
}

const presets = [
  ['1d', 'Today'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['90d', 'Last 90 days'],
] as const

/** Which days a page shows. `any`: the words for all days, where a page can show them. */
export function DayRange({ days, any, onChange }: { days: Days; any?: string; onChange: (days: Days) => void }) {
  const { since, until } = days
  const isOwn = until !== '' || (since !== '' && !isLastDays(since))
  const preset = isOwn ? OWN : since
  function choose(value: string): void {
    // One begins with the days that are shown now.
    if (value === OWN) onChange({ since: firstDayOf(since === '' ? '7d' : since), until: until || firstDayOf('1d') })
    else onChange({ since: value, until: '' })
  }
  const isKnown = preset === '' || preset === OWN || presets.some(([id]) => id === preset)
  return (
    <div className={styles.range}>
      <Select label="Days" isLabelHidden title="Days" value={preset} onChange={({ target }) => choose(target.value)}>
        {any !== undefined && <option value="">{any}</option>}
        {!isKnown && <option value={preset}>Last {Number.parseInt(preset, 10)} days</option>}
        <Options of={presets} />
        <option value={OWN}>Choose days</option>
      </Select>
      {isOwn && (
        <>
          <DayField
            label="First day"
            max={until || undefined}
            value={since}
            onChange={({ target }) => onChange({ since: target.value, until })}
          />
          <span aria-hidden="true">–</span>
          <DayField
            label="Last day"
            min={since || undefined}
            value={until}
            onChange={({ target }) => onChange({ since, until: target.value })}
          />
        </>
      )}
    </div>
  )
}

const OWN = 'own'
