import { useQuery } from '@tanstack/react-query'
import type { Usage, UsageCounts, UsageGroup } from 'quarterdeck/client'
import { lazy, Suspense, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useTitle } from '../../app/title.ts'
import { serverUrl } from '../../base.ts'
import { withParams, withSearch } from '../../data/list-filters.ts'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { moneyText } from '../../money.ts'
import { AsOf } from '../../parts/AsOf.tsx'
import { Notice } from '../../parts/approval/Notice.tsx'
import { Button } from '../../parts/Button.tsx'
import { Command } from '../../parts/Command.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { DayRange } from '../../parts/DayRange.tsx'
import { ExportIcon, UsageIcon } from '../../parts/icons.ts'
import { Page, Panel } from '../../parts/Page.tsx'
import { Empty, How, Pending } from '../../parts/States.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { Tabs } from '../../parts/Tabs.tsx'
import { fullCount, shortCount } from '../../words.ts'
import styles from './UsagePage.module.css'
import { groupNames, UsageTable } from './UsageTable.tsx'
import { readRange, type UsageRange } from './usage-range.ts'

const UsageChart = lazy(() => import('./UsageChart.tsx'))

const groups = ['day', 'agent', 'model', 'session', 'owner'] as const
/** The server gives no more. */
const MOST_ROWS = 1_000

/** What the models were used for, and what it cost. */
export default function UsagePage() {
  useTitle('Usage')
  const [params, setParams] = useSearchParams()
  const range = readRange(params, Date.now())
  const by = groups.find((one) => one === params.get('by')) ?? 'day'
  const days = useUsage(range, 'day')
  const table = useUsage(range, by)
  const isLive = useIsLive()
  return (
    <Page
      title="Usage"
      bar={<DayRange days={range} onChange={(days) => setParams(withParams(params, { ...days }), { replace: true })} />}
      actions={
        <Button
          icon={<ExportIcon />}
          disabled={table.data === undefined || table.data.rows.length === 0}
          onClick={() => table.data !== undefined && saveCsv(table.data)}
        >
          Save as CSV
        </Button>
      }
    >
      {range.problem !== null ? (
        <Empty title={range.problem} icon={<UsageIcon />} />
      ) : days.data === undefined ? (
        <Pending query={days} rows={3} height={160} />
      ) : days.data.total.runs === 0 ? (
        <Empty title="Nothing was used in these days" icon={<UsageIcon />}>
          <p>Tokens and cost of every finished run of a model are counted here, for 400 days. Begin with a message:</p>
          <Command>{`chat ${serverUrl}`}</Command>
          <How to="choose-a-model" />
        </Empty>
      ) : (
        <AsOf isLive={isLive} at={days.dataUpdatedAt}>
          <Sums total={days.data.total} currency={days.data.currency} />
          <Days usage={days.data} />
          <NoPrices models={days.data.unpriced} currency={days.data.currency} />
          <Panel title="Table" actions={<GroupTabs by={by} params={params} />} isFlush>
            {table.data === undefined ? (
              <Pending query={table} rows={6} height={36} />
            ) : (
              <UsageTable usage={table.data} />
            )}
          </Panel>
        </AsOf>
      )}
    </Page>
  )
}

function useUsage({ from, to, problem }: UsageRange, by: UsageGroup) {
  const client = useClient()
  return useQuery({
    queryKey: ['usage', from, to, by],
    queryFn: ({ signal }) => client.usage({ from, to, by, limit: MOST_ROWS, signal }),
    enabled: problem === null,
  })
}

/** The chart, and what it shows: tokens or money. */
function Days({ usage }: { usage: Usage }) {
  const [what, setWhat] = useState<'tokens' | 'cost'>('tokens')
  const hasCost = usage.rows.some(({ cost }) => cost !== null && cost > 0)
  const shown = hasCost ? what : 'tokens'
  return (
    <Panel
      title={shown === 'tokens' ? 'Tokens by day' : 'Cost by day'}
      actions={
        hasCost && (
          <div className={styles.choice} role="group" aria-label="In the chart">
            {(['tokens', 'cost'] as const).map((one) => (
              <button key={one} type="button" aria-pressed={shown === one} onClick={() => setWhat(one)}>
                {one === 'tokens' ? 'Tokens' : 'Cost'}
              </button>
            ))}
          </div>
        )
      }
    >
      <Suspense fallback={<div className={styles.chartPlace} />}>
        <UsageChart usage={usage} what={shown} />
      </Suspense>
    </Panel>
  )
}

