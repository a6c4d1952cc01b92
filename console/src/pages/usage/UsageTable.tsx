import type { Usage, UsageGroup } from 'quarterdeck/client'
import { Link } from 'wouter'
import { moneyText } from '../../money.ts'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { errorShare, timeText } from '../../parts/UsageSums.tsx'
import { fullCount } from '../../words.ts'
import styles from './UsageTable.module.css'

export const groupNames: Readonly<Record<UsageGroup, string>> = {
  day: 'Day',
  agent: 'Agent',
  model: 'Model',
  session: 'Session',
  owner: 'Owner',
}

const dayText = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

type Row = Usage['rows'][number]

export function UsageTable({ usage: { by, rows, total, currency } }: { usage: Usage }) {
  const columns: Column<Row>[] = [
    { name: groupNames[by], cell: (row) => <Name by={by} row={row} /> },
    { name: 'Runs', cell: ({ runs }) => fullCount(runs), isNumber: true, isMinor: true },
    { name: 'Errors', cell: errorShare, isNumber: true },
    { name: 'Half within', cell: ({ p50_ms }) => timeText(p50_ms), isNumber: true, isMinor: true },
    { name: '95 % within', cell: ({ p95_ms }) => timeText(p95_ms), isNumber: true, isMinor: true },
    { name: 'Input', cell: (row) => fullCount(row.input_tokens), isNumber: true, isMinor: true },
    { name: 'Output', cell: (row) => fullCount(row.output_tokens), isNumber: true, isMinor: true },
    { name: 'Cost', cell: ({ cost }) => moneyText(cost, currency), isNumber: true },
  ]
  const sum = { ...total, key: '', label: '' }
  return (
    <>
      <DataTable
        label={`Usage by ${groupNames[by].toLowerCase()}`}
        columns={columns}
        // Of days the newest is asked for most.
        rows={by === 'day' ? rows.toReversed() : rows}
        keyOf={({ key }) => key}
        foot={columns.map(({ cell }, i) => (i === 0 ? 'All' : cell(sum)))}
      />
      {by !== 'day' && rows.length >= 1_000 && (
        <p className={styles.more}>The first 1,000. The sums count all. Choose fewer days to see the others.</p>
      )}
    </>
  )
}

function Name({ by, row: { key, label } }: { by: UsageGroup; row: Row }) {
  if (by === 'day') return dayText.format(Date.parse(`${key}T00:00:00Z`))
  if (by === 'session') {
    return (
      <Link href={`/sessions/${encodeURIComponent(key)}`} className={styles.link}>
        <bdi>{label === '' ? key : label}</bdi>
      </Link>
    )
  }
  if (by === 'agent') {
    return (
      <Link href={`/agents/${encodeURIComponent(key)}`} className={styles.link}>
        <bdi>{label}</bdi>
      </Link>
    )
  }
  if (label === '' || label === '/') return 'No model'
  return (
    <Link href={`/usage?${by}=${encodeURIComponent(key)}`} className={styles.link}>
      <bdi>{label}</bdi>
    </Link>
  )
}
