import type { Usage, UsageGroup } from 'quarterdeck/client'
import { lazy, Suspense, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useTitle } from '../../app/title.ts'
import { serverUrl } from '../../base.ts'
import { readFilters, withParams, withSearch } from '../../data/list-filters.ts'
import { useUsage } from '../../data/usage.ts'
import { readRange, type UsageRange } from '../../data/usage-range.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { given } from '../../given.ts'
import { moneyText } from '../../money.ts'
import { AsOf } from '../../parts/AsOf.tsx'
import { Notice } from '../../parts/approval/Notice.tsx'
import { Button } from '../../parts/Button.tsx'
import { Command } from '../../parts/Command.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { DayRange } from '../../parts/DayRange.tsx'
import { Select } from '../../parts/Field.tsx'
import { CloseIcon, ExportIcon, UsageIcon } from '../../parts/icons.ts'
import { Page, Panel } from '../../parts/Page.tsx'
import { Empty, How, Pending } from '../../parts/States.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { Tabs } from '../../parts/Tabs.tsx'
import { UsageSums } from '../../parts/UsageSums.tsx'
import { counted, fullCount } from '../../words.ts'
import styles from './UsagePage.module.css'
import { groupNames, UsageTable } from './UsageTable.tsx'
import type { Figure } from './usage-series.ts'

const UsageChart = lazy(() => import('./UsageChart.tsx'))

const groups = ['day', 'agent', 'model', 'session', 'owner'] as const
/** What the agents did, how well and how fast, and what it cost. */
export default function UsagePage() {
  useTitle('Usage')
  const [params, setParams] = useSearchParams()
  const range = readRange(params, Date.now())
  const by = groups.find((one) => one === params.get('by')) ?? 'day'
  const only = readFilters(params, ['agent', 'model', 'owner'])
  const days = useUsage(range, { by: 'day', ...given(only) })
  const table = useUsage(range, { by, ...given(only) })
  const isLive = useIsLive()
  const change = (next: Record<string, string>) => setParams(withParams(params, next), { replace: true })
  return (
    <Page
      title="Usage"
      bar={
        <div className={styles.bar}>
          <DayRange days={range} onChange={(next) => change({ ...next })} />
          {Object.entries(given(only)).map(([name, value]) => (
            <Button key={name} icon={<CloseIcon />} onClick={() => change({ [name]: '' })}>
              Only {name} <bdi>{value}</bdi>
            </Button>
          ))}
        </div>
      }
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
        <Pending query={days} height={[96, 370, 300]} />
      ) : days.data.total.runs === 0 ? (
        <Empty title="Nothing ran in these days" icon={<UsageIcon />}>
          <p>Every run counts here, with its time, tokens and cost, for 400 days. Begin with a message:</p>
          <Command>{`chat ${serverUrl}`}</Command>
          <How to="choose-a-model" />
        </Empty>
      ) : (
        <AsOf isLive={isLive} at={days.dataUpdatedAt}>
          <UsageSums total={days.data.total} currency={days.data.currency} />
          <Days usage={days.data} range={range} only={only} />
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

const figureNames: Readonly<Record<Figure, string>> = {
  cost: 'Cost',
  tokens: 'Tokens',
  speed: 'Time',
  errors: 'Errors',
}

/** The chart, and what it shows: of everything together, or of each agent or model. */
function Days({ usage, range, only }: { usage: Usage; range: UsageRange; only: Record<string, string> }) {
  const hasCost = usage.rows.some(({ cost }) => cost !== null && cost > 0)
  const [chosen, setChosen] = useState<Figure | null>(null)
  const [split, setSplit] = useState<'' | 'agent' | 'model'>('')
  const apart = useUsage(
    { ...range, problem: split === '' ? 'not asked' : null },
    { ...given({ split }), ...given(only) },
  )
  const figures = (['cost', 'tokens', 'speed', 'errors'] as const).filter((one) => one !== 'cost' || hasCost)
  const what = chosen ?? (hasCost ? 'cost' : 'tokens')
  const limit = what === 'cost' || what === 'tokens' ? (usage.limit?.[what] ?? null) : null
  const shown = split === '' ? usage : apart.data
  return (
    <Panel
      title={`${figureNames[what]} by day`}
      actions={
        <div className={styles.actions}>
          <div className={styles.choice} role="group" aria-label="In the chart">
            {figures.map((one) => (
              <button key={one} type="button" aria-pressed={what === one} onClick={() => setChosen(one)}>
                {figureNames[one]}
              </button>
            ))}
          </div>
          <Select
            label="Parts"
            isLabelHidden
            value={split}
            onChange={({ target }) => setSplit(target.value as typeof split)}
          >
            <option value="">All together</option>
            <option value="agent">Each agent</option>
            <option value="model">Each model</option>
          </Select>
        </div>
      }
    >
      <Suspense fallback={<div className={styles.chartPlace} />}>
        {shown === undefined ? (
          <Pending query={apart} rows={1} height={240} />
        ) : (
          <UsageChart usage={shown} what={what} limit={limit} />
        )}
      </Suspense>
      {what === 'speed' && (
        <p className={styles.words}>
          From the start of a run to its end, or to where it waits for a person. Runs that failed or were stopped are
          not in it{split === '' ? '' : ', and the lines show what 95 % of the runs took at most'}.
        </p>
      )}
      <Left usage={usage} />
    </Panel>
  )
}

/** What is left of today, where one person's limit is known. */
function Left({ usage: { limit, rows, to, currency } }: { usage: Usage }) {
  if (limit === null || to !== new Date().toISOString().slice(0, 10)) return null
  const today = rows.find(({ key }) => key === to)
  const left = (allowed: number | null, used: number | null, text: (amount: number) => string) =>
    allowed === null || used === null ? [] : [`${text(Math.max(0, allowed - used))} of ${text(allowed)}`]
  const parts = [
    ...left(limit.cost, today === undefined ? 0 : today.cost, (amount) => moneyText(amount, currency)),
    ...left(limit.tokens, (today?.input_tokens ?? 0) + (today?.output_tokens ?? 0), (n) => `${fullCount(n)} tokens`),
    ...left(limit.runs, today?.runs ?? 0, (n) => counted(n, 'run')),
  ]
  if (parts.length === 0) return null
  return (
    <p className={styles.words}>
      Left today for <bdi>{limit.owner}</bdi>: {parts.join(', ')}.
    </p>
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
    ...(['runs', 'failed_runs', 'cancelled_runs', 'p50_ms', 'p95_ms'] as const),
    ...(['input_tokens', 'output_tokens', 'cached_input_tokens'] as const),
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
