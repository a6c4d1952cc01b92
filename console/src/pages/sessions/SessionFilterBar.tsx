import { useQuery } from '@tanstack/react-query'
import { type Ref, useEffect, useState } from 'react'
import { useAgents } from '../../data/agents.ts'
import { useClient } from '../../data/server.tsx'
import { IconButton } from '../../parts/Button.tsx'
import { DayField, leaveField, Options, Select } from '../../parts/Field.tsx'
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

const statuses = ['running', 'waiting', 'failed', 'open', 'ended']
const kinds = ['chat', 'supervised']
const feedbackWords: Readonly<Record<string, string>> = { up: 'Good answers', down: 'Bad answers' }
const orderWords: Readonly<Record<string, string>> = { oldest: 'Oldest first', tokens: 'Most tokens first' }

export function SessionFilterBar({ filters, onChange, fieldRef }: BarProps) {
  const { agents, owners } = useNames()
  const [isOpen, setOpen] = useState(false)
  const count = countSessionFilters(filters)
  const set = (name: keyof SessionFilters) => (event: { target: { value: string } }) =>
    onChange({ ...filters, [name]: event.target.value })
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
        <Choice label="Owner" any="Everyone" value={filters.owner} names={owners} onChange={set('owner')} />
        <Choice label="Agent" any="All agents" value={filters.agent} names={agents} onChange={set('agent')} />
        {!isSearch && (
          <>
            <Choice
              label="State"
              any="Any state"
              value={filters.status}
              names={statuses}
              nameOf={statusWord}
              onChange={set('status')}
            />
            <Choice
              label="Kind"
              any="Any kind"
              value={filters.kind}
              names={kinds}
              nameOf={kindWord}
              onChange={set('kind')}
            />
            <Choice
              label="Feedback"
              any="Any feedback"
              value={filters.feedback}
              names={Object.keys(feedbackWords)}
              nameOf={(value) => feedbackWords[value] ?? value}
              onChange={set('feedback')}
            />
            <Choice
              label="Order"
              any="Newest first"
              value={filters.sort}
              names={Object.keys(orderWords)}
              nameOf={(value) => orderWords[value] ?? value}
              onChange={set('sort')}
            />
          </>
        )}
        <div className={styles.days}>
          <DayField label="First day" max={filters.until || undefined} value={filters.since} onChange={set('since')} />
          <span aria-hidden="true">–</span>
          <DayField label="Last day" min={filters.since || undefined} value={filters.until} onChange={set('until')} />
        </div>
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
  names: readonly string[]
  nameOf?: (name: string) => string
  onChange: (event: { target: { value: string } }) => void
}

function Choice({ label, any, value, names, nameOf = (name) => name, onChange }: ChoiceProps) {
  // A link may name somebody who is in no list.
  const all = value === '' || names.includes(value) ? names : [value, ...names]
  return (
    <Select
      label={label}
      isLabelHidden
      title={label}
      value={value}
      onChange={onChange}
      data-set={value !== '' || undefined}
    >
      <option value="">{any}</option>
      <Options of={all.map((name) => [name, nameOf(name)])} />
    </Select>
  )
}

/** Names for the filters: the agents of the server, and the owners of the newest sessions. */
function useNames(): { agents: string[]; owners: string[] } {
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

const sorted = (names: readonly string[]): string[] => [...new Set(names)].filter((name) => name !== '').sort()
