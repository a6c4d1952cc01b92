import type { UsageCounts } from 'quarterdeck/client'
import { moneyText } from '../money.ts'
import { counted, fullCount, shortCount } from '../words.ts'
import { Figure, FigureList } from './Figure.tsx'
import { duration } from './Time.tsx'
import styles from './UsageSums.module.css'

/** What ran in some days: what it cost, how well it went and how long it took. */
export function UsageSums({ total, currency }: { total: UsageCounts; currency: string }) {
  const cached = total.input_tokens === 0 ? 0 : Math.round((total.cached_input_tokens / total.input_tokens) * 100)
  return (
    <FigureList columns={styles.sums}>
      <Figure name="Cost" value={moneyText(total.cost, currency)} note={costNote(total, currency)} />
      <Figure
        name="Tokens"
        value={shortCount(total.input_tokens + total.output_tokens)}
        note={`${shortCount(total.input_tokens)} in, ${cached} % of it from a cache`}
      />
      <Figure name="Runs" value={fullCount(total.runs)} note={`${fullCount(total.cancelled_runs)} stopped by people`} />
      <Figure name="Errors" value={errorShare(total)} note={`${counted(total.failed_runs, 'run')} failed`} />
      <Figure
        name="Time"
        value={timeText(total.p50_ms)}
        note={`half of the runs, 95 % within ${timeText(total.p95_ms)}`}
      />
    </FigureList>
  )
}

function costNote({ cost, runs }: UsageCounts, currency: string): string {
  if (cost === null) return 'a model has no price'
  return runs === 0 ? currency : `${moneyText(cost / runs, currency)} a run`
}

/** `2.5 %` of the runs failed. */
export function errorShare({ runs, failed_runs }: Pick<UsageCounts, 'runs' | 'failed_runs'>): string {
  if (runs === 0) return '–'
  const share = (failed_runs / runs) * 100
  return `${share > 0 && share < 10 ? share.toFixed(1) : Math.round(share)} %`
}

export const timeText = (ms: number | null): string => (ms === null ? '–' : duration(ms))
