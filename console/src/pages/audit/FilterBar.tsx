import { type Ref, useId, useState } from 'react'
import { countFilters } from '../../data/list-filters.ts'
import { Button } from '../../parts/Button.tsx'
import { DayRange } from '../../parts/DayRange.tsx'
import { leaveField, Options, Select, TextField } from '../../parts/Field.tsx'
import { FilterIcon } from '../../parts/icons.ts'
import { fullCount } from '../../words.ts'
import { type AuditFilters, isDecisions, noFilters } from './audit-filters.ts'
import { auditKinds, EVERYTHING } from './audit-kinds.ts'
import styles from './FilterBar.module.css'

interface FilterBarProps {
  filters: AuditFilters
  onChange: (filters: AuditFilters) => void
  ref?: Ref<HTMLDivElement>
}

/** Which entries are shown. On a phone the fields are behind a button. */
export function FilterBar({ filters, onChange, ref }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const set = (change: Partial<AuditFilters>) => onChange({ ...filters, ...change })
  const isKnown = filters.kind === '' || filters.kind === EVERYTHING || auditKinds[filters.kind] !== undefined
  return (
    <div ref={ref} className={styles.bar}>
      <div className={styles.toggle}>
        <Button icon={<FilterIcon />} aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
          Filter
        </Button>
      </div>
      <div id={id} className={styles.fields} data-open={isOpen || undefined}>
        <Select label="Kind" isLabelHidden value={filters.kind} onChange={({ target }) => set({ kind: target.value })}>
          <option value="">{isDecisions({ ...filters, kind: '' }) ? 'Decisions' : 'Everything'}</option>
          {isDecisions({ ...filters, kind: '' }) && <option value={EVERYTHING}>Everything</option>}
          {!isKnown && <option value={filters.kind}>{filters.kind}</option>}
          <Options of={Object.entries(auditKinds)} />
        </Select>
        <LateField label="By" placeholder="By whom" value={filters.by} onValue={(by) => set({ by })} />
        <LateField
          label="Session"
          placeholder="Id of a session"
          value={filters.session}
          onValue={(session) => set({ session })}
        />
        <DayRange days={filters} any="All days" onChange={set} />
      </div>
      {isDecisions(filters) && <Button onClick={() => set({ kind: EVERYTHING })}>Show everything</Button>}
      {filters.at !== '' && <span className={styles.at}>From entry {fullCount(Number(filters.at))} on</span>}
      {countFilters(filters) > 0 && (
        <Button kind="quiet" onClick={() => onChange(noFilters)}>
          Clear filters
        </Button>
      )}
    </div>
  )
}

interface LateFieldProps {
  label: string
  placeholder: string
  value: string
  onValue: (value: string) => void
}

/** A text that counts when one leaves the field or presses Enter: half a name finds nothing. */
function LateField({ label, placeholder, value, onValue }: LateFieldProps) {
  const [typed, setTyped] = useState<string | null>(null)
  function take(): void {
    if (typed !== null && typed.trim() !== value) onValue(typed.trim())
    setTyped(null)
  }
  return (
    <TextField
      label={label}
      isLabelHidden
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      value={typed ?? value}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take()
        if (event.key === 'Escape') leaveField()
      }}
    />
  )
}
