import { useQuery } from '@tanstack/react-query'
import { type Ref, useEffect, useState } from 'react'
import { useAgents } from '../../data/agents.ts'
import { useClient } from '../../data/server.tsx'
import { IconButton } from '../../parts/Button.tsx'
import { DayRange } from '../../parts/DayRange.tsx'
import { leaveField, Options, Select } from '../../parts/Field.tsx'
import { CloseIcon, FilterIcon, SearchIcon } from '../../parts/icons.ts'
import { kindWord, statusWord } from '../../words.ts'
import styles from './SessionFilterBar.module.css'
import { countSessionFilters, noFilters, type SessionFilters } from './session-filters.ts'

interface BarProps {
  filters: SessionFilters
  onChange: (filters: SessionFilters) => void
  fieldRef: Ref<HTMLInputElement>
}

/** One goes on typing before the search begins. */
const PAUSE_MS = 250

type Option = readonly [value: string, name: string]

const statuses = ['running', 'waiting', 'failed', 'open', 'ended'].map((one): Option => [one, statusWord(one)])
const kinds = ['chat', 'supervised'].map((one): Option => [one, kindWord(one)])
const feedbacks: Option[] = [
  ['up', 'Good answers'],
  ['down', 'Bad answers'],
]
const orders: Option[] = [
  ['oldest', 'Oldest first'],
  ['tokens', 'Most tokens first'],
]

export function SessionFilterBar({ filters, onChange, fieldRef }: BarProps) {
  const { agents, owners } = useNames()
  const [isOpen, setOpen] = useState(false)
  const count = countSessionFilters(filters)
  const choice = (label: string, any: string, name: keyof SessionFilters, options: readonly Option[]) => (
    <Choice
      label={label}
      any={any}
      value={filters[name]}
      options={options}
      onValue={(value) => onChange({ ...filters, [name]: value })}
    />
  )
  const isSearch = filters.q.trim() !== ''
  return (
    <search className={styles.bar}>
      <SearchField filters={filters} onChange={onChange} fieldRef={fieldRef} />
      <button
        type="button"
        className={styles.more}
        aria-expanded={isOpen}
        aria-controls="session-filters"
        onClick={() => setOpen(!isOpen)}
      >
        <FilterIcon />
        Filters{count > 0 && ` (${count})`}
      </button>
      <div id="session-filters" className={styles.filters} data-open={isOpen || undefined}>
        {choice('Owner', 'Everyone', 'owner', owners)}
        {choice('Agent', 'All agents', 'agent', agents)}
        {!isSearch && (
          <>
            {choice('State', 'Any state', 'status', statuses)}
            {choice('Kind', 'Any kind', 'kind', kinds)}
            {choice('Feedback', 'Any feedback', 'feedback', feedbacks)}
            {choice('Order', 'Newest first', 'sort', orders)}
          </>
        )}
        <DayRange days={filters} any="Any day" onChange={(days) => onChange({ ...filters, ...days })} />
        {count > 0 && (
          <IconButton
            label="Remove all filters"
            icon={<CloseIcon />}
            onClick={() => onChange({ ...noFilters, q: filters.q, sort: filters.sort })}
          />
        )}
      </div>
    </search>
  )
}

function SearchField({ filters, onChange, fieldRef }: BarProps) {
  const [text, setText] = useState(filters.q)
  // The address may change by itself: a link, the palette, the way back.
  useEffect(() => setText(filters.q), [filters.q])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts a search
  useEffect(() => {
    if (text === filters.q) return
    const timer = setTimeout(() => onChange({ ...filters, q: text }), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <label className={styles.search}>
      <SearchIcon aria-hidden="true" />
      <span className="unseen">Search in what was said</span>
      <input
        ref={fieldRef}
        type="search"
        value={text}
        placeholder="Search messages"
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        dir="auto"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onChange({ ...filters, q: text })
          if (event.key === 'Escape') {
            setText('')
            onChange({ ...filters, q: '' })
            leaveField()
          }
        }}
      />
      <kbd>/</kbd>
    </label>
  )
}

interface ChoiceProps {
  label: string
  any: string
  value: string
  options: readonly Option[]
  onValue: (value: string) => void
}

function Choice({ label, any, value, options, onValue }: ChoiceProps) {
  // A link may name somebody who is in no list.
  const isListed = value === '' || options.some(([one]) => one === value)
  return (
    <Select
      label={label}
      isLabelHidden
      title={label}
      value={value}
      onChange={({ target }) => onValue(target.value)}
      data-set={value !== '' || undefined}
    >
      <option value="">{any}</option>
      {!isListed && <option value={value}>{value}</option>}
      <Options of={options} />
    </Select>
  )
}

/** Names for the filters: the agents of the server, and the owners of the newest sessions. */
function useNames(): { agents: Option[]; owners: Option[] } {
  const client = useClient()
  const { data: agents = [] } = useAgents()
  const { data: sessions = [] } = useQuery({
    queryKey: ['session-owners'],
    queryFn: async ({ signal }) => (await client.sessions.list({ owner: '*', limit: 100, signal })).sessions,
    staleTime: 5 * 60_000,
  })
  const hosts = sessions.map(({ agent }) => agent)
  return {
    agents: sorted([...agents.map(({ name }) => name), ...hosts]),
    owners: sorted(sessions.map(({ owner }) => owner)),
  }
}

const sorted = (names: readonly string[]): Option[] =>
  [...new Set(names)]
    .filter((name) => name !== '')
    .sort()
    .map((name) => [name, name])
