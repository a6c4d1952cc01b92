import { useSearchParams } from 'wouter'
import { TextField } from '../../parts/Field.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import styles from './RangeBar.module.css'
import type { UsageRange } from './usage-range.ts'

const names = { '7': '7 days', '30': '30 days', '90': '90 days' } as const

/** Which days are shown. It lives in the address. */
export function RangeBar({ range }: { range: UsageRange }) {
  const [params, setParams] = useSearchParams()
  const hrefTo = (change: Record<string, string>) => {
    const next = new URLSearchParams(params)
    for (const name of ['days', 'from', 'to']) next.delete(name)
    for (const [name, value] of Object.entries(change)) next.set(name, value)
    return `/usage?${next}`
  }
  const tabs = [
    ...(['7', '30', '90'] as const).map((days) => ({ id: days as string, name: names[days], href: hrefTo({ days }) })),
    { id: 'own', name: 'Own days', href: hrefTo({ from: range.from, to: range.to }) },
  ]
  const set = (name: 'from' | 'to', value: string) =>
    setParams(
      (was) => {
        const next = new URLSearchParams(was)
        next.set(name, value)
        return next
      },
      { replace: true },
    )
  return (
    <div className={styles.bar}>
      <Tabs label="Days" tabs={tabs} current={range.days ?? 'own'} />
      {range.days === null && (
        <div className={styles.days}>
          <TextField
            label="First day"
            isLabelHidden
            type="date"
            value={range.from}
            onChange={({ target }) => set('from', target.value)}
          />
          <span aria-hidden="true">–</span>
          <TextField
            label="Last day"
            isLabelHidden
            type="date"
            value={range.to}
            onChange={({ target }) => set('to', target.value)}
          />
        </div>
      )}
    </div>
  )
}