function GroupTabs({ by, params }: { by: UsageGroup; params: URLSearchParams }) {
  const tabs = groups.map((id) => ({
    id,
    name: `By ${groupNames[id].toLowerCase()}`,
    href: withSearch('/usage', withParams(params, { by: id })),
  }))
  return <Tabs label="Tables" tabs={tabs} current={by} />
}

function saveCsv({ from, to, by, rows, currency }: Usage): void {
  const head = [
    ...(['runs', 'input_tokens', 'output_tokens', 'cached_input_tokens'] as const),
    ...(['cache_write_input_tokens', 'reasoning_tokens'] as const),
  ]
  const hasLabel = by === 'session'
  const lines = [
    [by, ...(hasLabel ? ['title'] : []), ...head, `cost_${currency.toLowerCase()}`],
    ...rows.map((row) => [row.key, ...(hasLabel ? [row.label] : []), ...head.map((name) => row[name]), row.cost]),
  ]
  // The mark at the beginning tells programs for tables that the text is UTF-8.
  saveFile(`usage-by-${by}-${from}-${to}.csv`, ['\uFEFF', csvOf(lines)], 'text/csv')
}

/** Names models without a price, with the lines that give them one. */
function NoPrices({ models, currency }: { models: readonly string[]; currency: string }) {
  if (models.length === 0) return null
  const lines = priceLines(models, currency)
  return (
    <Notice tone="warn">
      <p>
        {models.length === 1 ? 'No price for ' : `No price for ${models.length} models: `}
        <bdi>{models.join(', ')}</bdi>. Put what your provider asks for a million tokens into{' '}
        <code>quarterdeck.yaml</code>, and start the server again:
      </p>
      <div className={styles.lines}>
        <pre>{lines}</pre>
        <CopyButton text={lines} what="lines" />
      </div>
    </Notice>
  )
}

/** The lines of quarterdeck.yaml that give prices to models, to be filled in. */
function priceLines(models: readonly string[], currency: string): string {
  // A name may have characters that mean something in YAML. JSON text is YAML too.
  const lines = models.map((model) => `    ${JSON.stringify(model)}: { input: 0.00, output: 0.00 }`)
  return ['prices:', `  currency: ${currency}`, '  models:', ...lines, ''].join('\n')
}

function Sums({ total, currency }: { total: UsageCounts; currency: string }) {
  const cached = total.input_tokens === 0 ? 0 : Math.round((total.cached_input_tokens / total.input_tokens) * 100)
  return (
    <dl className={styles.sums}>
      <Sum
        name="Cost"
        value={moneyText(total.cost, currency)}
        note={total.cost === null ? 'a model has no price' : currency}
      />
      <Sum name="Tokens" value={shortCount(total.input_tokens + total.output_tokens)} note="input and output" />
      <Sum name="Input" value={shortCount(total.input_tokens)} note={`${cached} % from a cache`} />
      <Sum
        name="Output"
        value={shortCount(total.output_tokens)}
        note={`${shortCount(total.reasoning_tokens)} for reasoning`}
      />
      <Sum name="Runs" value={fullCount(total.runs)} note="that used a model" />
    </dl>
  )
}

function Sum({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div className={styles.sum}>
      <dt>{name}</dt>
      <dd className={styles.value}>{value}</dd>
      <dd className={styles.note}>{note}</dd>
    </div>
  )
}

/** Lines as programs for tables read them (RFC 4180). */
export const csvOf = (lines: readonly (readonly (string | number | null)[])[]): string =>
  lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('')

function cellOf(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  // A title that somebody wrote must not become a formula in the program that opens the file.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
