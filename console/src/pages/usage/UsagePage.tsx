import { useQuery } from '@tanstack/react-query'
import type { Usage, UsageGroup } from 'quarterdeck/client'
import { lazy, Suspense, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useTitle } from '../../app/title.ts'
import { serverUrl } from '../../base.ts'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { AsOf } from '../../parts/AsOf.tsx'
import { Button } from '../../parts/Button.tsx'
import { Command } from '../../parts/Command.tsx'
import { ExportIcon, UsageIcon } from '../../parts/icons.ts'
import { Page, Panel } from '../../parts/Page.tsx'
import { Empty, Failed, Loading } from '../../parts/States.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { Tabs } from '../../parts/Tabs.tsx'
import { csvOf } from './csv.ts'
import { NoPrices } from './NoPrices.tsx'
import { RangeBar } from './RangeBar.tsx'
import { Sums } from './Sums.tsx'
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
  const [params] = useSearchParams()
  const range = readRange(params, Date.now())
  const by = groups.find((one) => one === params.get('by')) ?? 'day'
  const days = useUsage(range, 'day')
  const table = useUsage(range, by)
  const isLive = useIsLive()
  return (
    <Page
      title="Usage"
      bar={<RangeBar range={range} />}
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
      {days.data === undefined ? (
        <NoUsage range={range} error={days.error} onRetry={() => void days.refetch()} />
      ) : days.data.total.runs === 0 ? (
        <Empty title="Nothing was used in these days" icon={<UsageIcon />}>
          <p>Tokens and cost of every finished run of a model are counted here, for 400 days. Begin with a message:</p>
          <Command>{`chat ${serverUrl}`}</Command>
        </Empty>
      ) : (
        <AsOf isLive={isLive} at={days.dataUpdatedAt}>
          <Sums total={days.data.total} currency={days.data.currency} />
          <Days usage={days.data} />
          <NoPrices models={days.data.unpriced} currency={days.data.currency} />
          <Panel title="Table" actions={<GroupTabs by={by} params={params} />} isFlush>
            {table.data === undefined ? (
              table.error === null ? (
                <Loading rows={6} height={36} />
              ) : (
                <Failed error={table.error} onRetry={() => void table.refetch()} />
              )
            ) : (
              <UsageTable usage={table.data} />
            )}
          </Panel>
        </AsOf>
      )}
    </Page>
  )
}

function NoUsage({ range, error, onRetry }: { range: UsageRange; error: unknown; onRetry: () => void }) {
  if (range.problem !== null) return <Empty title={range.problem} icon={<UsageIcon />} />
  return error === null ? <Loading rows={3} height={160} /> : <Failed error={error} onRetry={onRetry} />
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
  const tabs = groups.map((id) => {
    const next = new URLSearchParams(params)
    next.set('by', id)
    return { id, name: `By ${groupNames[id].toLowerCase()}`, href: `/usage?${next}` }
  })
  return <Tabs label="Tables" tabs={tabs} current={by} />
}

function saveCsv({ from, to, by, rows, currency }: Usage): void {
  const head = ['runs', 'input_tokens', 'output_tokens', 'cached_input_tokens', 'reasoning_tokens'] as const
  const hasLabel = by === 'session'
  const lines = [
    [by, ...(hasLabel ? ['title'] : []), ...head, `cost_${currency.toLowerCase()}`],
    ...rows.map((row) => [row.key, ...(hasLabel ? [row.label] : []), ...head.map((name) => row[name]), row.cost]),
  ]
  // The mark at the beginning tells programs for tables that the text is UTF-8.
  saveFile(`usage-by-${by}-${from}-${to}.csv`, ['\uFEFF', csvOf(lines)], 'text/csv')
}
