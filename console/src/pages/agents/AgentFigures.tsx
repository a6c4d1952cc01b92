import type { UsageCounts } from 'quarterdeck/client'
import { Link, useSearchParams } from 'wouter'
import { withParams } from '../../data/list-filters.ts'
import { useUsage } from '../../data/usage.ts'
import { readRange } from '../../data/usage-range.ts'
import { moneyText } from '../../money.ts'
import { DayRange } from '../../parts/DayRange.tsx'
import { Panel } from '../../parts/Page.tsx'
import { Pending } from '../../parts/States.tsx'
import { errorShare, timeText, UsageSums } from '../../parts/UsageSums.tsx'
import { counted } from '../../words.ts'
import styles from './AgentPage.module.css'

/** The days of the address, and a choice of others. */
export function useDays() {
  const [params, setParams] = useSearchParams()
  const range = readRange(params, Date.now())
  const choice = (
    <DayRange days={range} onChange={(days) => setParams(withParams(params, { ...days }), { replace: true })} />
  )
  return { range, choice }
}

/** What an agent did in the chosen days: how often, how well, how fast, and what it cost. */
export function AgentFigures({ agent }: { agent: string }) {
  const { range, choice } = useDays()
  const usage = useUsage(range, { by: 'agent', agent })
  const { data } = usage
  const days = new URLSearchParams({ agent, since: range.since, until: range.until })
  return (
    <Panel title="What it did" actions={choice}>
      {range.problem !== null ? (
        <p className={styles.none}>{range.problem}</p>
      ) : data === undefined ? (
        <Pending query={usage} rows={1} height={80} />
      ) : data.total.runs === 0 ? (
        <p className={styles.none}>Nothing in these days.</p>
      ) : (
        <>
          <UsageSums total={data.total} currency={data.currency} />
          <Link href={`/usage?${days}`} className={styles.days}>
            Day by day
          </Link>
        </>
      )}
    </Panel>
  )
}

/** `12 runs · 2 % errors · 4.2 s, 95 % within 9.1 s · $0.25`. */
export const figureLine = (counts: UsageCounts, currency: string): string =>
  [
    counted(counts.runs, 'run'),
    `${errorShare(counts)} errors`,
    ...(counts.p50_ms === null
      ? []
      : [`half within ${timeText(counts.p50_ms)}, 95 % within ${timeText(counts.p95_ms)}`]),
    moneyText(counts.cost, currency),
  ].join(' · ')
